package policy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// veronica is the name of the group for readers that know only Disallow and *:
// Veronica-2 takes it by its name, strict Gopher readers take every Disallow of the file,
// and readers after RFC 9309 do not look at it.
const veronica = "veronica"

// noRobot is no robot's name: its group is for readers that take every Disallow.
const noRobot = "gopher-strict"

// nothing is a selector that is never answered: the server refuses dotfiles. A group that
// would deny nothing denies it, since readers differ over groups without a Disallow.
const nothing = "/.robots"

// header is the first line of the file. Readers of 1994 take an empty line for the end of
// a record, so none follows, and no comment stands in a group.
const header = `# robots.txt made by gophd; "gophd robots explain" tells why`

// DenyAll returns the robots.txt that keeps every robot out.
func DenyAll() []byte { return []byte("User-agent: *\nDisallow: /\nDisallow: *\n") }

// line is a rule as it stands in the file.
type line struct {
	text  string // the pattern
	allow bool
	of    *rule
}

// section is a group as it is written.
type section struct {
	names []string
	lines []line
	uses  []*use
	by    []*note // the annotations that ask for it; nil: it is for everybody
	size  int     // bytes as it is written
}

// cuts selects lines to leave out if the file is too large: first the lines for
// selectors without a leading slash, since the server closes these spellings; then the
// lines that the group for weak readers repeats from the * group. What is left of that
// group is for readers that take every Disallow: veronica reads the * group then, since
// her own would replace it.
type cuts struct {
	bare bool // lines without a leading slash are left out
	weak bool // the group for weak readers says only what the others do not
}

// sectionsOf makes the section of each class. The section for everybody comes first.
func sectionsOf(list []*composition, cut cuts) (sections []section) {
	weakName := veronica
	if cut.weak {
		weakName = noRobot
	}
	for _, c := range list {
		s := section{names: c.names, uses: c.uses, by: c.by}
		if c.token == veronica {
			s.lines, s.uses, weakName = c.weakLines(cut), nil, noRobot
		} else {
			s.lines = c.lines(cut)
		}
		sections = append(sections, s)
	}
	for slices.ContainsFunc(list, func(c *composition) bool { return slices.Contains(c.names, weakName) }) {
		weakName += "-"
	}
	weak := section{names: []string{weakName}, lines: list[0].weakLines(cut)}
	said := map[string]bool{}
	for _, l := range sections[0].lines {
		said[l.text] = said[l.text] || !l.allow
	}
	if slices.ContainsFunc(weak.lines, func(l line) bool { return !said[l.text] }) {
		if cut.weak {
			weak.lines = slices.DeleteFunc(weak.lines, func(l line) bool { return said[l.text] })
		}
		at := 1 // before the names that are shorter
		for at < len(sections) && len(sections[at].names[0]) > len(weakName) {
			at++
		}
		sections = slices.Insert(sections, at, weak)
	}
	return sections
}

// lines returns the lines of a class for readers of RFC 9309.
func (c *composition) lines(cut cuts) []line {
	w := newLineWriter(len(c.rules), cut)
	w.allows = slices.ContainsFunc(c.rules, func(r *rule) bool { return r.allow })
	for _, r := range c.rules {
		w.of = r
		w.both(r.uri)
		if r.raw != r.uri && !r.odd {
			w.both(r.raw)
		}
		if prefix, ok := r.prefix(); ok {
			w.both(prefix)
		}
	}
	return w.sorted()
}

// weakLines returns the lines of a class for readers that know only Disallow and *.
func (c *composition) weakLines(cut cuts) []line {
	w := newLineWriter(len(c.rules), cut)
	for _, r := range c.rules {
		w.of = r
		switch {
		case r.allow:
		case !r.isWeak():
			w.both(r.uri)
			if r.raw != r.uri {
				w.both(r.raw)
			}
			if prefix, ok := r.prefix(); ok {
				w.both(prefix)
			}
		default:
			if text, ok := r.weakText(); ok {
				w.both(text)
			}
		}
	}
	return w.sorted()
}

// isWeak reports whether readers that know no $ and no escapes need the weak form of a
// rule. Names with a leading blank also need it: their bare form would lose the blank.
func (r *rule) isWeak() bool {
	return r.odd || isAnchored(r.uri) || strings.HasPrefix(r.raw, "/ ")
}

// weakText returns the weak form as it is written. ok is false if it contains nothing
// of the name, so that it would deny the whole directory.
func (r *rule) weakText() (text string, ok bool) {
	left := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(r.weak, r.of.at.weak), "/"), "*")
	whole := strings.TrimRight(strings.TrimPrefix(r.uri, r.of.at.uri), "*") == "/"
	return strings.TrimRight(r.weak, "*"), left != "" || whole
}

// prefix returns a Disallow without its trailing stars, for readers that do not know
// them.
func (r *rule) prefix() (text string, ok bool) {
	text = strings.TrimRight(r.raw, "*")
	ok = !r.allow && text != r.raw && !r.odd && text == strings.TrimRight(text, " $")
	return text, ok && strings.IndexByte(text, '*') < 0
}

// lineWriter collects the lines of a group in two lists, with and without a leading
// slash. Each list is sorted, or nearly so.
type lineWriter struct {
	list, bare []line
	of         *rule
	cut        cuts
	allows     bool // the group has an Allow
}

func newLineWriter(rules int, cut cuts) lineWriter {
	return lineWriter{list: make([]line, 0, 2*rules), bare: make([]line, 0, rules), cut: cut}
}

// both adds a line for selectors with a leading slash, and one for selectors without.
// It omits the latter where it would match too much or nothing; the server closes those
// spellings. A group with an Allow gets no line about all selectors: readers that
// compare the length of matched text would lose everything the Allow opens.
func (w *lineWriter) both(text string) {
	allow := w.of.allow
	w.list = append(w.list, line{text, allow, w.of})
	switch bare := text[1:]; {
	case isSlashed(text):
	case strings.Trim(bare, "*") == "":
		if !allow && !w.allows {
			w.bare = append(w.bare, line{"*", false, w.of})
		}
	case w.cut.bare || bare == "$" || bare[0] == ' ':
	default:
		w.bare = append(w.bare, line{bare, allow, w.of})
	}
}

// isSlashed reports whether a pattern without its leading slash would match selectors
// that have one.
func isSlashed(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text[1:], "*"), "/")
}

// sorted orders lines by pattern, a longer pattern before its own prefixes, and
// Disallow before Allow if the patterns are equal.
func (w *lineWriter) sorted() []line {
	all := append(w.list, w.bare...)
	slices.SortFunc(all, compareLines)
	return slices.CompactFunc(all, func(a, b line) bool { return a.text == b.text && a.allow == b.allow })
}

// isLast reports whether a line comes after all others, since it denies everything.
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

// order compares two booleans: false comes first.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// writer writes the common shape that all known readers share: one run of
// User-agent lines a group, no empty line or comment inside, one empty line
// between.
type writer struct {
	buf     bytes.Buffer
	sources []source // of each line
}

// source is the origin of a line of the file.
type source struct {
	*rule      // nil: no author wrote it
	use   *use // it states preferences
}

func (w *writer) line(of source, parts ...string) {
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
	w := &writer{sources: make([]source, 0, lines+len(list))}
	w.buf.Grow(40 * lines)
	w.line(source{}, header)
	for i := range list {
		s, start := &list[i], w.buf.Len()
		if i > 0 {
			w.line(source{})
		}
		for _, name := range s.names {
			w.line(source{}, "User-agent: ", name)
		}
		if !slices.ContainsFunc(s.lines, func(l line) bool { return !l.allow }) {
			w.line(source{}, "Disallow: ", nothing)
		}
		for _, l := range s.lines {
			w.line(source{rule: l.of}, field(l.allow), l.text)
		}
		for _, u := range s.uses {
			path := u.uri + " "
			if u.uri == "/" {
				path = ""
			}
			w.line(source{&u.rule, u}, "Content-Usage: ", path, u.statement().String())
		}
		w.fields(fields, false)
		s.size = w.buf.Len() - start
	}
	w.fields(fields, true)
	return w
}

// field returns the name of the field of a rule, as it is written.
func field(allow bool) string {
	if allow {
		return "Allow: "
	}
	return "Disallow: "
}

// fields writes the site-wide fields: into a group, or at the end of the file.
func (w *writer) fields(fields []siteField, end bool) {
	first := true
	for _, f := range fields {
		if f.end != end {
			continue
		}
		if end && first {
			w.line(source{})
		}
		first = false
		w.line(source{rule: f.rule}, f.name, ": ", f.value)
	}
}
