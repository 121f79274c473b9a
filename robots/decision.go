package robots

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
// dialects a selector is octets and never decoded.
func (f *File) Decide(agent, selector string) Decision {
	return f.Agent(agent).Decide(selector)
}
