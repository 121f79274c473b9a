package policy

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// What one annotation may say is bounded. One that says more is not read: its
// directory is denied, since the part that would be lost may be what denies.
const (
	maxAnnotation = 500 << 10 // bytes
	maxRules      = 1000
	maxNames      = 256 // of robots
	maxToken      = 64  // bytes of a name
	perRule       = 24  // bytes of a line beside its pattern, in both families
	maxSelector   = 4096
)

// note is what the annotations of one directory say.
type note struct {
	shut  *rule           // not nil: the directory is denied as a whole
	sets  map[string]*set // by product token in lower case, "*" among them
	names []string        // those that are named, in order, as they are written first
	lines []*rule         // the rules of all; of a line that has two meanings, one after the other
	size
	fields  []siteField
	reports []Report
}

// size is how much is said.
type size struct {
	rules, finals int // lines
	named         int // robots, by each annotation
	bytes         int // of what is written for robots that nobody names, about
}

func (s *size) add(o size) {
	s.rules, s.finals, s.named, s.bytes = s.rules+o.rules, s.finals+o.finals, s.named+o.named, s.bytes+o.bytes
}

// set is what an annotation says of some robots.
type set struct {
	rules   []*rule
	finals  []*rule // Final lines: the rules of this set hold at or below them
	prefs   []*rule // Content-Usage lines
	says    bool    // it has a rule, if only an empty Disallow
	prefers bool    // it has a Content-Usage line, if only of what nobody can ask for
	hash    uint64  // of the rules and finals; equal ones treat robots alike
	about   uint64  // of the preferences
}

// opens reports whether there is an Allow: then it matters which robots are named.
func (s *set) opens() bool {
	return slices.ContainsFunc(s.rules, func(r *rule) bool { return r.allow })
}

// rule is a line of an annotation, its pattern put below the directory.
type rule struct {
	form
	allow bool
	usage string // what a Content-Usage line states, in one spelling
	value string // as it was written; of a denied directory, why
	file  string
	line  int    // 0: the annotation as a whole
	owner string // the top-level directory whose annotations say it, in URI form; "" for the root

	with []*rule // of preferences about one path, put together: those that were
}

func (r *rule) field() string {
	if r.allow {
		return "Allow: "
	}
	return "Disallow: "
}

// setsFor gives what the annotation says of a robot: its own rules, or else those
// for all, and the same for preferences. own reports whether the rules name it.
func (n *note) setsFor(token string) (rules, prefs *set, own bool) {
	rules, prefs = n.sets["*"], n.sets["*"]
	if s := n.sets[token]; s != nil && token != "*" {
		if s.says {
			rules, own = s, true
		}
		if s.prefers {
			prefs = s
		}
	}
	return rules, prefs, own
}

// reader reads the annotations of one directory.
type reader struct {
	note  *note
	at    form // of the directory, without a slash at its end
	root  bool
	file  string
	lines int    // of User-agent in a row; 0 after a rule
	sets  []*set // of the robots that the lines are for
	bare  []int  // fields since the last User-agent line: where a group without rules would end
}

// readNote reads the annotations of a directory.
func readNote(annotations []*Annotation, at form, root bool) *note {
	n := &note{sets: map[string]*set{}}
	for _, a := range annotations {
		switch {
		case a.Err != nil:
			n.deny(a.File, at, CodeUnreadable, fmt.Sprintf("it cannot be read: %v", a.Err))
		case len(a.Data) > maxAnnotation:
			n.deny(a.File, at, CodeTooLarge, "it has more than 500 KiB")
		default:
			r := reader{note: n, at: at, root: root, file: a.File}
			r.join([]string{"*"})
			r.read(a)
		}
	}
	for _, s := range n.sets {
		s.rules, s.finals, s.prefs = inOrder(s.rules), inOrder(s.finals), inOrder(s.prefs)
		s.hash, s.about = sum(s.rules, s.finals), sum(s.prefs)
	}
	slices.SortStableFunc(n.fields, func(a, b siteField) int { return strings.Compare(a.name, b.name) })
	if n.named = len(n.names); n.sets["*"] != nil {
		for _, r := range n.sets["*"].rules {
			n.bytes += 2*len(r.uri) + perRule
		}
		for _, p := range n.sets["*"].prefs {
			n.bytes += len(p.uri) + len(p.usage) + perRule
		}
	}
	return n
}

// deny denies the directory as a whole on account of an annotation.
func (n *note) deny(file string, at form, code, why string) {
	n.shut = denied(file, at, why)
	n.sets, n.names, n.fields, n.lines, n.size = map[string]*set{}, nil, nil, nil, size{}
	n.reports = append(n.reports, NewReport(code, file, 0, "the directory is denied: "+why))
}

// denied is the rule for a directory that is denied as a whole.
func denied(file string, at form, why string) *rule {
	return &rule{form: at.join(form{uri: "/", raw: "/", weak: "/"}), value: why, file: file, owner: at.top()}
}

// inOrder sorts rules, and takes those that say the same once: in which order and how
// often something was said does not matter.
func inOrder(list []*rule) []*rule {
	slices.SortStableFunc(list, (*rule).compare)
	return slices.CompactFunc(list, func(a, b *rule) bool { return a.compare(b) == 0 })
}

func (r *rule) compare(o *rule) int {
	return cmp.Or(strings.Compare(r.uri, o.uri), order(r.allow, o.allow), strings.Compare(r.usage, o.usage))
}

var seed = maphash.MakeSeed()

func sum(lists ...[]*rule) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, list := range lists {
		for _, r := range list {
			_, _ = h.WriteString(r.field() + r.uri + "\n" + r.usage + "\n")
		}
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

func (r *reader) report(code string, line int, format string, args ...any) {
	r.note.reports = append(r.note.reports, NewReport(code, r.file, line, fmt.Sprintf(format, args...)))
}

func (r *reader) read(a *Annotation) {
	before := r.note.rules // of another annotation of the directory
	for l := range robots.Parse(robots.RFC9309, a.Data).Lines() {
		r.line(l)
		if r.note.rules-before > maxRules || len(r.note.names) > maxNames {
			r.note.deny(a.File, r.at, CodeTooLarge, fmt.Sprintf("it has more than %d rules or names more than %d robots", maxRules, maxNames))
			return
		}
	}
}

func (r *reader) line(l robots.Line) {
	switch l.Kind {
	case robots.KindMalformed:
		r.report(CodeSyntax, l.Number, "no field name and colon: %.60q", strings.TrimRight(l.Text, "\r\n"))
	case robots.KindAgent:
		r.forgiven(l, "User-agent")
		r.agent(l)
	case robots.KindDisallow:
		r.forgiven(l, "Disallow")
		r.rule(l, false)
	case robots.KindAllow:
		r.rule(l, true)
	case robots.KindUsage:
		r.usage(l)
	case robots.KindField:
		if strings.EqualFold(l.Field, "Final") {
			r.rule(l, false)
			return
		}
		r.field(l)
	}
}

// forgiven reports a near miss of a field, which counts nevertheless.
func (r *reader) forgiven(l robots.Line, field string) {
	if l.Forgiven {
		r.report(CodeMisspelt, l.Number, "%.60q is taken for %s:", strings.TrimSpace(l.Text), field)
	}
}

// agent takes a User-agent line. Several in a row stand for all of them.
func (r *reader) agent(l robots.Line) {
	tokens := r.tokensOf(l)
	switch {
	case r.lines == 0:
		r.sets = r.sets[:0]
	case len(r.bare) > 0:
		r.report(CodeGroupSwallowed, r.lines, "the group has no rules, so it joins the one in line %d", l.Number)
	}
	r.bare, r.lines = nil, l.Number
	r.join(tokens)
}

// join makes the lines that follow those of more robots.
func (r *reader) join(tokens []string) {
	for _, token := range tokens {
		lower := strings.ToLower(token)
		s := r.note.sets[lower]
		if s == nil {
			if s = (&set{}); lower != "*" {
				r.note.names = append(r.note.names, token)
			}
			r.note.sets[lower] = s
		}
		if !slices.Contains(r.sets, s) {
			r.sets = append(r.sets, s)
		}
	}
}

// tokensOf returns the robots that a line names. Only a value that is exactly *
// is everybody; what is no product token is nobody.
func (r *reader) tokensOf(l robots.Line) []string {
	value := strings.TrimRight(l.Value, " \t\u00a0")
	if value == "*" {
		return []string{"*"}
	}
	words := strings.Split(value, ",")
	if len(words) > 1 {
		r.report(CodeAgentName, l.Number, "a list: each of its words is taken for a robot; one line for each is what others read, too")
	}
	var tokens []string
	for _, word := range words {
		word = strings.TrimSpace(word)
		name, _, versioned := strings.Cut(word, "/")
		if name = strings.TrimSpace(name); !isToken(name) {
			r.report(CodeAgentName, l.Number, "%.60q is not a product token: its rules are for no robot", word)
			continue
		}
		if versioned {
			r.report(CodeAgentName, l.Number, "%.60q is taken for %s: a version is no part of a name", word, name)
		}
		tokens = append(tokens, name)
	}
	return tokens
}

// isToken reports whether a name may be written as that of a group.
func isToken(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return s != "" && len(s) <= maxToken && strings.Trim(s, letters) == ""
}

// patterns reads a pattern or path of a line, and reports one that nobody can ask for.
func (r *reader) patterns(l robots.Line, value string, allow bool) []form {
	list := patternsOf(value, allow, r.at)
	if len(list) == 0 {
		r.report(CodeSyntax, l.Number, "nobody can ask for %.60q: it holds a control byte, or a slash in a name", value)
	}
	return list
}

// rule takes an Allow, a Disallow or a Final line.
func (r *reader) rule(l robots.Line, allow bool) {
	r.lines, r.bare = 0, nil
	final := l.Kind == robots.KindField
	if l.Value == "" && final {
		r.report(CodeSyntax, l.Number, "Final needs a path")
		return
	}
	for _, s := range r.sets {
		s.says = true
	}
	if len(r.sets) == 0 && !allow && l.Value != "" {
		r.report(CodeLost, l.Number, "a rule of a robot that is no product token: it keeps nobody out")
	}
	if l.Value == "" {
		return
	}
	if r.note.rules++; final {
		r.note.finals++
	}
	for _, f := range r.patterns(l, l.Value, allow) {
		rule := &rule{form: f, allow: allow, value: l.Value, file: r.file, line: l.Number, owner: r.at.top()}
		if !final && len(r.sets) > 0 {
			r.note.lines = append(r.note.lines, rule)
		}
		for _, s := range r.sets {
			if final {
				s.finals = append(s.finals, rule)
			} else {
				s.rules = append(s.rules, rule)
			}
		}
	}
}
