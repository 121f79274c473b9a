package policy

import (
	"cmp"
	"slices"
	"strings"
)

// veronica is the name of the group for readers that know only Disallow and *:
// Veronica-2 takes it by its name, strict Gopher readers take every Disallow of
// the file, and readers after RFC 9309 do not look at it.
const veronica = "veronica"

// line is a rule as it stands in the file.
type line struct {
	text  string // the pattern
	allow bool
	of    *rule
}

// simplify drops what changes nothing for anybody, and finds out which weak
// forms may stand beside their rules. Entries are walked in the order of their
// heads, with those whose heads begin this one's on a stack.
func (g *group) simplify() {
	slices.SortStableFunc(g.entries, func(a, b entry) int { return compareHeads(a.uri, b.uri) })
	var s stacks
	for i := range g.entries {
		e := &g.entries[i]
		if e.dropped {
			continue
		}
		s.enter(headOf(e.uri))
		if !s.twin(e) && !e.allow {
			g.covered(&s, e, i)
		}
		if !e.allow && !e.dropped {
			e.tie = e.isAnchored() && s.mayTie(e)
		}
		if !e.dropped {
			s.push(e)
		}
	}
}

// compareHeads orders patterns by what is literal at their beginning.
func compareHeads(a, b string) int {
	return cmp.Or(strings.Compare(headOf(a), headOf(b)), strings.Compare(a, b))
}

// stacks are the entries whose heads begin that of the one that is looked at.
type stacks struct {
	allows, literals, others []*entry // others are Disallows that are no prefixes
}

func (s *stacks) enter(head string) {
	for _, list := range []*[]*entry{&s.allows, &s.literals, &s.others} {
		for n := len(*list); n > 0 && !strings.HasPrefix(head, headOf((*list)[n-1].uri)); n-- {
			*list = (*list)[:n-1]
		}
	}
}

func (s *stacks) push(e *entry) {
	list := &s.others
	if e.allow {
		list = &s.allows
	} else if isLiteral(e.uri) {
		list = &s.literals
	}
	*list = append(*list, e)
}

// twin drops a rule that stands there already, and a Disallow that an Allow of
// the same pattern undoes. It reports whether e was dropped.
func (s *stacks) twin(e *entry) bool {
	for _, list := range [][]*entry{s.allows, s.literals, s.others} {
		if len(list) == 0 || list[len(list)-1].uri != e.uri {
			continue
		}
		switch o := list[len(list)-1]; {
		case o.allow == e.allow:
			o.pad, o.strong = max(o.pad, e.pad), o.strong || e.strong
			e.dropped = true
		case o.allow:
			e.dropped = !e.strong && e.pad == 0 && !o.partly
		default:
			o.dropped = !o.strong && o.pad == 0 && !e.partly
		}
	}
	return e.dropped
}

// covered drops a Disallow if a shorter literal one covers it, unless an Allow
// that is at least as long as that one, and shorter than the dropped one, can
// match something that the dropped one matches. What is said less well than it,
// to readers that know no * or no escapes, covers nothing.
func (g *group) covered(s *stacks, e *entry, at int) {
	var by *entry
	for i := len(s.literals) - 1; i >= 0 && by == nil; i-- {
		if o := s.literals[i]; !o.dropped && len(o.uri) < len(e.uri) && o.uri != "/" && !o.odd {
			by = o
		}
	}
	if by == nil || e.strong && !by.strong || e.pad > 0 {
		return
	}
	between := func(o *entry) bool {
		return len(by.uri) <= len(o.uri) && len(o.uri) < len(e.uri) && mayMeet(o.uri, e.uri)
	}
	if slices.ContainsFunc(s.allows, between) {
		return
	}
	head := headOf(e.uri)
	for _, o := range g.entries[at+1:] {
		if !strings.HasPrefix(o.uri, head) || isLiteral(e.uri) {
			break
		}
		if o.allow && !o.dropped && len(o.uri) < len(e.uri) {
			return
		}
	}
	e.dropped = true
}

// isAnchored reports whether the rule is a name and a $, and nothing else that
// readers without $ could not read.
func (e *entry) isAnchored() bool {
	return e.uri[len(e.uri)-1] == '$' && len(headOf(e.uri)) == len(e.uri)-1 && !e.odd && strings.IndexByte(e.weak, '*') < 0 && e.weak == strings.TrimRight(e.weak, " $")
}

// mayTie reports whether the weak form of a rule may stand in its group, with an
// Allow of the same length after it: no other Disallow that is not longer may
// match anything that it matches, nor the directory that Google takes the Allow for.
func (s *stacks) mayTie(e *entry) bool {
	weak := headOf(e.uri)
	dir, isIndex := indexOf(weak)
	meets := func(o *entry) bool {
		return !o.dropped && len(o.uri) <= len(weak) && (mayMeet(o.uri, weak) || isIndex && matches(o.uri, dir))
	}
	return !slices.ContainsFunc(s.literals, meets) && !slices.ContainsFunc(s.others, meets)
}

// isWeak reports whether readers that know no $ and no escapes need the weak
// form of a rule. Of a name that begins with a blank they need it for selectors
// without a leading slash.
func (e *entry) isWeak() bool {
	return e.odd || e.uri[len(e.uri)-1] == '$' || strings.HasPrefix(e.raw, "/ ")
}

// weakText is the weak form as it is written.
func (e *entry) weakText() string {
	if w := strings.TrimRight(e.weak, "*"); w != "" {
		return w
	}
	return "/"
}

// prefix returns a Disallow without the stars at its end, for readers that do not
// know them.
func (e *entry) prefix() (text string, ok bool) {
	text = strings.TrimRight(e.raw, "*")
	ok = !e.allow && text != e.raw && !e.odd && text != "" && text == strings.TrimRight(text, " $")
	return text, ok && strings.IndexByte(text, '*') < 0
}

// lines returns the lines of a group for readers of RFC 9309.
func (g *group) lines(noBare bool) []line {
	w := newLineWriter(len(g.entries), noBare)
	for i := range g.entries {
		e := &g.entries[i]
		if e.dropped {
			continue
		}
		w.of = e.rule
		w.both(e.uri, e.allow)
		if e.raw != e.uri && !e.odd {
			w.both(e.raw, e.allow)
		}
		if e.pad > 0 {
			w.both(padded(e.uri, e.pad), false)
		}
		if prefix, ok := e.prefix(); ok {
			w.both(prefix, false)
		}
		if e.tie {
			w.both(e.weakText(), false)
			w.both(e.weakText(), true)
		}
	}
	return w.sorted()
}

// padded makes a pattern longer by stars that match nothing new.
func padded(uri string, pad int) string {
	stars := strings.Repeat("*", pad)
	if i := strings.IndexByte(uri, '*'); i >= 0 {
		return uri[:i] + stars + uri[i:]
	}
	return uri + stars
}

// weakLines returns the lines of the group for Veronica: what is denied, with weak
// forms in the place of what only others understand.
func (g *group) weakLines(noBare bool) []line {
	w := newLineWriter(len(g.entries), noBare)
	for i := range g.entries {
		e := &g.entries[i]
		w.of = e.rule
		switch {
		case e.dropped || e.allow:
		case e.isWeak():
			w.both(e.weakText(), false)
		default:
			w.both(e.uri, false)
			if e.raw != e.uri {
				w.both(e.raw, false)
			}
		}
	}
	return w.sorted()
}

// needsVeronica reports whether some weak form does not stand in the group.
func (g *group) needsVeronica() bool {
	return slices.ContainsFunc(g.entries, func(e entry) bool { return !e.dropped && !e.allow && e.isWeak() && !e.tie })
}

// lineWriter gathers the lines of a group, those of each family by themselves: then
// they are in order, or nearly so.
type lineWriter struct {
	list, bare []line
	of         *rule
	noBare     bool // lines for selectors without a leading slash are left out
}

func newLineWriter(entries int, noBare bool) lineWriter {
	return lineWriter{list: make([]line, 0, 2*entries), bare: make([]line, 0, entries), noBare: noBare}
}

// both adds a line for selectors with a leading slash, and one for those without.
// The latter is left out where it would say too much or nothing; the server
// closes those spellings.
func (w *lineWriter) both(text string, allow bool) {
	w.list = append(w.list, line{text, allow, w.of})
	switch bare := text[1:]; {
	case isSlashed(text):
	case !allow && (bare == "*" || text == "/" && w.of.uri != "/$"):
		w.bare = append(w.bare, line{"*", false, w.of})
	case w.noBare || bare == "" || bare == "$" || bare[0] == ' ':
	default:
		w.bare = append(w.bare, line{bare, allow, w.of})
	}
}

// isSlashed reports whether a pattern would catch selectors with a leading slash
// if its own were taken off.
func isSlashed(text string) bool {
	return strings.HasPrefix(text, "/") && strings.HasPrefix(strings.TrimLeft(text[1:], "*"), "/")
}

// sorted orders lines by pattern, one that continues another before it, and
// Disallow before Allow where they are equal.
func (w *lineWriter) sorted() []line {
	all := append(w.list, w.bare...)
	slices.SortFunc(all, compareLines)
	return slices.CompactFunc(all, func(a, b line) bool { return a.text == b.text && a.allow == b.allow })
}

// isLast reports whether a line comes after all others: what denies all.
func (l line) isLast() bool { return l.text == "*" && !l.allow }

func compareLines(a, b line) int {
	n := min(len(a.text), len(b.text))
	switch {
	case a.isLast() != b.isLast():
		return order(a.isLast(), b.isLast())
	case a.text[:n] != b.text[:n]:
		return strings.Compare(a.text, b.text)
	case len(a.text) != len(b.text):
		return cmp.Compare(len(b.text), len(a.text))
	}
	return order(a.allow, b.allow)
}

// order puts what is false first.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
