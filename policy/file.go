package policy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// veronica names the group for readers that know only Disallow and *. Veronica-2 chooses
// it by name, strict Gopher readers obey every Disallow of the file, and readers of RFC 9309
// ignore groups for other robots.
const veronica = "veronica"

// noRobot is no robot's name: its group is for readers that take every Disallow.
const noRobot = "gopher-strict"

// nothing is a selector that the server never answers, since it refuses dotfiles. Groups
// without a Disallow deny it, since readers treat empty groups differently.
const nothing = "/.robots"

// header is the first line of the file. To readers of 1994 an empty line ends a record, so
// none follows, and groups contain no comments.
const header = `# robots.txt made by gophd; "gophd robots explain" tells why`

// DenyAll returns the robots.txt that keeps every robot out.
func DenyAll() []byte {
	return []byte("User-agent: *\nDisallow: /\nDisallow: *\n")
}

// line is a rule in the file.
type line struct {
	text  string // the pattern
	uri   string // in URI form, by which lines are ordered
	allow bool
	of    *rule
}

// section is a group in the file.
type section struct {
	names []string
	lines []line
	uses  []*use
	named bool // it is for robots that annotations name
}

// sectionsOf makes the section of each class, and one for weak readers: they know only
// Disallow and *, and perhaps no groups. The section for everybody comes first. If cut is
// set, the section for weak readers has only the lines that the former lacks, and veronica
// reads both.
func sectionsOf(list []*composition, cut bool) (sections []section) {
	weakName := veronica
	if cut {
		weakName = noRobot
	}
	for _, c := range list {
		s := section{
			names: c.names,
			uses:  c.uses,
			named: c.by != nil || c.joined,
		}
		if c.token == veronica {
			s.lines = c.weakLines()
			s.uses = nil
			weakName = noRobot
		} else {
			s.lines = c.lines()
		}
		sections = append(sections, s)
	}
	for slices.ContainsFunc(list, func(c *composition) bool {
		return slices.Contains(c.names, weakName)
	}) {
		weakName += "-"
	}
	weak := section{names: []string{weakName}, lines: list[0].weakLines()}
	said := map[string]bool{}
	for _, l := range sections[0].lines {
		said[l.text] = said[l.text] || !l.allow
	}
	if slices.ContainsFunc(weak.lines, func(l line) bool { return !said[l.text] }) {
		if cut {
			weak.lines = slices.DeleteFunc(weak.lines, func(l line) bool { return said[l.text] })
		}
		sections = append(sections, weak)
	}
	return stacked(sections)
}

// lines returns the lines of a class for readers of RFC 9309.
func (c *composition) lines() []line {
	list := make([]line, 0, len(c.rules)+1)
	hasAllow := false
	all := (*rule)(nil) // denies everything
	for _, r := range c.rules {
		list = append(list, line{r.uri, r.uri, r.allow, r})
		if r.raw != r.uri && !r.hazard && !(r.allow && strings.ContainsFunc(r.raw, isSpace)) {
			list = append(list, line{r.raw, r.uri, r.allow, r})
		}
		list = append(list, r.plain()...)
		hasAllow = hasAllow || r.allow
		if !r.allow && withoutEnd(r.uri) == "/" {
			all = r
		}
	}
	// Readers that compare the length of matched text would lose everything an Allow opens.
	if all != nil && !hasAllow {
		list = append(list, line{"*", "*", false, all})
	}
	return sorted(list)
}

// weakLines returns the lines of a class for readers that know only Disallow and *.
func (c *composition) weakLines() []line {
	list := make([]line, 0, len(c.rules)+1)
	for _, r := range c.rules {
		if r.allow {
			continue
		}
		if r.isWeak() {
			if text, ok := r.weakText(); ok {
				list = append(list, line{text, text, false, r})
			}
		} else {
			list = append(list, line{r.uri, r.uri, false, r})
			if r.raw != r.uri {
				list = append(list, line{r.raw, r.raw, false, r})
			}
			list = append(list, r.plain()...)
		}
		if withoutEnd(r.uri) == "/" {
			list = append(list, line{"*", "*", false, r})
		}
	}
	for i := range list {
		list[i].uri = list[i].text // there is no Allow
	}
	return sorted(list)
}

// isWeak reports whether readers that know no $ and no escapes need the weak form of a
// rule.
func (r *rule) isWeak() bool { return r.hazard || isAnchored(r.uri) }

// weakText returns the weak form as a line of the file. ok is false if no byte of the name
// remains in it: it would deny the whole directory.
func (r *rule) weakText() (text string, ok bool) {
	left := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(r.weak, r.of.at.weak), "/"), "*")
	whole := strings.TrimPrefix(withoutEnd(r.uri), r.of.at.uri) == "/"
	text = strings.TrimRightFunc(r.weak, func(c rune) bool { return c == '*' || isSpace(c) })
	return text, left != "" || whole
}

// plain returns the lines of a Disallow that ends in a star without it, for readers that do
// not know stars.
func (r *rule) plain() (list []line) {
	text := withoutEnd(r.uri)
	if text == r.uri || r.allow || strings.HasSuffix(r.uri, "**") {
		return nil
	}
	list = append(list, line{text, text, false, r})
	if raw := withoutEnd(r.raw); raw != text && !r.hazard && raw == trimEnd(raw) {
		list = append(list, line{raw, text, false, r})
	}
	return list
}

// trimEnd returns a line without what readers would take for its end.
func trimEnd(line string) string {
	return strings.TrimRightFunc(line, func(c rune) bool { return c == '$' || isSpace(c) })
}

// sorted orders lines by pattern, a longer pattern before its own prefixes, and
// Disallow before Allow if the patterns are equal. The raw form of a pattern is placed beside
// its URI form: some readers that take the first match do not treat ? as %3F.
func sorted(list []line) []line {
	slices.SortFunc(list, compareLines)
	return slices.CompactFunc(list, func(a, b line) bool {
		return a.text == b.text && a.allow == b.allow
	})
}

// isLast reports whether a line comes after all others, since it denies everything.
func (l line) isLast() bool { return l.text == "*" && !l.allow }

func compareLines(a, b line) int {
	n := min(len(a.uri), len(b.uri))
	switch {
	case a.isLast() != b.isLast():
		return order(a.isLast(), b.isLast())
	case a.uri[:n] != b.uri[:n]:
		return strings.Compare(a.uri, b.uri)
	case len(a.uri) != len(b.uri):
		return cmp.Compare(len(b.uri), len(a.uri))
	}
	return cmp.Or(order(a.allow, b.allow), strings.Compare(a.text, b.text))
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
	*rule        // nil: no author wrote it
	use   *use   // it states preferences
	text  string // its pattern
	named bool   // it is in a group for robots that annotations name
}

func (w *writer) line(of source, parts ...string) {
	for _, p := range parts {
		w.buf.WriteString(p)
	}
	w.buf.WriteByte('\n')
	w.sources = append(w.sources, of)
}

// write makes the file.
func write(list []section, fields []siteField) *writer {
	lines := 0
	for _, s := range list {
		lines += len(s.lines)
	}
	w := &writer{sources: make([]source, 0, lines+len(list))}
	w.buf.Grow(40 * lines)
	w.line(source{}, header)
	for i := range list {
		s := &list[i]
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
			w.line(source{
				rule:  l.of,
				text:  l.text,
				named: s.named,
			}, field(l.allow), l.text)
		}
		for _, u := range s.uses {
			path := u.uri + " "
			if u.uri == "/" {
				path = ""
			}
			w.line(source{rule: &u.rule, use: u}, "Content-Usage: ", path, u.statement().String())
		}
		w.fields(fields, false)
	}
	w.fields(fields, true)
	return w
}

// field returns the name of a rule's field.
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
