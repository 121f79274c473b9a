package robots

import (
	"slices"
	"strings"
)

// Rule is an Allow or Disallow line. The zero Rule stands for none.
type Rule struct {
	Allow   bool   `json:"allow"`
	Pattern string `json:"pattern"` // as written; an empty one is no rule in any dialect
	Line    int    `json:"line"`    // counted from 1
}

// Agent is a User-agent line.
type Agent struct {
	Token string `json:"token"` // the product token, or "*"; in 1994 and Extended the name; "" names nobody
	Line  int    `json:"line"`
}

// Field is a line of another kind, such as Crawl-delay, or one nobody knows.
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

	Version Version // of [Extended] groups (C3)
}

// record is a User-agent, Allow, Disallow or Content-Usage line. A file of a hundred thousand
// rules is mostly these, so they are small.
type record struct {
	pos  uint32 // of the value in the text
	line uint32
	size uint32 // of the value, and the kind in the two highest bits
}

const recordKinds = 30

func (r record) kind() LineKind { return KindAgent + LineKind(r.size>>recordKinds) }

func (f *File) value(r record) string {
	return f.text[r.pos : r.pos+r.size&(1<<recordKinds-1)]
}

func (f *File) rule(r record) Rule {
	return Rule{Allow: r.kind() == KindAllow, Pattern: f.value(r), Line: int(r.line)}
}

// groupText is a part of the text and the records in it. It ends where the next
// one begins.
type groupText struct {
	pos     uint32 // of its first line
	line    uint32 // lines before it
	record  uint32 // its first record
	agents  bool   // it begins with User-agent lines
	version Version
}

// grouper puts lines into groups.
type grouper struct {
	file *File
	open bool     // there is a group that lines belong to
	full bool     // the next User-agent line begins another one
	last LineKind // of the last line that was no blank or comment
}

// add takes the next line. R1 is the common rule: a group ends at a User-agent
// line that follows a rule.
func (b *grouper) add(l *lineSpans) {
	f := b.file
	switch l.kind {
	case KindBlank:
		// Only the 1994 standard separates records by blank lines.
		b.open = b.open && f.dialect != Standard1994
		return
	case KindComment, KindMalformed:
		return
	case KindAgent:
		b.agent(l)
	case KindAllow, KindDisallow, KindUsage:
		b.begin(l, false)
		b.record(l)
		b.full = true
	case KindField:
		b.begin(l, false)
		b.field(l)
	}
	f.present = f.present || l.kind < KindUsage || KnownField(f.part(l.field))
	b.last = l.kind
}

func (b *grouper) agent(l *lineSpans) {
	if b.file.dialect == GopherStrict { // G10
		b.begin(l, false)
		return
	}
	b.begin(l, true)
	b.record(l)
}

// begin opens a group unless the line belongs to the one that is open.
func (b *grouper) begin(l *lineSpans, agent bool) {
	f := b.file
	if b.open && (!agent || !b.full && f.groups[len(f.groups)-1].agents) {
		return
	}
	b.open, b.full = true, false
	f.groups = append(f.groups, groupText{
		pos: uint32(l.text.from), line: uint32(l.number - 1), record: uint32(len(f.records)), agents: agent,
	})
}

func (b *grouper) record(l *lineSpans) {
	b.file.records = append(b.file.records, record{
		pos:  uint32(l.value.from),
		line: uint32(l.number),
		size: uint32(l.value.to-l.value.from) | uint32(l.kind-KindAgent)<<recordKinds,
	})
}

// field takes what Extended says of other directives: each ends the run of
// User-agent lines (C1), and Robot-version counts directly after it (C3).
func (b *grouper) field(l *lineSpans) {
	f := b.file
	if f.dialect != Extended {
		return
	}
	b.full = true
	if b.last == KindAgent && strings.EqualFold(f.part(l.field), "robot-version") {
		f.groups[len(f.groups)-1].version, _ = ParseVersion(f.part(l.value))
	}
}

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
		case KindAgent:
			g.Agents = append(g.Agents, f.agent(r))
		case KindUsage:
			g.Usages = append(g.Usages, f.usage(r))
		default:
			g.Rules = append(g.Rules, f.rule(r))
		}
	}
	return g
}

// agent returns a User-agent line, with the name as the dialect compares it.
func (f *File) agent(r record) Agent {
	if f.dialect == Standard1994 || f.dialect == Extended {
		return Agent{recordName(f.value(r)), int(r.line)}
	}
	return Agent{ProductToken(f.value(r)), int(r.line)}
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
	f.scan(int(f.groups[i].pos), f.groupEnd(i), int(f.groups[i].line), func(l Line) bool {
		if l.Kind == KindField {
			fields = append(fields, Field{strings.ToLower(l.Field), l.Value, l.Number})
		}
		return true
	})
	return fields
}

// knownFields are the fields besides the three that make groups and rules, and
// where each comes from.
var knownFields = []string{
	"sitemap", "crawl-delay", // extras that many files carry
	"content-usage", "content-signal", "license", // preferences
	"clean-param",                                            // Yandex
	"robot-version", "visit-time", "request-rate", "comment", // Extended
	"index", "cooldown", // gophd's own, after the IRC token
}

// KnownField reports whether robots are known to read a field besides
// User-agent, Allow and Disallow. Case does not matter.
func KnownField(name string) bool {
	return slices.ContainsFunc(knownFields, func(known string) bool {
		return strings.EqualFold(known, name)
	})
}

// Version is the meaning that Robot-version gives to a group of [Extended] (C3).
type Version uint8

// The versions.
const (
	Version1     Version = iota // 1.0, or not said, or not understood
	Version2                    // 2.0, or a later stable one
	Experimental                // an odd minor number: the group is ignored
)

// ParseVersion reads the value of a Robot-version line, M.N or M.N.R, of which
// the first two numbers count. ok is false, and the version 1.0, if it is
// neither.
func ParseVersion(value string) (v Version, ok bool) {
	word, _, _ := strings.Cut(value, " ")
	major, rest, _ := strings.Cut(word, ".")
	minor, _, _ := strings.Cut(rest, ".")
	switch {
	case major != "1" && major != "2" || !digits(minor):
		return Version1, false
	case (minor[len(minor)-1]-'0')%2 == 1:
		return Experimental, true
	case major == "2":
		return Version2, true
	}
	return Version1, true
}
