package policy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// nobody is a selector that is never answered: the server refuses dotfiles. A
// group that would deny nothing denies it, since readers differ over groups
// without a Disallow.
const nobody = "/.robots"

// header is the first line of the file. Readers of 1994 take an empty line for
// the end of a record, so none follows, and no comment stands in a group.
const header = `# robots.txt made by gophd; "gophd robots explain" tells why`

// DenyAll returns the robots.txt that keeps every robot out.
func DenyAll() []byte { return []byte("User-agent: *\nDisallow: /\nDisallow: *\n") }

// section is a group as it is written.
type section struct {
	names []string
	lines []line
	prefs []*rule
	whose []string // whose room it takes, in equal parts; nil: each its own lines
	size  int      // bytes as it is written

	copied bool // the group for Veronica that no annotation asks for
}

// sections makes what is written of each group. That for everybody comes first.
func sections(groups []*group, noBare bool) []section {
	var list []section
	for _, g := range groups {
		s := section{names: g.names, lines: g.lines(noBare), prefs: merged(g.prefs)}
		if g.token() == veronica {
			s.lines, s.prefs = g.weakLines(noBare), nil
		}
		for top := range g.told {
			s.whose = append(s.whose, top.at.top())
		}
		slices.Sort(s.whose)
		list = append(list, s)
	}
	isNamed := slices.ContainsFunc(groups, func(g *group) bool { return g.token() == veronica })
	if all := groups[0]; !isNamed && all.needsVeronica() {
		s := section{names: []string{veronica}, lines: all.weakLines(noBare), copied: true}
		at := 1 // before the names that are shorter
		for at < len(list) && len(list[at].names[0]) > len(veronica) {
			at++
		}
		list = slices.Insert(list, at, s)
	}
	return list
}

// merged puts preferences about the same path together.
func merged(prefs []*rule) []*rule {
	slices.SortStableFunc(prefs, func(a, b *rule) int {
		return cmp.Or(compareLines(line{text: a.uri}, line{text: b.uri}), a.compare(b))
	})
	var list []*rule
	for _, p := range prefs {
		last := len(list) - 1
		if last < 0 || list[last].uri != p.uri {
			list = append(list, p)
			continue
		}
		both := *list[last]
		if both.with == nil {
			both.with = []*rule{list[last]}
		}
		both.with = append(both.with, p)
		both.usage = restrict(both.usage, p.usage)
		list[last] = &both
	}
	return list
}

// writer writes the common shape that all known readers share: one run of
// User-agent lines a group, no empty line or comment inside, one empty line
// between.
type writer struct {
	buf     bytes.Buffer
	sources []*rule // of each line written; nil: none
}

func (w *writer) line(of *rule, parts ...string) {
	for _, p := range parts {
		w.buf.WriteString(p)
	}
	w.buf.WriteByte('\n')
	w.sources = append(w.sources, of)
}

// write makes the file, and measures the sections.
func write(list []section, fields []siteField) *writer {
	lines := 0
	for _, s := range list {
		lines += len(s.lines)
	}
	w := &writer{sources: make([]*rule, 0, lines+len(list))}
	w.buf.Grow(40 * lines)
	w.line(nil, header)
	for i := range list {
		s, start := &list[i], w.buf.Len()
		if i > 0 {
			w.line(nil)
		}
		for _, name := range s.names {
			w.line(nil, "User-agent: ", name)
		}
		w.rules(*s)
		for _, p := range s.prefs {
			path := p.uri + " "
			if p.uri == "/" {
				path = ""
			}
			w.line(p, "Content-Usage: ", path, p.usage)
		}
		w.fields(fields, false)
		s.size = w.buf.Len() - start
	}
	w.fields(fields, true)
	return w
}

func (w *writer) rules(s section) {
	if !slices.ContainsFunc(s.lines, func(l line) bool { return !l.allow }) {
		s.lines = append([]line{{text: nobody}}, s.lines...)
		if len(s.lines) == 1 && !strings.EqualFold(s.names[0], veronica) {
			s.lines = append(s.lines, line{text: "/", allow: true})
		}
	}
	for _, l := range s.lines {
		w.line(l.of, (&rule{allow: l.allow}).field(), l.text)
	}
}

// fields writes those of the whole site: in each group, or at the end.
func (w *writer) fields(fields []siteField, end bool) {
	first := true
	for _, f := range fields {
		if f.end != end {
			continue
		}
		if end && first {
			w.line(nil)
		}
		first = false
		w.line(f.rule, f.name, ": ", f.value)
	}
}
