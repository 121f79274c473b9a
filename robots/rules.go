package robots

import "sync"

// Decision answers whether a robot may fetch a selector, and says why. Its
// strings and slices are parts of the file and must not be changed.
type Decision struct {
	Allowed  bool
	Rule     Rule    // decides; the zero Rule if no rule matches
	RunnerUp Rule    // would decide without Rule, and without what only repeats it
	Agents   []Agent // the User-agent lines of the groups that were chosen
	Reason   Reason  // why these groups
	Pattern  string  // that of Rule, as it is compared: in the normal form of R6
}

// Reason says why a decision rests on the rules it rests on.
type Reason uint8

// The reasons.
const (
	NoGroup      Reason = iota // no group binds this robot
	OwnGroup                   // a group names the robot
	DefaultGroup               // no group names it: the * group
	Ungrouped                  // only rules outside of any group bind it
	EveryRule                  // strict: all rules bind everyone (G4)
	RobotsFile                 // the robots file itself may always be fetched (R5)
	NetworkToken               // the CRAWLER token speaks for the network
)

var reasonTexts = [...]string{
	NoGroup:      "no group binds this robot",
	OwnGroup:     "a group names this robot",
	DefaultGroup: "the * group, for robots that no group names",
	Ungrouped:    "rules before any group bind everyone",
	EveryRule:    "read strictly, every rule binds everyone",
	RobotsFile:   "the robots file itself is always allowed",
	NetworkToken: "the CRAWLER token binds every robot",
}

// String gives the reason as a short sentence for people.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return "unknown reason"
}

// Allowed reports whether the named robot may fetch the selector.
func (f *File) Allowed(agent, selector string) bool {
	return f.Agent(agent).Allowed(selector)
}

// Decide says whether the named robot may fetch the selector, and why. It
// allocates nothing after the first question for a group, unless a selector
// that is not in normal form (R6) has more than 2 KiB.
//
// For [RFC9309], [Standard1994] and [Extended] the selector may be an absolute
// URL, of which path and query count; an empty path is "/". For the Gopher
// dialects a selector is bytes and never decoded.
func (f *File) Decide(agent, selector string) Decision {
	return f.Agent(agent).Decide(selector)
}

// Rules are the rules of a file that bind one robot. They may be used by many
// goroutines at once. A nil or zero Rules allows everything.
type Rules struct {
	file   *File
	groups []uint32
	reason Reason
	closed bool // everything is denied: the CRAWLER token says so

	once   sync.Once
	agents []Agent
	index  *index
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

// compile makes the index, at the first question.
func (r *Rules) compile() {
	f := r.file
	r.index = &index{file: f}
	for _, g := range r.groups {
		style := f.dialect.style(f.groups[g].version)
		first := f.groups[g].record
		for i, rec := range f.members(int(g)) {
			if rec.kind() == KindAgent {
				r.agents = append(r.agents, f.agent(rec))
				continue
			}
			r.index.add(style, first+uint32(i))
		}
	}
	r.index.finish()
}

// Allowed reports whether the selector may be fetched.
func (r *Rules) Allowed(selector string) bool {
	if r == nil || r.file == nil {
		return true
	}
	best, _, always := r.find(selector)
	return always || !r.closed && best.allowed()
}

// Decide says whether the selector may be fetched, and why; see [File.Decide].
func (r *Rules) Decide(selector string) Decision {
	if r == nil || r.file == nil {
		return Decision{Allowed: true}
	}
	best, second, always := r.find(selector)
	d := Decision{Allowed: always || !r.closed && best.allowed(), Agents: r.agents, Reason: r.reason}
	if always {
		d.Reason = RobotsFile
		return d
	}
	if best.found() {
		d.Rule, d.Pattern = r.file.rule(r.file.records[best.record]), r.index.pattern(best.record)
	}
	if second.found() {
		d.RunnerUp = r.file.rule(r.file.records[second.record])
	}
	return d
}

// find gives the rule that decides and the next best one.
func (r *Rules) find(selector string) (best, second match, always bool) {
	r.once.Do(r.compile)
	if r.file.dialect.Web() {
		selector = pathOf(selector)
	}
	if r.file.dialect == RFC9309 && selector == "/robots.txt" {
		return best, second, true // R5
	}
	best, second = r.index.find(selector)
	return best, second, false
}
