package selector

import "strings"

// Reason is why a request or a selector was refused.
type Reason string

// The reasons. They are words for people; none repeats what was sent.
const (
	Control   Reason = "a control character"
	TooLong   Reason = "too long"
	Empty     Reason = "an empty element"
	Dots      Reason = "an element of dots"
	Hidden    Reason = "a hidden element"
	Source    Reason = "the source of a menu"
	Program   Reason = "a program"
	Malformed Reason = "no UTF-8"
	Scheme    Reason = "a scheme that is neither gopher nor gophers"
	Host      Reason = "no valid host"
	Port      Reason = "no port from 1 to 65535"
	Escape    Reason = "a malformed percent escape"
	Type      Reason = "no valid item type"
)

// Error is a request, a selector or a URL that was refused. Its message does not
// hold what was sent, so that it may go to a log or to a client.
type Error struct {
	Reason Reason // why
}

// Error names the reason.
func (e *Error) Error() string { return "refused: " + string(e.Reason) }

// Path returns the file name that a selector stands for, in the form of
// [io/fs.ValidPath]: "/a/b" and "a/b" are "a/b"; "" and "/" are ".". dir says
// that the selector ends with a slash, so that only a directory can be meant.
//
// It returns an [*Error] for a selector longer than [MaxRequest], with an empty
// element ("//"), or with one that is not [Askable]: "." and "..", hidden ones
// ("....//" too), control characters, what is no UTF-8, programs, and the sources
// of menus. Nothing is decoded: "%2e%2e" is a name like another.
func Path(sel string) (name string, dir bool, err error) {
	if len(sel) > MaxRequest {
		return "", false, &Error{TooLong}
	}
	name = strings.TrimPrefix(sel, "/")
	if name == "" {
		return ".", true, nil
	}
	name, dir = strings.CutSuffix(name, "/")
	if reason := refuseName(name); reason != "" {
		return "", false, &Error{reason}
	}
	return name, dir, nil
}
