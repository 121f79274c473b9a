package robots

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/robots/readers"
)

// DefaultLimit is how many bytes of a file are read (R14): 500 KiB.
const DefaultLimit = 500 << 10

// File is a robots file that was read as one dialect. It never changes and may
// be used by many goroutines at once. A nil or zero File allows everything.
type File struct {
	reader readers.Reader // the row of the dialect
	utf16  bool           // as it was written
	cut    bool           // the text was longer than the limit
	text   string
	lines  *readers.Grouped

	mu     sync.RWMutex
	byName map[string]*Rules // of the robots that Agent was called with
	others *Rules            // of all that no group names

	indexed atomic.Int64 // lines in the indexes of all robots
}

// Dialect is one way of reading robots lines. Package readers has them all.
type Dialect = readers.Dialect

// The dialects that robots in use need.
const (
	Gopher  = readers.Gopher  // "Robots and Gopher" (2019), with groups
	RFC9309 = readers.RFC9309 // the Robots Exclusion Protocol, for the web
)

// Rule is an Allow or Disallow line. The zero Rule means that no rule applies.
type Rule = readers.Rule

// Agent is a User-agent line.
type Agent struct {
	Token string `json:"token"` // the product token, or "*"; in 1994 and Extended the name; "" names no robot
	Line  int    `json:"line"`
}

// Usage is a Content-Usage line.
type Usage struct {
	Pattern string // as written, compared like an Allow line; "": all paths
	Value   string // the dictionary, as written
	Line    int    // counted from 1
}

// Field is a line of any other kind, such as Crawl-delay, known or unknown.
type Field struct {
	Name  string // lower case
	Value string // as written
	Line  int
}

// Group is a set of lines for the same robots.
type Group struct {
	Agents []Agent // empty for lines outside of any group
	Rules  []Rule
	Usages []Usage
	Fields []Field

	Version readers.Version // of [readers.Extended] groups (C3)
}

// IsForAll reports whether it is the * group.
func (g Group) IsForAll() bool {
	return slices.ContainsFunc(g.Agents, func(a Agent) bool { return a.Token == "*" })
}

// Dialect returns the dialect that the file was read as; [Gopher] if f is nil.
func (f *File) Dialect() Dialect {
	if f == nil {
		return Gopher
	}
	return f.reader.Dialect
}

// UTF16 reports whether the file was written in UTF-16, with a byte order mark. It
// is read all the same, as UTF-8, though few robots can.
func (f *File) UTF16() bool { return f != nil && f.utf16 }

// AppendTo appends the file as it was read, byte for byte; one in UTF-16 comes in
// UTF-8.
func (f *File) AppendTo(b []byte) []byte {
	if f == nil {
		return b
	}
	return append(b, f.text...)
}

// Size is how many bytes of the text were read.
func (f *File) Size() int {
	if f == nil {
		return 0
	}
	return len(f.text)
}

// Truncated reports whether the text was longer than the limit it was read with,
// so that its end is missing (R14).
func (f *File) Truncated() bool { return f != nil && f.cut }

// Absent reports whether the body is no robots file at all: no line of it is a
// known field. Gopher has no status codes, so Absent recognises a menu, an
// error item or an HTML page in place of the file (G1). A file whose first line
// is longer than the limit is not absent, though nothing of it could be read.
func (f *File) Absent() bool {
	return f == nil || f.lines == nil || !f.lines.Known && (!f.cut || f.text != "")
}

// Groups returns the file group by group, in order, as the dialect groups lines.
// Lines outside of any group come as a Group without Agents. Rules include
// Allow lines and empty patterns in every dialect, whether they count or not.
func (f *File) Groups() []Group {
	if f == nil || f.lines == nil {
		return nil
	}
	groups := make([]Group, len(f.lines.Groups))
	for i := range groups {
		groups[i] = f.group(i)
	}
	return groups
}

func (f *File) group(i int) Group {
	g := Group{Version: f.lines.Groups[i].Version}
	for _, r := range f.lines.Members(i) {
		switch r.Kind {
		case readers.KindAgent:
			g.Agents = append(g.Agents, f.agent(r))
		case readers.KindUsage:
			path, value := splitUsage(r.Value)
			g.Usages = append(g.Usages, Usage{path, value, int(r.Line)})
		case readers.KindField:
			g.Fields = append(g.Fields, fieldOf(r))
		default:
			g.Rules = append(g.Rules, ruleOf(r))
		}
	}
	return g
}

func ruleOf(r readers.Record) Rule {
	return Rule{
		Allow:   r.Kind == readers.KindAllow,
		Pattern: r.Value,
		Line:    int(r.Line),
	}
}

func fieldOf(r readers.Record) Field {
	name, value := r.Field()
	return Field{name, value, int(r.Line)}
}

// agent returns a User-agent line, with the name as the dialect compares it.
func (f *File) agent(r readers.Record) Agent {
	if f.reader.Names == readers.Part {
		return Agent{readers.RecordName(r.Value), int(r.Line)}
	}
	return Agent{readers.ProductToken(r.Value), int(r.Line)}
}

// Sitemaps returns the values of all Sitemap lines, in order. They belong to no
// group (R9).
func (f *File) Sitemaps() []string {
	var urls []string
	for l := range f.Lines() {
		if l.Kind == readers.KindField && strings.EqualFold(l.Field, "sitemap") && l.Value != "" {
			urls = append(urls, l.Value)
		}
	}
	return urls
}

// Lines yields every line, those without effect too.
func (f *File) Lines() iter.Seq[readers.Line] {
	if f == nil {
		return func(func(readers.Line) bool) {}
	}
	return readers.NewScanner(f.reader.Dialect, f.reader.Literal, f.text).Lines()
}
