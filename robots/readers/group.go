package readers

import (
	"slices"
	"strings"
	"unicode"
)

// A Record is a line with a field.
type Record struct {
	Value string // as in a [Line]; of a [KindField] its field, too: see [Record.Field]
	Line  uint32 // counted from 1
	Kind  LineKind
}

// Field takes a record of [KindField] apart. The name is in lower case.
func (r Record) Field() (name, value string) {
	name, value, _ = strings.Cut(r.Value, ":")
	return strings.ToLower(trimBlanks(name)), trimBlanks(value)
}

// A Span is a group: a range of records. It is loose if it precedes any User-agent line, or
// follows a blank line that ended a group.
type Span struct {
	From, To uint32
	Loose    bool
	Version  Version // of [Extended]
}

// Grouped is a file as a reader groups its lines.
type Grouped struct {
	Records []Record
	Groups  []Span
	Known   bool // some line has a field that robots know
}

// Members returns the records of a group.
func (f *Grouped) Members(group int) []Record {
	return f.Records[f.Groups[group].From:f.Groups[group].To]
}

// grouping is the settings that determine groups; readers with equal ones share
// them.
type grouping struct {
	dialect Dialect
	groups  bool
	literal bool
	blank   bool
	ends    Fields
	python  bool
	mark    bool
	words   bool
}

func (r Reader) grouping() grouping {
	return grouping{
		dialect: r.Dialect,
		groups:  r.Groups,
		literal: r.Literal,
		blank:   r.Blank,
		ends:    r.Ends,
		python:  r.Python,
		mark:    r.Mark,
		words:   r.Words,
	}
}

// Group returns the groups of a text.
func (r Reader) Group(text string) *Grouped { return r.grouping().read(text) }

func (by grouping) read(text string) *Grouped {
	g := grouper{by: by, now: -1}
	g.file.Records = make([]Record, 0, strings.Count(text, "\n")+1)
	g.each(text)
	f := g.file
	if len(f.Records) < cap(f.Records)*3/4 {
		f.Records = slices.Clone(f.Records) // which takes no more memory than it needs
	}
	f.Groups = slices.Clone(f.Groups)
	return &f
}

// grouper puts lines into groups. A group ends at a User-agent line that follows a rule
// (R1), and for some readers at other fields or a blank line, too.
//
// If words is set, or blank and python are, a group without any field behind its User-agent
// lines does not count.
type grouper struct {
	by    grouping
	file  Grouped
	now   int      // the group that lines belong to; -1: none
	named bool     // the next User-agent line joins it
	ruled bool     // it counts
	after LineKind // of the line before, blank lines and comments left out
}

func (g *grouper) each(text string) {
	if g.by.mark && strings.HasPrefix(text, byteOrderMark) {
		text = byteOrderMark + text // the scanner leaves out one
	}
	s := NewScanner(g.by.dialect, g.by.literal, text)
	for l, ok := s.Next(); ok; l, ok = s.Next() {
		if !g.by.python && !g.by.words {
			g.add(&l)
			continue
		}
		for _, part := range g.by.split(l) {
			g.add(&part)
		}
	}
	g.end()
}

// add takes the next line.
func (g *grouper) add(l *Line) {
	by := &g.by
	switch l.Kind {
	case KindBlank:
		if by.blank && (!by.python || strings.Trim(l.Text, "\r\n") == "") {
			g.end()
		}
		return
	case KindComment, KindMalformed:
		return
	case KindAgent:
		if !by.groups {
			g.begin(true)
			break
		}
		if !g.named {
			g.end()
			g.begin(false)
			g.named, g.ruled = true, !by.words && (!by.blank || !by.python)
		}
		g.record(l)
	case KindAllow, KindDisallow:
		g.begin(true)
		g.record(l)
		g.named, g.ruled = false, true
	case KindUsage:
		g.begin(true)
		g.record(l)
		g.named = g.named && by.ends != AnyField && by.ends != UsageField
	case KindField:
		g.begin(true)
		if g.after == KindAgent && by.dialect == Extended &&
			strings.EqualFold(l.Field, "robot-version") {
			g.file.Groups[g.now].Version, _ = ParseVersion(l.Value)
		}
		if by.ends == AnyField ||
			by.ends == RateFields &&
				(strings.EqualFold(l.Field, "crawl-delay") ||
					strings.EqualFold(l.Field, "request-rate")) {
			g.named, g.ruled = false, true
		}
		g.record(l)
	}
	g.file.Known = g.file.Known || l.Kind != KindField || KnownField(l.Field)
	g.after = l.Kind
}

// begin opens a group, unless one is open.
func (g *grouper) begin(loose bool) {
	if g.now >= 0 {
		return
	}
	g.now, g.ruled = len(g.file.Groups), true
	at := uint32(len(g.file.Records))
	g.file.Groups = append(g.file.Groups, Span{From: at, To: at, Loose: loose})
}

func (g *grouper) record(l *Line) {
	value := l.Value
	if l.Kind == KindField {
		value = l.content
	}
	g.file.Records = append(g.file.Records, Record{value, uint32(l.Number), l.Kind})
	g.file.Groups[g.now].To++
}

func (g *grouper) end() {
	if g.now >= 0 && !g.ruled {
		g.file.Records, g.file.Groups = g.file.Records[:g.file.Groups[g.now].From],
			g.file.Groups[:g.now]
	}
	g.now, g.named = -1, false
}

// split returns a line as Python takes it: as several, if it has other line ends. With
// words set, it returns the fields in the line.
func (by grouping) split(l Line) (parts []Line) {
	if by.words {
		return wordLines(l)
	}
	l.Value = strings.TrimFunc(l.Value, isPythonSpace)
	if l.Forgiven && l.content == "" && l.Field != strings.ToLower(l.Field) {
		l.Kind = KindMalformed // without a colon, Protego knows fields in small letters alone
	}
	if !strings.ContainsAny(l.Text, pythonLineEnds) {
		return []Line{l}
	}
	for text := range strings.FieldsFuncSeq(l.Text, func(c rune) bool {
		return strings.ContainsRune(pythonLineEnds, c)
	}) {
		for part := range NewScanner(by.dialect, true, text).Lines() {
			part.Number, part.Text = l.Number, text
			part.Value = strings.TrimFunc(part.Value, isPythonSpace)
			parts = append(parts, part)
		}
	}
	return parts
}

// wordLines returns the fields in a line as temoto/robotstxt takes it. A colon ends the
// first word alone, and a comment begins with a word. The line's end is the value of a field
// that has no other.
func wordLines(l Line) (parts []Line) {
	text := strings.TrimPrefix(l.Text, byteOrderMark)
	isBlank := func(c rune) bool { return strings.ContainsRune(" \t\v\r\n", c) }
	for i := 1; i < len(text); i++ {
		if text[i] == ':' && !isBlank(rune(text[i-1])) {
			text = text[:i] + " " + text[i+1:]
			break
		}
	}
	words := strings.FieldsFunc(text, isBlank)
	if i := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' }); i >= 0 {
		words = words[:i]
	}
	for words = append(words, "\n"); len(words) > 1; words = words[2:] {
		part := Line{Number: l.Number, Text: l.Text, Field: words[0], Value: words[1]}
		switch strings.ToLower(part.Field) {
		case "user-agent", "useragent":
			part.Kind = KindAgent
		case "allow":
			part.Kind = KindAllow
		case "disallow":
			part.Kind = KindDisallow
		case "crawl-delay", "crawldelay":
			part.Kind, part.Field = KindField, "crawl-delay"
			part.content = "crawl-delay:" + part.Value
		default:
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

const pythonLineEnds = "\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

func isPythonSpace(c rune) bool {
	return unicode.IsSpace(c) || 0x1c <= c && c <= 0x1f
}

// Choose returns the groups that bind a robot, in the order of the file; named reports
// whether one of them names it.
func (r Reader) Choose(f *Grouped, robot string) (groups []int, named bool) {
	if r.Names == ValueOrPart && r.Groups {
		return chooseByKey(f, robot)
	}
	if (r.Names == LongestPart || r.Names == LongestPrefix) && r.Groups {
		return r.chooseLongest(f, robot)
	}
	own, whole, others, loose := r.sort(f, robot)
	if r.Exact && len(whole) > 0 {
		own = whole
	}
	if r.First && len(own) > 0 {
		own = own[:1]
	}
	if r.First && r.Python && len(others) > 0 {
		others = others[:1]
	}
	named = len(own) > 0
	groups = own
	if !named || r.Everybody {
		groups = append(groups, others...)
	}
	if r.Loose || !r.Groups {
		groups = append(groups, loose...)
	}
	slices.Sort(groups)
	return groups, named
}

// sort returns the groups that fit a robot, those of them with exactly its name, those
// for everybody, and the loose ones.
func (r Reader) sort(f *Grouped, robot string) (own, whole, others, loose []int) {
	token := ProductToken(robot)
	lower := strings.ToLower(robot)
	word, _, _ := strings.Cut(lower, "/")
	for i := range f.Groups {
		g := &f.Groups[i]
		if g.Loose && slices.ContainsFunc(f.Members(i), func(rec Record) bool {
			return rec.Kind != KindField
		}) {
			loose = append(loose, i)
		}
		if g.Loose || g.Version == Experimental {
			continue
		}
		fits := false
		exact := false
		all := false
		for _, rec := range f.Members(i) {
			if rec.Kind != KindAgent {
				continue
			}
			switch r.Names {
			case Token:
				name := ProductToken(rec.Value)
				all = all || name == "*"
				fits = fits || name != "" && name != "*" && equalFold(name, token)
			case Part:
				name := r.partOf(rec.Value)
				star := name == "*" || !r.Python && ProductToken(rec.Value) == "*"
				all = all || star
				if !star && (name != "" || r.Python) && strings.Contains(word, name) {
					fits, exact = true, exact || name == word
				}
			default:
				all = all || rec.Value == "*"
				fits = fits || strings.EqualFold(rec.Value, robot)
			}
		}
		switch {
		case fits && token != "*" && !(r.Python && all):
			own = append(own, i)
			if exact {
				whole = append(whole, i)
			}
		case all:
			others = append(others, i)
		}
	}
	return own, whole, others, loose
}

// partOf returns the name that [Part] looks for in the names of robots.
func (r Reader) partOf(value string) string {
	if r.Python {
		return strings.ToLower(unquote(value))
	}
	return strings.ToLower(RecordName(value))
}

// RecordName returns the name in a record of the 1994 standard, without version.
func RecordName(value string) string {
	name, _, _ := strings.Cut(value, "/")
	return trimBlanks(name)
}

// equalFold compares without the case of ASCII letters.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && (a[i]|0x20 != b[i]|0x20 || a[i]|0x20 < 'a' || a[i]|0x20 > 'z') {
			return false
		}
	}
	return true
}

// chooseByKey follows CPython's reader since 3.15. It merges groups that share a
// name; the merged group is for the names that all of them have.
func chooseByKey(f *Grouped, robot string) (groups []int, named bool) {
	robot = strings.ToLower(robot)
	word, _, _ := strings.Cut(robot, "/")
	var order []string
	byName := map[string][]int{}
	parts := make([][]string, len(f.Groups)) // the names of each group that are parts of the robot's
	for i := range f.Groups {
		for _, rec := range f.Members(i) {
			if rec.Kind != KindAgent || rec.Value == "" {
				continue
			}
			key := strings.ToLower(rec.Value)
			if byName[key] == nil {
				order = append(order, key)
			}
			byName[key] = append(byName[key], i)
			if key != "*" && strings.Contains(word, key) {
				parts[i] = append(parts[i], rec.Value)
			}
		}
	}

	if groups := byName[robot]; groups != nil {
		return groups, robot != "*"
	}
	for _, key := range order {
		groups := byName[key]
		for _, name := range parts[groups[0]] {
			lacks := func(i int) bool { return !slices.Contains(parts[i], name) }
			if !slices.ContainsFunc(groups, lacks) {
				return groups, true
			}
		}
	}
	return byName["*"], false
}

// chooseLongest returns the groups with the longest value that is a part of a robot's name,
// also without its stars, or that begins it; of equally long ones, the first of the file.
// "*" is as long as a letter.
func (r Reader) chooseLongest(f *Grouped, robot string) (groups []int, named bool) {
	robot = strings.ToLower(robot)
	longest := ""
	byName := map[string][]int{}
	for i := range f.Groups {
		for _, rec := range f.Members(i) {
			if rec.Kind != KindAgent || rec.Value == "" {
				continue
			}
			value := strings.ToLower(rec.Value)
			names, fits := []string{value, strings.ReplaceAll(value, "*", "")}, strings.Contains
			if r.Names == LongestPrefix {
				names, fits = names[:1], strings.HasPrefix
			}
			for _, name := range names {
				byName[name] = append(byName[name], i)
				if len(name) > len(longest) && (name == "*" || fits(robot, name)) {
					longest = name
				}
			}
		}
	}
	return slices.Compact(byName[longest]), longest != "" && longest != "*"
}

// RulesOf returns the Allow and Disallow lines of groups. An Allow is left out if it is
// no rule to the reader.
func (r Reader) RulesOf(f *Grouped, groups []int) (rules []Rule) {
	for _, g := range groups {
		rules = slices.Grow(rules, len(f.Members(g)))
		for _, rec := range f.Members(g) {
			if rec.Kind != KindAllow && rec.Kind != KindDisallow {
				continue
			}
			allow := rec.Kind == KindAllow || r.Choice == FirstMatch && unquote(rec.Value) == ""
			if !allow || r.Allow {
				rules = append(rules, Rule{
					Allow:   allow,
					Pattern: rec.Value,
					Line:    int(rec.Line),
					version: f.Groups[g].Version,
				})
			}
		}
	}
	return rules
}
