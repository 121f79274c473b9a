package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// composition is the rules and preferences of all annotations for one class.
type composition struct {
	*class
	rules   []*rule // those that count, in the order of directories
	struck  []strike
	carried []strike // Allows whose own path a carried Disallow closes
	uses    []*use
}

// strike is an Allow and the rule that overrides it.
type strike struct{ allow, by *rule }

// composer puts the annotations together for one class.
type composer struct {
	*composition
	programs []program
	above    []level // the directories on the way down to the current one
	below    []*rule // lines that are carried below Allows
}

// level is a directory on the way down.
type level struct {
	note   *note
	allows []*rule // what counts of its Allows
	guards []guard
}

// guard is a Disallow that Allows of directories further down must not undo.
type guard struct {
	*rule
	named bool // it names the robot; else it is a Final
	alone bool // the Allows beside it do not apply, since the robot has a group of its own
}

// compose makes the composition of a class. notes are the directories that are read and
// those that are denied as a whole, ordered by selector; the first is the root. joined are
// the rules of joined directories.
func compose(c *class, notes []*note, programs []program, joined []*rule) *composition {
	b := composer{composition: &composition{class: c}, programs: programs}
	for _, n := range notes {
		for len(b.above) > 0 && !strings.HasPrefix(n.sel, b.above[len(b.above)-1].note.sel) {
			b.above = b.above[:len(b.above)-1]
		}
		switch {
		case n.shut != nil:
			b.deny(n.shut)
		case !c.joined || !n.joined:
			b.note(n)
		}
	}
	if c.joined {
		b.rules = append(b.rules, joined...)
	}
	b.rules = append(b.rules, b.below...)
	for _, p := range programs {
		b.rules = append(b.rules, p.lines...)
	}
	b.uses = usesOf(c, notes)
	return b.composition
}

// note adds the rules of a directory, except the Allows that a rule above strikes.
func (b *composer) note(n *note) {
	rules, own := n.rulesFor(b.robot)
	b.above = append(b.above, level{note: n})
	at := len(b.above) - 1
	var guards []guard
	for _, r := range rules {
		switch {
		case !r.allow:
			b.rules = append(b.rules, r)
			if r.final || own {
				guards = append(guards, guard{rule: r, named: own})
			}
		case b.allow(r, own):
			b.rules = append(b.rules, r)
			b.above[at].allows = append(b.above[at].allows, r)
		}
	}

	// A Final for everybody applies to the robots that its annotation names, too.
	if own {
		for _, g := range n.general {
			for _, r := range g.rules {
				if r.final && !slices.Contains(rules, r) {
					b.rules = append(b.rules, r)
					guards = append(guards, guard{rule: r, alone: true})
				}
			}
		}
	}
	b.above[at].guards = guards
}

// allow carries the Disallows that an Allow must not undo below it. It returns false if
// it strikes the Allow instead.
func (b *composer) allow(a *rule, own bool) bool {
	var below []*rule
	carry := func(d *rule) bool {
		lines, ok := d.carried(a)
		if !ok {
			b.struck = append(b.struck, strike{a, d})
			return false
		}
		below = append(below, lines...)
		return true
	}
	for _, at := range b.above {
		for _, d := range at.guards {
			isExcepted := func(o *rule) bool {
				return !d.alone && len(o.uri) >= len(d.uri) && covers(o.uri, a.uri)
			}
			if (d.final || d.named && !own) && d.concerns(a) &&
				!slices.ContainsFunc(at.allows, isExcepted) && !carry(d.rule) {
				return false
			}
		}
	}
	for _, p := range b.programs {
		if p.names(a) {
			continue
		}
		for _, d := range p.lines {
			if d.concerns(a) && !carry(d) {
				return false
			}
		}
	}
	for _, r := range below {
		if r.uri == a.uri+"$" {
			b.carried = append(b.carried, strike{a, r})
		}
	}
	b.below = append(b.below, below...)
	return true
}

// concerns reports whether an Allow could undo a Disallow: an Allow that is as long and
// may match the same.
func (r *rule) concerns(a *rule) bool {
	return len(a.uri) >= len(r.uri) && meets(a.uri, r.uri)
}

// carried returns lines, longer than an Allow, for the names that the Allow opens and the
// Disallow denies. ok is false if there are no such lines.
func (r *rule) carried(a *rule) (lines []*rule, ok bool) {
	texts, ok := meeting(r.uri, a.uri)
	for _, text := range texts {
		if !ok || len(text) <= len(a.uri) {
			return nil, false
		}
		line := *r
		line.form, line.of, line.below = formOfURI(text), a.of, a
		lines = append(lines, &line)
	}
	return lines, ok
}

// deny denies a directory as a whole. Where an Allow above may reach into it, deny adds
// what both match, for readers that take the first match, and a line that is longer than
// the Allow; its extra stars match nothing new.
func (b *composer) deny(r *rule) {
	var allows []*rule
	for _, at := range b.above {
		allows = append(allows, at.allows...)
	}
	b.rules = append(b.rules, r.padded(allows)...)
}

// padded returns a rule that denies a directory as a whole with the lines that it needs
// beside Allows.
func (r *rule) padded(allows []*rule) []*rule {
	list := []*rule{r}
	most := 0
	for _, a := range allows {
		if !r.concerns(a) {
			continue
		}
		most = max(most, len(a.uri))
		if texts, ok := meeting(r.uri, a.uri); ok {
			for _, text := range texts {
				again := *r
				again.form = formOfURI(text)
				list = append(list, &again)
			}
		}
	}
	if most > 0 {
		padded := *r
		stars := strings.Repeat("*", most+1-len(r.uri))
		padded.form = form{
			uri:    r.uri + stars,
			raw:    r.raw + stars,
			hazard: r.hazard,
			weak:   r.weak + stars,
		}
		list = append(list, &padded)
	}
	return list
}

// aliases denies each alias if a rule that counts here may match what robots read under
// its target, unless the rule denies the alias in the same way. It reports whether it has
// denied any.
func (c *composition) aliases(aliases []alias) (denied bool) {
	isDenied := make([]bool, len(aliases))
	for found := true; found; {
		found = false // a denied alias may be below the target of another
		for i, a := range aliases {
			if isDenied[i] || !slices.ContainsFunc(c.rules, a.isShownBy) {
				continue
			}
			var allows []*rule
			for _, r := range c.rules {
				if r.allow {
					allows = append(allows, r)
				}
			}
			c.rules = append(c.rules, a.rule.padded(allows)...)
			isDenied[i] = true
			found = true
			denied = true
		}
	}
	return denied
}

// isShownBy reports whether an alias would show what a rule denies under its target.
func (a alias) isShownBy(d *rule) bool {
	switch {
	case d.allow || !meets(d.uri, a.target):
		return false
	case isAnchored(a.target): // a file
		return !matches(d.uri, a.uri)
	case d.program && strings.Contains(d.uri, "*"):
		return false // it matches below the alias, too
	}
	return !(isLiteral(d.uri) && strings.HasPrefix(a.uri, d.uri))
}

// twins drops redundant rules: repeated ones, and each Disallow that an Allow of the same
// annotation and group repeats.
func (c *composition) twins() {
	type key struct {
		uri   string
		allow bool
		of    *note
	}
	has := map[key]bool{}
	for _, r := range c.rules {
		if r.allow {
			has[key{r.uri, true, r.of}] = true
		}
	}
	seen := make(map[key]bool, len(c.rules))
	c.rules = slices.DeleteFunc(c.rules, func(r *rule) bool {
		isWritten := r.below == nil && !r.whole && r.line > 0
		drop := !r.allow && isWritten && has[key{r.uri, true, r.of}] ||
			seen[key{r.uri, r.allow, nil}]
		seen[key{r.uri, r.allow, nil}] = seen[key{r.uri, r.allow, nil}] || !drop
		return drop
	})
}

// opening returns the Allows of the root and those of each top-level directory.
func (c *composition) opening() map[string][]*rule {
	list := map[string][]*rule{}
	for _, r := range c.rules {
		if r.allow {
			list[r.top()] = append(list[r.top()], r)
		}
	}
	return list
}

// matcher returns the rules as RFC 9309 reads them.
func (c *composition) matcher() *readers.Matcher {
	rfc, _ := readers.Named("rfc9309")
	var list []readers.Rule
	for i, r := range c.rules {
		list = append(list, readers.Rule{
			Allow:   r.allow,
			Pattern: r.uri,
			Line:    i + 1,
		})
	}
	return rfc.Matcher(list)
}

// CheckProgram returns an error unless p is valid in [Input.Programs]: a selector
// that begins with a slash ("/cgi-bin", "/now/"), "/*" and the end of names ("/*.dcgi"),
// or "/~*/" and a name ("/~*/cgi-bin"). It has no other *, no ?, at most 4096 bytes, and
// no empty, hidden or malformed element (see [selector.Refusal]).
func CheckProgram(p string) error {
	name, ok := strings.CutPrefix(p, "/")
	if end, isEnd := strings.CutPrefix(name, "*"); isEnd {
		name, ok = "x"+end, ok && end != "" && !strings.Contains(end, "/")
	} else if below, isUsers := strings.CutPrefix(name, "~*/"); isUsers {
		name = below
	} else if name = strings.TrimSuffix(name, "/"); p == "/" {
		return nil
	}
	for elem := range strings.SplitSeq(name, "/") {
		reason := selector.Refusal(elem)
		ok = ok && (reason == "" || reason == selector.Program || reason == selector.TooLong)
	}
	if !ok || strings.ContainsAny(name, "*?") || len(p) > selector.MaxRequest {
		return fmt.Errorf(`%.80q is neither a selector ("/cgi-bin", "/~*/cgi-bin") nor "/*" and the end of names ("/*.dcgi")`, p)
	}
	return nil
}

// program is a prefix or an extension that programs answer, and the lines that deny it.
type program struct {
	uri   string // "/cgi-bin", "/now/", "/*.dcgi" or "/~*/cgi-bin"
	lines []*rule
}

// programsOf returns the lines that deny each program: its selector, everything below
// it, and everything after a question mark; of a menu its selector alone. Reports name the
// flag of each.
func programsOf(selectors []string, flags map[string]string, root *note) (list []program) {
	for _, p := range selectors {
		value := "a program answers it; denied, because no Allow names the program"
		flag := cmp.Or(flags[p], "-fastcgi "+p)
		uri := formOf(strings.Split(p, "*"), false, true).uri
		next := program{uri: uri}
		ends := []string{"$", "/", "?"}
		if strings.HasSuffix(p, "/") {
			ends = ends[:1]
		}
		for _, end := range ends {
			pieces := strings.Split(strings.TrimSuffix(p+end, "$"), "*")
			next.lines = append(next.lines, &rule{
				form:    formOf(pieces, end == "$", true),
				value:   value,
				file:    flag,
				program: true,
				of:      root,
			})
		}
		list = append(list, next)
	}
	return list
}

// names reports whether an Allow names a program: its path is the program's own, or ends
// in its extension.
func (p program) names(a *rule) bool {
	path := a.uri
	ends := []string{"/", "%3F", "*", "$"}
	isMenu := strings.HasSuffix(p.uri, "/")
	if isMenu {
		ends = ends[2:]
	}
	for _, end := range ends {
		if cut, ok := strings.CutSuffix(path, end); ok {
			path = cut
			break
		}
	}
	if isMenu {
		return path == p.uri
	}
	if ext, isExt := strings.CutPrefix(p.uri, "/*"); isExt {
		return strings.HasSuffix(path, ext)
	}
	return covers(p.uri+"$", path+"$")
}

// reports returns what an Allow that names a program does not open.
func (p program) reports(a *rule) (list []Report) {
	if !p.names(a) {
		return nil
	}
	for i, d := range p.lines {
		if len(a.uri) >= len(d.uri) || !meets(a.uri, d.uri) {
			continue
		}
		path := strings.TrimRight(strings.TrimSuffix(a.value, "$"), "*/?")
		message := fmt.Sprintf("it opens nothing of %s, whose line is longer: write %s*, and %[2]s? for its queries", d.file, path)
		switch {
		case strings.HasSuffix(p.uri, "/"):
			message = fmt.Sprintf("it does not open the menu that %s makes: write %s$",
				d.file, a.value)
		case i == len(p.lines)-1:
			message = fmt.Sprintf("it does not open the queries of %s: write %s?, too", d.file, path)
		}
		r := NewReport(CodeProgram, a.file, a.line, message)
		r.Severity = diag.Notice
		r.Hint = "what a program answers is denied unless an Allow that is as long as its line names it"
		return append(list, r)
	}
	return nil
}
