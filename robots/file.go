package robots

import (
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/robots/readers"
)

// DefaultLimit is how many bytes of a file are read (R14): 500 KiB.
const DefaultLimit = 500 << 10

// maxText is the most bytes that a record can address. Text beyond it is dropped.
const maxText = 1<<29 - 1

// File is a robots file that was read as one dialect. It never changes and may
// be used by many goroutines at once. A nil or zero File allows everything.
type File struct {
	dialect Dialect
	literal bool
	utf16   bool // as it was written
	text    string
	records []record
	groups  []groupText
	present bool // some line means something to robots
	cut     bool // the text was longer than the limit

	asked   atomic.Bool // for the rules of a robot
	once    sync.Once
	agents  agentTable
	usages  usageTable
	indexed atomic.Int64 // lines in all indexes
}

// Dialect is one way of reading robots lines. Package readers has them all.
type Dialect = readers.Dialect

// The dialects that robots in use need.
const (
	Gopher  = readers.Gopher  // "Robots and Gopher" (2019), with groups
	RFC9309 = readers.RFC9309 // the Robots Exclusion Protocol, for the web
)

// Rule is an Allow or Disallow line. The zero Rule stands for none.
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
	Agents []Agent // none: the lines stand outside of any group
	Rules  []Rule
	Usages []Usage
	Fields []Field

	Version readers.Version // of [Extended] groups (C3)
}

// record is a User-agent, Allow, Disallow or Content-Usage line. A file of a hundred thousand
// rules is mostly these, so they are small.
type record struct {
	pos  uint32 // of the value in the text
	line uint32
	size uint32 // of the value, and the kind in the two highest bits
}

const recordKinds = 30

func (r record) kind() readers.LineKind {
	return readers.KindAgent + readers.LineKind(r.size>>recordKinds)
}

// groupText is a part of the text and the records in it. It ends where the next
// one begins.
type groupText struct {
	pos     uint32 // of its first line
	line    uint32 // lines before it
	record  uint32 // its first record
	agents  bool   // it begins with User-agent lines
	version readers.Version
}

func (f *File) value(r record) string {
	return f.text[r.pos : r.pos+r.size&(1<<recordKinds-1)]
}

func (f *File) rule(r record) Rule {
	return Rule{Allow: r.kind() == readers.KindAllow, Pattern: f.value(r), Line: int(r.line)}
}

// Dialect returns the dialect that the file was read as; [Gopher] if f is nil.
func (f *File) Dialect() Dialect {
	if f == nil {
		return Gopher
	}
	return f.dialect
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
func (f *File) Absent() bool { return f == nil || !f.present && (!f.cut || f.text != "") }

// members returns the records of group g.
func (f *File) members(g int) []record {
	end := uint32(len(f.records))
	if g+1 < len(f.groups) {
		end = f.groups[g+1].record
	}
	return f.records[f.groups[g].record:end]
}

// Groups returns the file group by group, in order, as the dialect groups lines.
// Lines outside of any group come as a Group without Agents. Rules include
// Allow lines and empty patterns in every dialect, whether they count or not.
func (f *File) Groups() []Group {
	if f == nil {
		return nil
	}
	groups := make([]Group, len(f.groups))
	for i := range groups {
		groups[i] = f.group(i)
	}
	return groups
}

func (f *File) group(i int) Group {
	g := Group{Fields: f.groupFields(i), Version: f.groups[i].version}
	for _, r := range f.members(i) {
		switch r.kind() {
		case readers.KindAgent:
			g.Agents = append(g.Agents, f.agent(r))
		case readers.KindUsage:
			g.Usages = append(g.Usages, f.usage(r))
		default:
			g.Rules = append(g.Rules, f.rule(r))
		}
	}
	return g
}

// agent returns a User-agent line, with the name as the dialect compares it.
func (f *File) agent(r record) Agent {
	if f.dialect == readers.Standard1994 || f.dialect == readers.Extended {
		return Agent{recordName(f.value(r)), int(r.line)}
	}
	return Agent{readers.ProductToken(f.value(r)), int(r.line)}
}

// groupEnd returns the place in the text where the next group begins.
func (f *File) groupEnd(i int) int {
	if i+1 < len(f.groups) {
		return int(f.groups[i+1].pos)
	}
	return len(f.text)
}

func (f *File) groupFields(i int) []Field {
	var fields []Field
	for l := range f.scanner(int(f.groups[i].pos), f.groupEnd(i), int(f.groups[i].line)).Lines() {
		if l.Kind == readers.KindField {
			fields = append(fields, Field{strings.ToLower(l.Field), l.Value, l.Number})
		}
	}
	return fields
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
	return f.scanner(0, len(f.text), 0).Lines()
}

// scanner reads a part of the text; lines is how many come before it.
func (f *File) scanner(from, to, lines int) readers.Scanner {
	return readers.NewScanner(f.dialect, f.literal, f.text[:to], from, lines)
}
