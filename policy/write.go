package policy

import (
	"bytes"
	"fmt"
	"slices"
)

// nobody is a selector that is never answered: the server refuses dotfiles.
const nobody = "/.robots"

// DenyAll gives the robots.txt that keeps every robot out: what is served when
// no other can be proven.
func DenyAll() []byte { return []byte("User-agent: *\nDisallow: /\nDisallow: *\n") }

// section is one class of robots in the file.
type section struct {
	class   *class
	verdict *verdict
	lines   []line
	exposed exposures

	holes int             // patterns that bar what does not exist yet
	cost  map[*Dir]int    // octets of the lines for a directory, without those below
	globs map[*Dir]int    // names in it that cannot be cut
	sels  map[*Dir]string // selectors of the directories with such names
}

// octets is how much room the lines take.
func (s *section) octets() int {
	n := 0
	for _, l := range s.lines {
		n += l.octets()
	}
	return n
}

// writer writes the common shape that all known readers share: one
// User-agent a group, no blank or comment line inside, one blank line between.
type writer struct {
	buf     bytes.Buffer
	sources []source // of each line written
	token   string   // of the group
}

// source is where a line of the file comes from.
type source struct {
	file string
	line int

	token       string // of a rule: the robot it is for
	allow, deny string // and its pattern
}

func (w *writer) line(src source, format string, args ...any) {
	_, _ = fmt.Fprintf(&w.buf, format+"\n", args...)
	w.sources = append(w.sources, src)
}

// group writes the lines for one robot. A group says something even where all
// is allowed: an empty one, or an empty Disallow, is read in different ways.
func (w *writer) group(token string, lines []line, fields []siteField) {
	if w.buf.Len() > 0 {
		w.line(source{}, "")
	}
	w.token = token
	w.line(source{}, "User-agent: %s", token)
	for _, l := range lines {
		w.rule(l)
	}
	if len(lines) == 0 {
		w.line(source{}, "Allow: /")
		w.line(source{}, "Disallow: %s", nobody)
	}
	for _, f := range fields {
		if f.name != "Sitemap" {
			w.line(source{file: f.file, line: f.line}, "%s: %s", f.name, f.value)
		}
	}
}

func (w *writer) rule(l line) {
	src := source{token: w.token}
	if l.by != nil {
		src.file, src.line = l.by.file, l.by.line
	}
	if l.allow {
		src.allow = l.pattern
	} else {
		src.deny = l.pattern
	}
	w.buf.WriteString(fieldOf(l.allow))
	w.buf.WriteString(l.pattern)
	w.buf.WriteByte('\n')
	w.sources = append(w.sources, src)
}

func fieldOf(allow bool) string {
	if allow {
		return "Allow: "
	}
	return "Disallow: "
}

// sitemaps writes the lines that belong to no group.
func (w *writer) sitemaps(fields []siteField) {
	first := true
	for _, f := range fields {
		if f.name != "Sitemap" {
			continue
		}
		if first {
			w.line(source{}, "")
			first = false
		}
		w.line(source{file: f.file, line: f.line}, "Sitemap: %s", f.value)
	}
}

// write writes the file: the group of the robots that nobody names first, then
// the longest names, since readers of the 1994 standard take the first group
// whose name is a part of their own.
func write(sections []*section, fields []siteField) *writer {
	lines := map[string][]line{}
	var tokens []string
	for _, s := range sections {
		for _, token := range s.class.tokens {
			lines[token] = s.lines
			tokens = append(tokens, token)
		}
	}
	slices.SortFunc(tokens[1:], longestFirst)
	w := &writer{}
	for _, token := range tokens {
		w.group(token, lines[token], fields)
	}
	w.sitemaps(fields)
	return w
}
