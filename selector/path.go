package selector

import "strings"

// Cause is why a request or a selector was refused.
type Cause string

// The reasons. They are words for people; none repeats what was sent.
const (
	Control   Cause = "a control character"
	TooLong   Cause = "too long"
	Empty     Cause = "an empty element"
	Dots      Cause = "an element of dots"
	Hidden    Cause = "a hidden element"
	Source    Cause = "the source of a menu"
	Program   Cause = "a program"
	Malformed Cause = "no UTF-8"
	Scheme    Cause = "a scheme that is neither gopher nor gophers"
	Host      Cause = "no valid host"
	Port      Cause = "no port from 1 to 65535"
	Escape    Cause = "a malformed percent escape"
	Type      Cause = "no valid item type"
)

// RefusedError is a request, a selector or a URL that was refused. Its message does not
// hold what was sent, so that it may go to a log or to a client.
type RefusedError struct {
	Reason Cause // why
}

// Error names the reason.
func (e *RefusedError) Error() string { return "refused: " + string(e.Reason) }

// Path returns the file name that a selector stands for, in the form of
// [io/fs.ValidPath]: "/a/b" and "a/b" are "a/b"; "" and "/" are ".". dir says
// that the selector ends with a slash, so that only a directory can be meant.
//
// It returns a [*RefusedError] for a selector longer than [MaxRequest], with an empty
// element ("//"), or with one that is not [Askable]: "." and "..", hidden ones
// ("....//" too), control characters, what is no UTF-8, programs, and the sources
// of menus. Nothing is decoded: "%2e%2e" is a name like another.
func Path(sel string) (name string, dir bool, err error) {
	if len(sel) > MaxRequest {
		return "", false, &RefusedError{TooLong}
	}
	name = strings.TrimPrefix(sel, "/")
	if name == "" {
		return ".", true, nil
	}
	name, dir = strings.CutSuffix(name, "/")
	if reason := refuseName(name); reason != "" {
		return "", false, &RefusedError{reason}
	}
	return name, dir, nil
}
