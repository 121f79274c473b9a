package policy

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// These are the bounds of one annotation. Beyond a bound its directory is denied,
// because the part that would be lost may deny something.
const (
	maxAnnotation = 500 << 10 // bytes
	maxRules      = 1000
	maxGlobs      = 64 // patterns with a * before their end
	maxToken      = 64 // bytes of a name
)

// robotsFile is the name in the root that is always allowed (RFC 9309, 2.2.2) and
// answered. It takes no part in the policy.
const robotsFile = "robots.txt"

// note holds the parsed annotations of one directory.
type note struct {
	sel     string       // of the directory
	from    []Annotation // what was read
	at      form         // the directory, without the slash at its end
	top     string       // the first name of the selector, in URI form; "" for the root
	shut    *rule        // not nil: the directory is denied as a whole
	groups  map[string][]*group
	names   []name // robots that are named, in order, each once
	rules   []*rule
	count   int // of rules and preferences
	bytes   int // of what is written for robots that nobody names, about
	fields  []siteField
	reports []Report
}

// name is a robot that an annotation names.
type name struct {
	token   string // in lower case
	written string
	full    string // with a blank, as its author wrote it; "" if it has none
}

// group is a group of an annotation: its rules and preferences for some robots.
type group struct {
	number  int // groups of an annotation that say the same have the same
	rules   []*rule
	prefs   []*usageLine
	says    bool // it has a rule, if only an empty Disallow
	prefers bool // it has a Content-Usage line, if only of what nobody can ask for
}

// rule is a line of an annotation; its pattern includes the directory.
type rule struct {
	form
	allow bool
	final bool
	value string // as it was written; of a denied directory, why
	file  string
	line  int   // 0: the annotation as a whole
	of    *note // the directory that needs the rule; nil for what programs answer
}

// top is the top-level directory whose annotations a rule belongs to, in URI form; ""
// for the root.
func (r *rule) top() string {
	if r.of == nil {
		return ""
	}
	return r.of.top
}

// isShut reports whether a rule denies a directory as a whole.
func (r *rule) isShut() bool { return r.line == 0 && r.of != nil && r.file != "" }

// groupsOf returns the groups for a robot: the groups that name it, if has holds for
// one of them (own), or else the groups for everybody.
func (n *note) groupsOf(token string, has func(*group) bool) (list []*group, own bool) {
	if token != "*" {
		if list = n.groups[token]; slices.ContainsFunc(list, has) {
			return list, true
		}
	}
	return n.groups["*"], false
}

// rulesFor returns the rules that count for a robot: its own, or else the general ones.
func (n *note) rulesFor(token string) (rules []*rule, own bool) {
	list, own := n.groupsOf(token, func(s *group) bool { return s.says })
	if len(list) == 1 {
		return list[0].rules, own
	}
	for _, s := range list {
		rules = append(rules, s.rules...)
	}
	return rules, own
}

// reader reads the annotations of one directory.
type reader struct {
	note    *note
	file    string
	lines   int     // of User-agent in a row; 0 after a rule
	bare    int     // the last line of User-agent before a field or a blank line: where a group without rules would end
	joined  int     // that line, once another group has joined: 0 again when it was said what that does
	now     *group  // the group that lines belong to
	nobody  bool    // its User-agent lines name nobody
	blanks  []blank // names with a blank
	counted [2]int  // rules and globs of this file
	tokens  map[string]bool
}

// blank is a name with a blank; readers use only its first word.
type blank struct {
	name
	group *group
	line  int
}

// readNote reads the annotations of a directory. It returns before if they have not
// changed.
func readNote(from []Annotation, before *note) *note {
	if before != nil && slices.EqualFunc(from, before.from, func(a, b Annotation) bool {
		return a.File == b.File && a.Err == b.Err && bytes.Equal(a.Data, b.Data) //nolint:errorlint // the very same error
	}) {
		return before
	}
	sel := from[0].Dir
	n := &note{sel: sel, from: from, at: directory(sel), groups: map[string][]*group{}}
	n.top, _, _ = strings.Cut(strings.TrimPrefix(n.at.uri, "/"), "/")
	r := reader{note: n, tokens: map[string]bool{}}
	for _, a := range from {
		r.file, r.lines, r.bare, r.joined, r.counted = a.File, 0, 0, 0, [2]int{}
		switch {
		case a.Err != nil:
			n.deny(a.File, CodeUnreadable, fmt.Sprintf("it cannot be read: %v", a.Err))
		case len(a.Data) > maxAnnotation:
			n.deny(a.File, CodeTooLarge, "it has more than 500 KiB")
		default:
			r.read(a.Data)
		}
		if n.shut != nil {
			return n
		}
	}
	r.joinBlanks()
	n.number()
	slices.SortStableFunc(n.fields, func(a, b siteField) int { return strings.Compare(a.name, b.name) })
	seen := map[string]bool{}
	for _, s := range n.groups["*"] {
		for _, r := range s.rules {
			if !seen[r.uri] {
				n.bytes += len(r.uri) + len("Allow: \n")
			}
			seen[r.uri] = true
		}
		for _, p := range s.prefs {
			n.bytes += len(p.uri) + len(p.value) + len("Content-Usage:  \n")
		}
	}
	return n
}

// number numbers the groups that name robots. Groups with equal lines share a number.
func (n *note) number() {
	numbers := map[string]int{}
	for _, name := range n.names {
		for _, g := range n.groups[name.token] {
			var lines []string
			for _, r := range g.rules {
				final := ""
				if r.final {
					final = "Final "
				}
				lines = append(lines, final+field(r.allow)+r.uri)
			}
			for _, u := range g.prefs {
				lines = append(lines, u.uri+" "+u.said.String())
			}
			slices.Sort(lines)
			says := fmt.Sprint(g.says, g.prefers, strings.Join(slices.Compact(lines), "\n"))
			if numbers[says] == 0 {
				numbers[says] = len(numbers) + 1
			}
			g.number = numbers[says]
		}
	}
}

// deny denies the directory as a whole on account of an annotation.
func (n *note) deny(file, code, why string) {
	*n = note{sel: n.sel, from: n.from, at: n.at, top: n.top, shut: n.denied(file, why), groups: map[string][]*group{}, reports: n.reports}
	n.reports = append(n.reports, deniedReport(n.sel, code, file, why))
}

// deniedReport is the report about a directory that is denied as a whole.
func deniedReport(sel, code, file, why string) Report {
	what := "the directory"
	if sel == "/" {
		what = "the whole site"
	}
	return NewReport(code, file, 0, what+" is denied: "+why)
}

// denied is the rule for a directory, or an alias of a file, that is denied as a whole.
func (n *note) denied(file, why string) *rule {
	all := n.at
	if strings.HasSuffix(n.sel, "/") {
		all = all.join(form{uri: "/", raw: "/", weak: "/"})
	}
	return &rule{form: all, value: why, file: file, of: n}
}

func (r *reader) report(code string, line int, format string, args ...any) *Report {
	r.note.reports = append(r.note.reports, NewReport(code, r.file, line, fmt.Sprintf(format, args...)))
	return &r.note.reports[len(r.note.reports)-1]
}

func (r *reader) read(data []byte) {
	r.begin()
	r.join(name{token: "*"})
	for l := range robots.Parse(robots.RFC9309, data).Lines() {
		r.line(l)
	}
	if why := r.tooMuch(); why != "" {
		r.note.deny(r.file, CodeTooLarge, why)
	}
}

// tooMuch describes the bound that the file exceeds, or returns "".
func (r *reader) tooMuch() string {
	for i, of := range []struct {
		most int
		what string
	}{{maxRules, "rules"}, {maxGlobs, "patterns with a * before their end"}} {
		if r.counted[i] > of.most {
			return fmt.Sprintf("it has %d %s; the bound is %d", r.counted[i], of.what, of.most)
		}
	}
	return ""
}

func (r *reader) line(l readers.Line) {
	switch l.Kind {
	case readers.KindBlank:
		r.ends()
	case readers.KindMalformed:
		r.report(CodeSyntax, l.Number, "no field name and colon: %.60q", strings.TrimRight(l.Text, "\r\n"))
	case readers.KindAgent:
		r.forgiven(l, "User-agent")
		r.agent(l)
	case readers.KindDisallow:
		r.forgiven(l, "Disallow")
		r.rule(l, rule{})
	case readers.KindAllow:
		r.rule(l, rule{allow: true})
	case readers.KindUsage:
		r.usage(l)
	case readers.KindField:
		if strings.EqualFold(l.Field, "Final") {
			r.rule(l, rule{final: true})
			return
		}
		r.field(l)
	}
}

// forgiven reports a misspelt field that counts nevertheless.
func (r *reader) forgiven(l readers.Line, field string) {
	if l.Forgiven {
		r.report(CodeMisspelt, l.Number, "%.60q is taken for %s:", strings.TrimSpace(l.Text), field)
	}
}

// agent reads a User-agent line. Consecutive lines name the robots of one group.
func (r *reader) agent(l readers.Line) {
	if r.lines == 0 {
		r.begin()
		r.nobody = true
	} else if r.bare > 0 {
		r.report(CodeGroupSwallowed, r.bare, "the group has no rules, so it joins the one in line %d", l.Number).Severity = diag.Warning
		r.joined = r.bare
	}
	r.bare, r.lines = 0, l.Number
	for _, n := range r.namesOf(l) {
		r.nobody = false
		if n.full != "" {
			r.blanks = append(r.blanks, blank{n, r.now, l.Number})
			continue
		}
		r.tokens[n.token] = true
		r.join(n)
	}
}

// ends notes where the author of a group without rules surely takes it to end.
func (r *reader) ends() {
	if r.lines > 0 && r.bare == 0 {
		r.bare = r.lines
	}
}

// begin begins a group.
func (r *reader) begin() { r.now, r.nobody, r.joined = &group{}, false, 0 }

// join applies the lines that follow to a robot, too.
func (r *reader) join(n name) { r.note.join(n, r.now) }

func (n *note) join(who name, group *group) {
	if list := n.groups[who.token]; !slices.Contains(list, group) {
		n.groups[who.token] = append(list, group)
	}
	if who.token != "*" && !slices.ContainsFunc(n.names[max(0, len(n.names)-1):], func(o name) bool { return o == who }) {
		n.names = append(n.names, who)
	}
}

// joinBlanks lets the first word of each name with a blank stand for that name, unless
// the word is another robot's name.
func (r *reader) joinBlanks() {
	for _, b := range r.blanks {
		if !r.tokens[b.token] {
			r.note.join(b.name, b.group)
		} else if list := r.note.groups[b.token]; !slices.Contains(list, b.group) {
			r.report(CodeAgentName, b.line, "robots take %q for %s, which another line names: its rules are for no robot", b.full, b.written).Severity = diag.Error
		}
	}
}

// namesOf returns the robots that a line names. "*" means everybody. A word that does
// not begin with a product token names no robot.
func (r *reader) namesOf(l readers.Line) (list []name) {
	if readers.ProductToken(l.Value) == "*" {
		return []name{{token: "*"}}
	}
	words := strings.Split(l.Value, ",")
	if len(words) > 1 {
		r.report(CodeAgentName, l.Number, "a list: each of its words is taken for a robot; one line for each is what others read, too").Severity = diag.Notice
	}
	for _, word := range words {
		word = strings.TrimSpace(word)
		token := readers.ProductToken(word)
		switch {
		case token == "*":
			list = append(list, name{token: "*"})
			continue
		case token == "" || len(token) > maxToken:
			r.report(CodeAgentName, l.Number, "%.60q is not a product token: its rules are for no robot", word).Severity = diag.Error
			continue
		}
		n := name{token: strings.ToLower(token), written: token}
		if strings.Contains(word, " ") && len(word) <= maxToken && !slices.ContainsFunc(strings.Fields(word), func(w string) bool { return readers.ProductToken(w) != w }) {
			n.full = word
		} else if word != token {
			r.report(CodeAgentName, l.Number, "%.60q is taken for %s", word, token).Severity = diag.Notice
		}
		list = append(list, n)
	}
	return list
}

// pattern reads a pattern or path; it reports one that no request can match. Beyond a
// bound, patterns are counted and not kept.
func (r *reader) pattern(l readers.Line, value string) (f form, ok bool) {
	if r.counted[0]++; hasInnerStar(value) {
		r.counted[1]++
	}
	if r.counted[0] > maxRules || r.counted[1] > maxGlobs {
		return form{}, false
	}
	if f, ok = patternOf(value, r.note.at); !ok {
		r.report(CodeSyntax, l.Number, "no client can request %.60q: it holds a line end, a tab or a NUL", value)
	}
	return f, ok
}

// rule reads an Allow, a Disallow or a Final line.
func (r *reader) rule(l readers.Line, rule rule) {
	r.lines, r.bare = 0, 0
	if l.Value == "" && rule.final {
		r.report(CodeSyntax, l.Number, "Final needs a path")
		return
	}
	r.now.says = true
	if l.Value == "" {
		return
	}
	if r.nobody && !rule.allow {
		r.report(CodeLost, l.Number, "the name is no product token, so the rule keeps no robot out")
	}
	if r.joined > 0 && !rule.allow && l.Value == "/" {
		r.closesAll(r.joined)
		r.joined = 0
	}
	f, ok := r.pattern(l, l.Value)
	if !ok || r.nobody {
		return
	}
	rule.form, rule.value, rule.file, rule.line, rule.of = f, l.Value, r.file, l.Number, r.note
	if rest := strings.TrimPrefix(f.uri, r.note.at.uri); rule.final && strings.Contains(rest, "*") && !strings.HasPrefix(rest, "/*") {
		r.report(CodeFinal, l.Number, "Final takes a path, or /* and what follows: this is a Disallow alone")
		rule.final = false
	}
	r.note.count++
	r.note.rules = append(r.note.rules, &rule)
	r.now.rules = append(r.now.rules, &rule)
}

// closesAll raises the report of a swallowed group to an error if the "Disallow: /"
// that follows applies to everybody, too.
func (r *reader) closesAll(line int) {
	if !slices.Contains(r.note.groups["*"], r.now) {
		return
	}
	what := "the whole site"
	if r.note.top != "" {
		what = path.Clean(r.note.sel)
	}
	for i := range r.note.reports {
		if report := &r.note.reports[i]; report.Code == CodeGroupSwallowed && report.Line == line && report.File == r.file {
			report.Severity = diag.Error
			report.Message += ": this closes " + what + " to every robot"
		}
	}
}
