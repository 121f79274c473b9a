package robots

// Diagnostic is something in a file or token that has no effect, or a doubtful
// one.
type Diagnostic struct {
	Line     int      // counted from 1; 0: none
	Code     string   // the kind, in lower case with hyphens
	ID       string   // the requirement it rests on, as R8; "": none
	Severity Severity // how much it matters
	Message  string   // for people, in one line, what is quoted in it escaped
}

// Severity says how much a diagnostic matters.
type Severity uint8

// The severities. The zero value is Warning.
const (
	Warning Severity = iota // it does not do what its author wants
	Note                    // readers differ, or it could be said better
)

// String gives warning or note.
func (s Severity) String() string {
	if s == Note {
		return "note"
	}
	return "warning"
}
