package robots

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Decision answers whether a robot may fetch a selector, and says why. Its
// strings and slices are parts of the file and must not be changed. As JSON it can
// be stored and read back.
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
	NetworkToken               // the CRAWLER token speaks for the network; Rule holds the token
	Unspecified                // the network states no preference, which is no permission
	TooLarge                   // the first line is longer than the limit: all is denied
)

var reasonTexts = [...]string{
	NoGroup:      "no group binds this robot",
	OwnGroup:     "a group names this robot",
	DefaultGroup: "the * group, for robots that no group names",
	Ungrouped:    "rules before any group bind everyone",
	EveryRule:    "read strictly, every rule binds everyone",
	RobotsFile:   "the robots file itself is always allowed",
	NetworkToken: "the CRAWLER token binds every robot",
	Unspecified:  "the network states no preference, which is no permission",
	TooLarge:     "its first line is too long to be read: everything is denied",
}

// String returns the reason as a short sentence for people.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return "unknown reason"
}

var reasonNames = [...]string{
	NoGroup: "no-group", OwnGroup: "own-group", DefaultGroup: "default-group", Ungrouped: "ungrouped",
	EveryRule: "every-rule", RobotsFile: "robots-file", NetworkToken: "network-token", Unspecified: "unspecified", TooLarge: "too-large",
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
	groups []uint32
	reason Reason
	closed bool // everything is denied: the CRAWLER token says so, or nothing could be read

	asked atomic.Bool // the first question has been asked
	once  sync.Once
	made  atomic.Pointer[index] // makes later questions fast
	usage atomic.Pointer[usageIndex]
}

func (f *File) rulesOf(why Reason, groups ...[]uint32) *Rules {
	r := &Rules{file: f, reason: why}
	for _, g := range groups {
		r.groups = append(r.groups, g...)
	}
	return r
}

// Groups returns the groups whose rules these are, in file order.
func (r *Rules) Groups() []Group {
	if r == nil || r.file == nil {
		return nil
	}
	groups := make([]Group, len(r.groups))
	for i, g := range r.groups {
		groups[i] = r.file.group(int(g))
	}
	return groups
}

func (r *Rules) agentLines() []Agent {
	var agents []Agent
	for _, g := range r.groups {
		for _, rec := range r.file.members(int(g)) {
			if rec.kind() == readers.KindAgent {
				agents = append(agents, r.file.agent(rec))
			}
		}
	}
	return agents
}

// maxIndexed is how often, on average, a line may stand in the indexes of a file.
// Robots that are named in the same groups share one; a file in which thousands
// are named in ever other groups gets no index for the last of them, so that its
// memory stays linear in its size.
const maxIndexed = 4

// compile makes the index, unless the indexes of the file would become too large.
func (r *Rules) compile() {
	f := r.file
	n := int64(0)
	for _, g := range r.groups {
		n += int64(len(f.members(int(g))))
	}
	if !f.reserve(n) {
		return
	}
	x := &index{file: f, agents: r.agentLines()}
	for _, g := range r.groups {
		syn, first := syntax(f.dialect.Syntax(f.groups[g].version)), f.groups[g].record
		for i, rec := range f.members(int(g)) {
			if syn.isRule(rec.kind(), f.value(rec)) {
				x.add(syn, first+uint32(i))
			}
		}
	}
	x.finish()
	r.made.Store(x)
}

// reserve reports whether n more lines may stand in the indexes of the file.
func (f *File) reserve(n int64) bool {
	if f.indexed.Add(n) <= maxIndexed*int64(len(f.records)) {
		return true
	}
	f.indexed.Add(-n)
	return false
}

// try compares the selector with one rule after the other. It needs no index,
// which takes longer to make than to do without for one question.
func (r *Rules) try(sel string) (best, second match) {
	f := r.file
	var found top
	var bestSyntax syntax
	var buf, patternBuf [1024]byte
	kept := sel
	if f.dialect == RFC9309 && !selector.IsNormal(sel) {
		kept = string(appendKept(nil, sel))
		sel = string(selector.AppendNormal(buf[:0], sel))
	}
	for _, g := range r.groups {
		syn, first := syntax(f.dialect.Syntax(f.groups[g].version)), f.groups[g].record
		for i, rec := range f.members(int(g)) {
			p := f.value(rec)
			if !syn.isRule(rec.kind(), p) || !mayMatch(p, sel) {
				continue
			}
			if syn.Escapes && !readers.IsNormalPattern(p) {
				p = string(readers.AppendNormalPattern(patternBuf[:0], p))
			}
			m := match{uint32(len(p)), first + uint32(i), rec.kind() == readers.KindAllow}
			if !syn.matches(p, sel, kept) || syn == bestSyntax && r.repeats(m, found.best) {
				continue
			}
			if found.offer(m); found.best == m {
				bestSyntax = syn
			}
		}
	}
	return found.best, found.second
}

// repeats reports whether a rule says the same as an earlier one.
func (r *Rules) repeats(m, earlier match) bool {
	if m.precedence != earlier.precedence || m.allow != earlier.allow {
		return false
	}
	f := r.file
	p, q := f.value(f.records[m.record]), f.value(f.records[earlier.record])
	return p == q || f.dialect == RFC9309 && readers.NormalPattern(p) == readers.NormalPattern(q)
}

// Allowed reports whether the selector may be fetched.
func (r *Rules) Allowed(selector string) bool {
	if r == nil || r.file == nil {
		return true
	}
	best, _, always := r.find(selector)
	return always || !r.closed && best.allowed()
}

// Decide reports whether the selector may be fetched, and why; see [File.Decide].
func (r *Rules) Decide(selector string) Decision {
	if r == nil || r.file == nil {
		return Decision{Allowed: true}
	}
	best, second, always := r.find(selector)
	d := Decision{Allowed: always || !r.closed && best.allowed(), Reason: r.reason}
	if x := r.made.Load(); x != nil {
		d.Agents = x.agents
	} else {
		d.Agents = r.agentLines()
	}
	if always {
		d.Reason = RobotsFile
		return d
	}
	if r.reason == NetworkToken {
		t := r.file.crawlerToken()
		d.Rule = Rule{Allow: d.Allowed, Pattern: t.text, Line: t.line}
	}
	if best.found() {
		d.Rule = r.file.rule(r.file.records[best.record])
		d.Pattern = d.Rule.Pattern
		if x := r.made.Load(); x != nil {
			d.Pattern = x.pattern(best.record)
		} else if r.file.dialect == RFC9309 {
			d.Pattern = readers.NormalPattern(d.Pattern)
		}
	}
	if second.found() {
		d.RunnerUp = r.file.rule(r.file.records[second.record])
	}
	return d
}

// find returns the rule that decides and the next best one. The first question is
// answered without an index, the second makes it.
func (r *Rules) find(selector string) (best, second match, always bool) {
	if r.file.dialect.Web() {
		selector = readers.PathOf(selector)
	}
	if r.file.dialect == RFC9309 && selector == "/robots.txt" {
		return best, second, true // R5
	}
	if r.asked.Swap(true) {
		r.once.Do(r.compile)
	}
	if x := r.made.Load(); x != nil {
		var found top
		x.find(selector, &found)
		best, second = found.best, found.second
	} else {
		best, second = r.try(selector)
	}
	return best, second, false
}
