package policy

import (
	"slices"
	"strings"
)

// entry is a rule as one class of robots gets it.
type entry struct {
	*rule
	strong  bool // nothing opens what it denies: a directory that is denied as a whole, a program
	partly  bool // an Allow that something outweighs in a part of what it matches
	dropped bool // a shorter Disallow, or an Allow of the same pattern, says it all
	tie     bool // its weak form stands beside it, with an Allow of the same length after it
	way     int  // it is an Allow of so many bytes for one way to ask what that opens
	pad     int  // bytes that a second line of it has more, to outweigh every Allow that it overrules
}

// group is what one class of robots is told.
type group struct {
	*class
	entries []entry // in the order of directories, then in that of heads
	prefs   []*rule
}

// composer puts the rules of all directories together for one class.
type composer struct {
	*group
	token    string
	denied   map[*node]*rule
	programs int     // the first entries are what programs answer
	opened   []*rule // the Allows of the root that speak of it
	partly   bool    // something outweighs the Allow that is looked at
}

// path is what the annotations above a directory say: state that is carried
// down, so that nothing is worked out twice.
type path struct {
	named  []*rule // rules that name the robot, without those that end in $
	finals []final
	allows []int // entries that are Allows
}

// final is an annotation with Final lines.
type final struct {
	paths []*rule
	own   []*rule        // all that it says to the robot
	lines map[string]int // entries that deny, by pattern
	holes []int          // entries that are Allows of it or above it
}

// compose makes the entries of a class.
func compose(c *class, root *node, denied map[*node]*rule, programs []*rule) *group {
	g := &group{class: c}
	if c.told == nil { // everybody is told most of what is said; room for all of it in each group would be most of the memory
		g.entries = make([]entry, 0, len(programs)+root.rules)
	}
	b := composer{group: g, token: c.token(), denied: denied}
	if denied[root] != nil {
		programs = nil
	}
	for _, p := range programs {
		g.entries = append(g.entries, entry{rule: p, strong: true})
	}
	b.programsOpen(root, programs)
	b.programs = len(b.entries)
	b.node(root, path{})
	b.hold()
	return g
}

// programsOpen leaves out what the root's annotation opens by name.
func (b *composer) programsOpen(root *node, programs []*rule) {
	rules, _, _ := root.note.setsFor(b.token)
	if rules == nil || b.denied[root] != nil {
		return
	}
	for _, r := range rules.rules {
		if !r.allow {
			continue
		}
		if slices.ContainsFunc(programs, func(p *rule) bool { return r.names(p.value) }) {
			b.opened = append(b.opened, r)
		}
		b.entries = slices.DeleteFunc(b.entries, func(e entry) bool {
			return r.names(e.value) && (r.uri == e.uri || r.uri == e.value || covers(r.uri, headOf(e.uri)))
		})
	}
}

// names reports whether a rule speaks of what a program answers by name: its
// pattern begins with the program's selector, or holds the program's extension at
// the end of an element.
func (r *rule) names(program string) bool {
	text := strings.TrimSuffix(r.uri, "$")
	ends := func(rest string) bool {
		return rest == "" || rest[0] == '/' || rest[0] == '*' || strings.HasPrefix(rest, "%3F")
	}
	ext, isExt := strings.CutPrefix(program, "/*")
	if !isExt {
		rest, ok := strings.CutPrefix(text, program)
		return ok && ends(rest)
	}
	for {
		_, rest, ok := strings.Cut(text, ext)
		if !ok || ends(rest) {
			return ok
		}
		text = rest
	}
}

func (b *composer) node(n *node, above path) {
	if r := n.shut(b.denied); r != nil {
		b.shut(r, above)
		return
	}
	below := above
	if n.note != nil {
		rules, prefs, own := n.note.setsFor(b.token)
		if prefs != nil {
			b.prefs = append(b.prefs, prefs.prefs...)
		}
		if rules != nil {
			below = b.rules(rules, own, above)
		}
	}
	for _, sub := range n.subs {
		b.node(sub, below)
	}
}

// rules adds the rules of an annotation, but for Allows that what is said above
// overrules.
func (b *composer) rules(s *set, own bool, above path) path {
	below := path{above.named[:len(above.named):len(above.named)], above.finals, above.allows[:len(above.allows):len(above.allows)]}
	start := len(b.entries)
	holding := slices.Clone(s.rules)
	if !own {
		holding = slices.DeleteFunc(holding, func(r *rule) bool { return r.allow && banned(above.named, r) })
	}
	for _, r := range holding {
		b.partly = false
		if r.allow && (b.final(above.finals, r) || b.closed(r)) {
			continue
		}
		for _, way := range b.spelled(r) {
			if r.allow {
				below.allows = append(below.allows, len(b.entries))
			}
			e := entry{rule: way, partly: b.partly}
			if way != r {
				e.way = len(r.uri)
			}
			b.entries = append(b.entries, e)
		}
		if own && b.token != "*" && r.uri[len(r.uri)-1] != '$' {
			below.named = append(below.named, r)
		}
	}
	if len(s.finals) > 0 {
		f := final{s.finals, holding, map[string]int{}, below.allows}
		for i := start; i < len(b.entries); i++ {
			if e := b.entries[i]; !e.allow {
				f.lines[e.uri] = i
			}
		}
		below.finals = append(below.finals[:len(below.finals):len(below.finals)], f)
	}
	return below
}

// banned reports whether the rules above that name the robot deny the place that
// an Allow for all opens.
func banned(named []*rule, allow *rule) bool {
	r := deciding(named, headOf(allow.uri))
	return r != nil && !r.allow
}

// deciding returns the longest rule that covers all that begins with head, Allow
// if two are equally long.
func deciding(rules []*rule, head string) *rule {
	var best *rule
	for _, r := range rules {
		if best != nil && (len(r.uri) < len(best.uri) || len(r.uri) == len(best.uri) && !r.allow) {
			continue
		}
		if covers(r.uri, head) {
			best = r
		}
	}
	return best
}

// shut denies a directory as a whole. Allows above it that reach into it are
// left out, or outweighed if they open more than that.
func (b *composer) shut(r *rule, above path) {
	e := entry{rule: r, strong: true}
	for _, i := range above.allows {
		if a := &b.entries[i]; !a.dropped {
			a.dropped = e.overrules(a.rule)
			a.partly = a.partly || e.pad > 0
		}
	}
	b.entries = append(b.entries, e)
}

// closed keeps what programs answer out of an Allow that does not open it by name.
// It reports whether that leaves nothing of the Allow.
func (b *composer) closed(allow *rule) bool {
	if slices.ContainsFunc(b.opened, func(o *rule) bool { return o == allow || covers(o.uri, headOf(allow.uri)) }) {
		return false
	}
	for i := range b.programs {
		e := &b.entries[i]
		if len(allow.uri) < len(e.uri) || !mayMeet(allow.uri, e.uri) {
			continue
		}
		b.partly = true
		if part := e.below(allow); len(b.opened) > 0 && part != nil && !covers(e.uri, headOf(allow.uri)) {
			b.entries = append(b.entries, entry{rule: part, strong: true, pad: max(0, len(allow.uri)+1-len(part.uri))})
		} else if allow.owner != "" && b.isOpened(e.rule) || e.overrules(allow) {
			return true
		}
	}
	return false
}

// isOpened reports whether the root opens by name some of what a program answers: for
// the Allow of another directory that is not denied again.
func (b *composer) isOpened(program *rule) bool {
	return slices.ContainsFunc(b.opened, func(o *rule) bool { return mayMeet(o.uri, program.uri) })
}

// below returns what a rule denies of the names with an extension where an Allow
// begins, nil if that cannot be said. A longer line about all of them would outweigh
// what opens some of them by name.
func (r *rule) below(allow *rule) *rule {
	tail, isExt := strings.CutPrefix(r.raw, "/*")
	tail, end := strings.CutSuffix(tail, "$")
	head, ok := unescape(headOf(allow.uri))
	if !isExt || !ok || headOf(allow.uri)+"$" == allow.uri {
		return nil
	}
	for n := range len(tail) {
		if strings.HasSuffix(head, tail[:n+1]) {
			return nil // its last bytes may belong to the extension
		}
	}
	part := *r
	part.form, part.owner = formOf([]string{head, tail}, end, true, true), allow.owner
	return &part
}

// spelled returns a rule, and with an Allow that names a program, but is shorter than
// what denies names with its extension, an Allow for each way to ask it.
func (b *composer) spelled(r *rule) []*rule {
	list := []*rule{r}
	if !r.allow || r.owner != "" {
		return list
	}
	for _, p := range b.entries[:b.programs] {
		if ext, isExt := strings.CutPrefix(p.value, "/*"); isExt && strings.HasSuffix(r.uri, ext) && len(r.uri) < len(p.uri) {
			end := strings.TrimPrefix(p.uri, p.value)
			plain, _ := unescape(end)
			way := *r
			way.form = r.join(form{uri: end, raw: plain})
			list = append(list, &way)
		}
	}
	return list
}

// hold makes sure that what is longer than an Allow, and no longer than one for a way to
// ask what it opens, denies as before.
func (b *composer) hold() {
	for i := range b.entries {
		way := &b.entries[i]
		for j := b.programs; way.way > 0 && j < len(b.entries); j++ {
			e := &b.entries[j]
			if !e.allow && len(e.uri) > way.way && len(e.uri) <= len(way.uri) && mayMeet(e.uri, way.uri) && !e.outweigh(way.rule) {
				way.dropped = true
			}
		}
	}
}

// overrules makes sure that the entry denies what it matches although an Allow
// may match it, too: it reports whether the Allow must be left out.
func (e *entry) overrules(allow *rule) bool {
	switch {
	case len(allow.uri) < len(e.uri) || !mayMeet(allow.uri, e.uri):
		return false
	case covers(e.uri, headOf(allow.uri)) || allow.uri == e.uri:
		return true
	}
	return !e.outweigh(allow)
}

// outweigh makes the entry's second line longer than an Allow by stars that match
// nothing. It reports whether that can be said.
func (e *entry) outweigh(allow *rule) bool {
	const most = 1000
	need := len(allow.uri) + 1 - len(e.uri)
	if need > most || e.uri[len(e.uri)-1] == '$' && strings.IndexByte(e.uri, '*') < 0 {
		return false
	}
	e.pad = max(e.pad, need)
	return true
}

// final reports whether an annotation above has the last word on all that an
// Allow opens. Where it is so for a part of it only, the rule that denies that
// part is written a second time, long enough to outweigh the Allow; if that
// cannot be said exactly, the Allow is left out: never is more opened.
func (b *composer) final(above []final, allow *rule) bool {
	head := headOf(allow.uri)
	for _, f := range above {
		best := deciding(f.own, head)
		for _, at := range f.paths {
			if !mayMeet(at.uri, allow.uri) {
				continue
			}
			if best != nil && !best.allow && covers(at.uri, head) {
				return true
			}
			for _, r := range f.own {
				if r.allow || len(r.uri) > len(allow.uri) || !mayMeet(r.uri, allow.uri) {
					continue
				}
				if best != nil && best.allow && len(best.uri) >= len(r.uri) {
					continue
				}
				if !b.lastWord(f, r, at, allow) {
					return true
				}
			}
		}
	}
	return false
}

// lastWord adds or lengthens a line that outweighs an Allow where rule r denies
// at or below a path. It reports whether such a line is exact: no other Allow
// that is as long as r may match what it matches.
func (b *composer) lastWord(f final, r, at, allow *rule) bool {
	region := *r
	if !covers(at.uri, headOf(r.uri)) {
		rest := strings.TrimPrefix(r.uri, headOf(r.uri))
		inside := strings.HasPrefix(at.uri, headOf(r.uri)) && isLiteral(at.uri) && at.uri[len(at.uri)-1] == '/'
		if !inside || rest == "$" || strings.Contains(rest, "/") || rest != "" && matches("*"+rest, at.uri) || strings.Count(rest, "*") > 1 {
			return false
		}
		region.form = at.form
		region.uri, region.raw, region.weak = at.uri+rest, at.raw+rest, at.weak+strings.TrimSuffix(rest, "$")
	}
	for _, i := range f.holes {
		if e := b.entries[i]; !e.dropped && len(e.uri) >= len(r.uri) && mayMeet(e.uri, region.uri) {
			return false
		}
	}
	i, ok := f.lines[region.uri]
	if !ok {
		i, f.lines[region.uri] = len(b.entries), len(b.entries)
		b.entries = append(b.entries, entry{rule: &region})
	}
	b.partly = true
	return b.entries[i].outweigh(allow)
}
