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

// Unescape decodes the percent escapes of a selector, once ("%252e" becomes
// "%2e"). ok is false if there is no escape, if one is malformed or if one stands
// for a control octet.
func Unescape(sel string) (plain string, ok bool) {
	if !strings.Contains(sel, "%") {
		return "", false
	}
	return unescape(sel)
}

// unescape decodes percent escapes, but for control octets.
func unescape(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) {
				return "", false
			}
			hi, lo := hexValue(s[i+1]), hexValue(s[i+2])
			if hi > 15 || lo > 15 || isControl(hi<<4|lo) {
				return "", false
			}
			c = hi<<4 | lo
			i += 2
		}
		b = append(b, c)
	}
	return string(b), true
}

// hexValue returns the value of a hexadecimal digit, 255 for anything else.
func hexValue(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
