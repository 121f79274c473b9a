package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Decision reports whether a robot may fetch a selector, and why. Its strings and slices are parts
// of the file and must not be changed. It can be stored as JSON.
type Decision struct {
	Allowed  bool    `json:"allowed"`
	Rule     Rule    `json:"rule,omitzero"`      // decides; the zero Rule if no rule matches
	RunnerUp Rule    `json:"runner_up,omitzero"` // would decide without Rule, and without what only repeats it
	Agents   []Agent `json:"agents,omitempty"`   // the User-agent lines of the groups that were chosen
	Reason   Reason  `json:"reason"`             // why these groups
	Pattern  string  `json:"pattern,omitempty"`  // the pattern of Rule as it is compared: in the normal form of R6
}

// Reason is why a decision rests on its rules.
type Reason uint8

// The reasons.
const (
	NoGroup      Reason = iota // no group binds this robot
	OwnGroup                   // a group names the robot
	DefaultGroup               // no group names it: the * group
	Ungrouped                  // only rules outside of any group bind it
	EveryRule                  // strict: all rules bind everyone (G4)
	RobotsFile                 // the robots file itself may always be fetched (R5)
	TooLarge                   // the first line is longer than the limit: all is denied
	OtherHost                  // the URL is of another host (robots/client)
)

var reasonTexts = [...]string{
	NoGroup:      "no group binds this robot",
	OwnGroup:     "a group names this robot",
	DefaultGroup: "the * group, for robots that no group names",
	Ungrouped:    "rules before any group bind everyone",
	EveryRule:    "read strictly, every rule binds everyone",
	RobotsFile:   "the robots file itself is always allowed",
	TooLarge:     "its first line is too long to be read: everything is denied",
	OtherHost:    "the URL is of another host",
}

// String returns the reason as a short sentence for people.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return "unknown reason"
}

var reasonNames = [...]string{
	NoGroup:      "no-group",
	OwnGroup:     "own-group",
	DefaultGroup: "default-group",
	Ungrouped:    "ungrouped",
	EveryRule:    "every-rule",
	RobotsFile:   "robots-file",
	TooLarge:     "too-large",
	OtherHost:    "other-host",
}

// MarshalText returns a short name for programs, such as own-group.
func (r Reason) MarshalText() ([]byte, error) {
	if int(r) < len(reasonNames) {
		return []byte(reasonNames[r]), nil
	}
	return nil, fmt.Errorf("unknown reason %d", r)
}

// UnmarshalText is the inverse of [Reason.MarshalText].
func (r *Reason) UnmarshalText(text []byte) error {
	i := slices.Index(reasonNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown reason %q", text)
	}
	*r = Reason(i)
	return nil
}

// Rules are the rules of a file that bind one robot. They may be used by many
// goroutines at once. A nil or zero Rules allows everything.
type Rules struct {
	file   *File
	groups []int
	reason Reason

	asked atomic.Bool // the first decision has been made
	once  sync.Once
	made  atomic.Pointer[index] // for all but the first question
	usage atomic.Pointer[usageIndex]
}

// index is a robot's rules in a form for fast lookup.
type index struct {
	rules  *readers.Matcher
	kept   *readers.Matcher // those that compare the kept form; nil: none
	agents []Agent          // the User-agent lines of the groups
}

// Groups returns the groups whose rules these are, in file order.
func (r *Rules) Groups() []Group {
	if r == nil || r.file == nil {
		return nil
	}
	groups := make([]Group, len(r.groups))
	for i, g := range r.groups {
		groups[i] = r.file.group(g)
	}
	return groups
}

// maxIndexed bounds how often, on average, a line is in the indexes of a file. Robots
// that are named in the same groups share an index. If thousands are named in
// different groups, the last of them get no index, so that memory stays linear in the
// size of the file.
const maxIndexed = 2

// reserve reports whether n more lines fit into the indexes of the file.
func (f *File) reserve(n int) bool {
	if f.indexed.Add(int64(n)) <= maxIndexed*int64(len(f.lines.Records)) {
		return true
	}
	f.indexed.Add(-int64(n))
	return false
}

// compile makes the index, unless the indexes of the file would become too large.
func (r *Rules) compile() {
	lines := 0
	for _, g := range r.groups {
		lines += len(r.file.lines.Members(g))
	}
	if !r.file.reserve(lines) {
		return
	}
	var rules, kept []Rule
	for _, rule := range r.file.reader.RulesOf(r.file.lines, r.groups) {
		if r.file.keeps(rule.Pattern) {
			kept = append(kept, rule)
		} else {
			rules = append(rules, rule)
		}
	}
	x := &index{rules: r.file.reader.Matcher(rules), agents: r.file.agentLines(r.groups)}
	if len(kept) > 0 {
		x.kept = r.file.reader.Matcher(kept)
	}
	r.made.Store(x)
}

// Allowed reports whether the selector may be fetched.
func (r *Rules) Allowed(selector string) bool {
	if r == nil || r.file == nil {
		return true
	}
	best, _, always := r.find(selector, false)
	return always || r.reason != TooLarge && (best == nil || best.Allow)
}

// Decide reports whether the selector may be fetched, and why; see [File.Decide].
func (r *Rules) Decide(selector string) Decision {
	if r == nil || r.file == nil {
		return Decision{Allowed: true}
	}
	best, second, always := r.find(selector, true)
	d := Decision{
		Allowed: always || r.reason != TooLarge && (best == nil || best.Allow),
		Reason:  r.reason,
	}
	if x := r.made.Load(); x != nil {
		d.Agents = x.agents
	} else {
		d.Agents = r.file.agentLines(r.groups)
	}
	if always {
		d.Reason = RobotsFile
		return d
	}
	if best != nil {
		d.Rule = r.file.ruleAt(best.Ref)
		d.Pattern = d.Rule.Pattern
		if r.file.reader.Escapes == readers.Letter {
			d.Pattern = readers.NormalPattern(d.Pattern)
		}
	}
	if second != nil {
		d.RunnerUp = r.file.ruleAt(second.Ref)
	}
	return d
}

// ruleAt returns the rule in a line. In most files its record is not far before that place.
func (f *File) ruleAt(line int) Rule {
	records := f.lines.Records
	end := min(line, len(records))
	step := 1
	for step < end && int(records[end-step].Line) > line {
		step *= 2
	}
	start := max(end-step, 0)
	i, _ := slices.BinarySearchFunc(records[start:end], line, func(r readers.Record, line int) int {
		return int(r.Line) - line
	})
	return ruleOf(records[start+i])
}

// find returns the rule that decides and, if both are wanted, the next best one. The first
// question is answered without an index, which takes longer to make than to do without
// for one.
func (r *Rules) find(sel string, both bool) (best, second *readers.MatchRule, always bool) {
	f := r.file
	if f.reader.Web {
		sel = readers.PathOf(sel)
	}
	if f.reader.Dialect == RFC9309 && sel == "/robots.txt" {
		return nil, nil, true // R5
	}
	form := f.reader.Forms[0].Of(sel)

	if r.asked.Swap(true) {
		r.once.Do(r.compile)
	}
	x := r.made.Load()
	switch {
	case x == nil:
		best, second = f.reader.Rank(f.lines, r.groups, form, func(pattern string) string {
			if f.keeps(pattern) {
				return keptForm(sel)
			}
			return form
		})
	case x.kept != nil:
		best, second = x.rules.Rank(form)
		more, next := x.kept.Rank(keptForm(sel))
		best, second = merge(best, second, more, next)
	case both:
		best, second = x.rules.Rank(form)
	default:
		best = x.rules.Find(form)
	}
	return best, second, false
}

// merge returns the best two of two rankings by the largest pattern.
func merge(ranked ...*readers.MatchRule) (best, second *readers.MatchRule) {
	ranked = slices.DeleteFunc(ranked, func(m *readers.MatchRule) bool { return m == nil })
	slices.SortFunc(ranked, func(a, b *readers.MatchRule) int {
		if c := cmp.Compare(b.Size, a.Size); c != 0 || a.Allow == b.Allow {
			return cmp.Or(c, cmp.Compare(a.Ref, b.Ref))
		}
		if a.Allow {
			return -1
		}
		return 1
	})
	ranked = append(ranked, nil, nil)
	return ranked[0], ranked[1]
}

// keeps reports whether a pattern is compared with the kept form of a selector.
func (f *File) keeps(pattern string) bool {
	return f.reader.Escapes == readers.Letter && keepsForm(pattern)
}

// keepsForm reports whether a pattern has an escaped reserved byte after a star and
// before any "?". Even if the star covers a "?" of the selector, the text after it is
// compared as in a path, where "/" and "%2F" differ.
func keepsForm(p string) bool {
	star := strings.IndexByte(p, '*')
	if star < 0 || !strings.Contains(p, "%") {
		return false
	}
	p, _, _ = strings.Cut(p, "?")
	for i := star; i < len(p); i++ {
		if c, n := selector.DecodePercent(p[i:]); n > 0 && selector.IsReserved(c) {
			return true
		}
	}
	return false
}

// keptForm returns the normal form of a selector with its reserved bytes as they are
// written in the query, too.
func keptForm(sel string) string {
	if selector.IsNormal(sel) {
		return sel
	}
	var b []byte
	for more := true; more; {
		var piece string
		piece, sel, more = strings.Cut(sel, "?")
		b, _ = selector.AppendNormalPiece(b, piece, false)
		if more {
			b = append(b, '?')
		}
	}
	return string(b)
}
