package policy

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/selector"
)

// composition holds the rules and preferences of all annotations for one class.
type composition struct {
	*class
	rules  []*rule // those that count, in the order of directories
	struck []strike
	closed []strike // Allows that count, but do not open their own path
	uses   []*use

	// Made on first use, when the rules are final.
	denies map[place][]*rule
	allows map[string][]*rule // by top-level directory
	all    []*rule            // the Allows
}

// strike is an Allow that does not count, because another rule overrides it.
type strike struct{ allow, by *rule }

// composer puts the annotations together for one class.
type composer struct {
	*composition
	above   []level // the directories on the way to the one that is looked at
	carried []*rule // behind Allows: of equal rules the one that is written comes first
}

// level is a directory on the way down.
type level struct {
	note   *note
	guards []*rule // its Disallows that Allows of directories below must not undo
	allows []*rule // what counts of its Allows
	own    bool    // its rules name the robot
}

// compose makes the composition of a class. notes holds the directories that are read
// and the directories that are denied as a whole, in the order of their selectors; the
// first is the root.
func compose(c *class, notes []*note, programs []program) *composition {
	b := composer{composition: &composition{class: c}}
	for _, n := range notes {
		for len(b.above) > 0 && !strings.HasPrefix(n.sel, b.above[len(b.above)-1].note.sel) {
			b.above = b.above[:len(b.above)-1]
		}
		if n.shut != nil {
			b.shut(n.shut)
		} else {
			b.note(n)
		}
	}
	b.rules = append(b.rules, b.carried...)
	b.programs(programs)
	b.uses = usesOf(c.token, notes)
	return b.composition
}

// note adds the rules of a directory, except the Allows that a rule above strikes.
func (b *composer) note(n *note) {
	rules, own := n.rulesFor(b.token)
	at := level{note: n, own: own}
	for _, r := range rules {
		if !r.allow {
			b.rules = append(b.rules, r)
			if r.final || own {
				at.guards = append(at.guards, r)
			}
		} else if b.allow(r, own) {
			b.rules = append(b.rules, r)
			at.allows = append(at.allows, r)
		}
	}
	b.above = append(b.above, at)
}

// allow repeats the Disallows from above behind an Allow. It returns false if it
// strikes the Allow instead.
func (b *composer) allow(a *rule, own bool) bool {
	var carried []*rule
	for _, at := range b.above {
		for _, d := range at.guards {
			if !(d.final || at.own && !own) || !d.concerns(a, at.allows) {
				continue
			}
			below, ok := d.below(a)
			if !ok {
				b.struck = append(b.struck, strike{a, d})
				return false
			}
			carried = append(carried, below...)
			if slices.ContainsFunc(below, func(r *rule) bool { return r.uri == a.uri+"$" }) {
				b.closed = append(b.closed, strike{a, d})
			}
		}
	}
	b.carried = append(b.carried, carried...)
	return true
}

// concerns reports whether an Allow could undo a Disallow: an Allow that is as long and
// may match the same, unless an Allow of the Disallow's own annotation covers all of it.
func (r *rule) concerns(a *rule, own []*rule) bool {
	return len(a.uri) >= len(r.uri) && mayMeet(a.uri, r.uri) &&
		!slices.ContainsFunc(own, func(o *rule) bool { return len(o.uri) >= len(r.uri) && covers(o.uri, a.uri) })
}

// below returns lines, longer than an Allow, for the names that the Allow opens and the
// Disallow denies. ok is false if no lines can express this with names that authors
// wrote: nothing remains to be matched behind the Allow, the Allow has a wildcard, or the
// rest would begin in the middle of a name.
func (r *rule) below(a *rule) (lines []*rule, ok bool) {
	head, rest, glob := strings.Cut(r.uri, "*")
	if !glob || isAnchored(a.uri) || !strings.HasPrefix(headOf(a.uri), head) {
		return nil, false
	}
	last := a.uri[strings.LastIndexByte(a.uri, '*')+1:]
	if ok = isLiteral(a.uri); ok {
		last = a.uri[len(head):]
	}
	for _, rest := range remains("*"+rest, last) {
		line := *r
		line.form, line.of = a.followed(rest), a.of
		lines = append(lines, &line)
		ok = ok && (strings.HasSuffix(a.uri, "/") || strings.IndexByte("*/$", rest[0]) >= 0)
	}
	return lines, ok && len(lines) > 0
}

// followed returns the form of a pattern without $ with a rest in URI form behind it.
func (f form) followed(rest string) form {
	body, end := strings.CutSuffix(rest, "$")
	pieces := strings.Split(body, "*")
	for i := range pieces {
		pieces[i] = selector.Decoded(pieces[i])
	}
	return f.join(formOf(pieces, end, false, true))
}

// shut denies a directory as a whole. If an Allow above may reach into it, shut adds a
// line that is longer than the Allow; its extra stars match nothing new. It also denies
// the path of such an Allow again, for readers that take the first match.
func (b *composer) shut(r *rule) {
	b.rules = append(b.rules, r)
	most := 0
	for _, at := range b.above {
		for _, a := range at.allows {
			if len(a.uri) >= len(r.uri) && mayMeet(a.uri, r.uri) {
				most = max(most, len(a.uri))
				if isLiteral(a.uri) {
					again := *r
					again.form = a.form
					b.rules = append(b.rules, &again)
				}
			}
		}
	}
	if most > 0 {
		stars, padded := strings.Repeat("*", most+1-len(r.uri)), *r
		padded.form = r.join(form{uri: stars, raw: stars, weak: stars})
		b.rules = append(b.rules, &padded)
	}
}

// program is a prefix or an extension that programs answer, and the lines that deny it.
type program struct {
	uri   string // "/cgi-bin", "/now/", "/*.dcgi" or "/~*/cgi-bin"
	lines []*rule
}

// programsOf returns the lines that deny each program: its selector, everything below
// it, and everything after a question mark; of a menu its selector alone.
func programsOf(selectors []string, root *note) (list []program) {
	for _, p := range selectors {
		uri := formOf(strings.Split(p, "*"), false, true, true).uri
		next := program{uri: uri}
		ends := []string{"$", "/", "?"}
		if strings.HasSuffix(p, "/") {
			ends = ends[:1]
		}
		for _, end := range ends {
			pieces := strings.Split(strings.TrimSuffix(p+end, "$"), "*")
			next.lines = append(next.lines, &rule{form: formOf(pieces, end == "$", true, true), value: uri, of: root})
		}
		list = append(list, next)
	}
	return list
}

// opens reports whether an Allow names a program: its path is the program's own, of any
// user or of one, or ends in its extension.
func (p program) opens(a *rule) bool {
	path := strings.TrimSuffix(a.uri, "$")
	if strings.HasSuffix(p.uri, "/") {
		return path == p.uri
	}
	ext, isExt := strings.CutPrefix(p.uri, "/*")
	below, isUsers := strings.CutPrefix(p.uri, "/~*")
	for _, end := range []string{"", "/", "%3F"} {
		if isExt && strings.HasSuffix(path, ext+end) || path == p.uri+end {
			return true
		}
		if user, ok := strings.CutSuffix(path, below+end); isUsers && ok && isUser(user) {
			return true
		}
	}
	return false
}

// isUser reports whether a path is the top of one user's tree, without a slash at its
// end.
func isUser(path string) bool {
	name, ok := strings.CutPrefix(path, "/~")
	return ok && name != "" && !strings.ContainsAny(name, "/*")
}

// programs adds the lines of all programs, except the lines that an Allow opens. It
// repeats them behind every Allow that does not name the program.
func (b *composer) programs(programs []program) {
	for _, p := range programs {
		kept := slices.Clone(p.lines)
		for _, a := range b.rules {
			if a.allow && p.opens(a) {
				kept = slices.DeleteFunc(kept, func(d *rule) bool { return covers(a.uri, d.uri) })
			}
		}
		for _, d := range kept {
			for _, a := range b.rules {
				if a.allow && !p.opens(a) && d.concerns(a, nil) {
					lines, _ := d.below(a)
					b.rules = append(b.rules, lines...)
				}
			}
		}
		b.rules = append(b.rules, kept...)
	}
}

// strikePairs strikes each Allow of one of Gemini's virtual agents that opens something
// denied to another: a robot of both kinds obeys both.
func strikePairs(list []*composition) {
	var kinds []*composition
	for _, c := range list {
		if c.isKind() {
			kinds = append(kinds, c)
		}
	}
	for again := true; again; {
		var found []strike
		for _, x := range kinds {
			for _, y := range kinds {
				if x != y {
					found = append(found, x.forbidden(y)...)
				}
			}
		}
		again = len(found) > 0
		for _, s := range found {
			for _, c := range kinds {
				c.strike(s)
			}
		}
	}
}

// forbidden returns the Allows of c that open something y denies. It skips directories
// denied as a whole: both have padded lines for them.
func (c *composition) forbidden(y *composition) (list []strike) {
	var allows []*rule
	for _, r := range y.rules {
		if r.allow {
			allows = append(allows, r)
		}
	}
	for _, a := range c.rules {
		if !a.allow || slices.ContainsFunc(allows, func(o *rule) bool { return o.uri == a.uri }) {
			continue
		}
		for _, d := range y.rules {
			if !d.allow && !d.isShut() && d.concerns(a, allows) {
				list = append(list, strike{a, d})
				break
			}
		}
	}
	return list
}

func (c *composition) strike(s strike) {
	is := func(r *rule) bool { return r.allow && r.uri == s.allow.uri }
	if slices.ContainsFunc(c.rules, is) {
		c.rules = slices.DeleteFunc(c.rules, is)
		c.struck = append(c.struck, s)
	}
}

// twins drops redundant rules: repeated ones, and each Disallow whose pattern an Allow
// of the same directory repeats.
func (c *composition) twins() {
	type key struct {
		uri   string
		allow bool
		of    *note
	}
	has := make(map[key]bool, len(c.rules))
	for _, r := range c.rules {
		if r.allow {
			has[key{r.uri, true, r.of}] = true
		}
	}
	seen := make(map[key]bool, len(c.rules))
	c.rules = slices.DeleteFunc(c.rules, func(r *rule) bool {
		drop := !r.allow && has[key{r.uri, true, r.of}] || seen[key{r.uri, r.allow, nil}]
		seen[key{r.uri, r.allow, nil}] = seen[key{r.uri, r.allow, nil}] || !drop
		return drop
	})
}

// matchedAsMuch returns a shorter Allow that may match as many bytes as a Disallow. A
// directory that is denied as a whole outweighs longer ones, too.
func (c *composition) matchedAsMuch(d *rule) *rule {
	least := len(d.uri) - strings.Count(d.uri, "*")
	if isAnchored(d.uri) {
		least--
	}
	for _, a := range c.opening(d) {
		if (len(a.uri) < len(d.uri) || d.isShut()) && (len(a.uri) >= least || strings.Contains(a.uri, "*")) && mayMeet(a.uri, d.uri) {
			return a
		}
	}
	return nil
}

// opening returns the Allows that may meet a rule: those of the root and of its top-level
// directory.
func (c *composition) opening(d *rule) []*rule {
	if c.allows == nil {
		c.allows = map[string][]*rule{}
		for _, r := range c.rules {
			if r.allow {
				c.all = append(c.all, r)
				c.allows[r.top()] = append(c.allows[r.top()], r)
			}
		}
	}
	if d.top() == "" {
		return c.all
	}
	return slices.Concat(c.allows[""], c.allows[d.top()])
}
