package robots

import "strings"

// Normal form (R6): bytes that RFC 3986 calls unreserved stand for themselves,
// reserved ones keep the form they are written in, all others are percent-encoded
// in upper case. In a selector * and $ are written %2A and %24, so that they
// cannot be mistaken for the ones that mean something in a pattern.

type byteClass uint8

const (
	classOther      byteClass = iota // to be encoded
	classUnreserved                  // RFC 3986, 2.3
	classReserved                    // RFC 3986, 2.2, without * $ #
	classSpecial                     // * $
)

var byteClasses = func() (t [256]byteClass) {
	for c := range t {
		switch ch := byte(c); {
		case 'a' <= ch|0x20 && ch|0x20 <= 'z', '0' <= ch && ch <= '9', strings.IndexByte("-._~", ch) >= 0:
			t[c] = classUnreserved
		case strings.IndexByte(":/?[]@!&'()+,;=", ch) >= 0:
			t[c] = classReserved
		case ch == '*' || ch == '$':
			t[c] = classSpecial
		}
	}
	return t
}()

// NormalPath returns the normal form of a path (R6), as RFC 9309 compares it.
func NormalPath(path string) string { return string(appendNormal(nil, path)) }

// NormalPattern returns the normal form of a pattern (R6): that of a path, piece
// by piece between the stars, with a final $ kept. Its length is the precedence
// of the rule (R5).
func NormalPattern(p string) string {
	if isNormalPattern(p) {
		return p
	}
	return normalPattern(p)
}

// isNormal reports whether the selector is surely in normal form.
func isNormal(selector string) bool {
	for i := range len(selector) {
		if c := byteClasses[selector[i]]; c != classUnreserved && c != classReserved {
			return false
		}
	}
	return true
}

// isNormalPattern is isNormal for patterns: stars and a final $ may stand.
func isNormalPattern(p string) bool {
	for i := range len(p) {
		c := byteClasses[p[i]]
		if c == classOther || p[i] == '$' && i != len(p)-1 {
			return false
		}
	}
	return true
}

// appendNormal appends the normal form of a selector.
func appendNormal(b []byte, selector string) []byte {
	for i := 0; i < len(selector); i++ {
		c := selector[i]
		switch class := byteClasses[c]; {
		case c == '%':
			if i+2 < len(selector) && isHex(selector[i+1]) && isHex(selector[i+2]) {
				b = appendDecoded(b, unhex(selector[i+1])<<4|unhex(selector[i+2]))
				i += 2
				continue
			}
			b = append(b, '%') // malformed: it stands for itself
		case class == classUnreserved || class == classReserved:
			b = append(b, c)
		default:
			b = appendEncoded(b, c)
		}
	}
	return b
}

// appendDecoded appends a byte that was written percent-encoded.
func appendDecoded(b []byte, c byte) []byte {
	if byteClasses[c] == classUnreserved {
		return append(b, c)
	}
	return appendEncoded(b, c)
}

func appendEncoded(b []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	return append(b, '%', hex[c>>4], hex[c&15])
}

func normalPattern(p string) string {
	p, anchored := strings.CutSuffix(p, "$")
	var b []byte
	for {
		piece, rest, star := strings.Cut(p, "*")
		b = appendNormal(b, piece)
		if !star {
			break
		}
		b, p = append(b, '*'), rest
	}
	if anchored {
		b = append(b, '$')
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// pathOf gives path and query of an absolute URL; anything else is a path
// already. The empty path is "/" (RFC 9110, 4.2.3).
func pathOf(selector string) string {
	if selector == "" {
		return "/"
	}
	if selector[0] == '/' {
		return selector
	}
	colon := strings.IndexByte(selector, ':')
	if colon <= 0 || !strings.HasPrefix(selector[colon:], "://") || !isScheme(selector[:colon]) {
		return selector
	}
	rest, _, _ := strings.Cut(selector[colon+3:], "#")
	start := strings.IndexAny(rest, "/?")
	if start < 0 {
		return "/"
	}
	if rest[start] == '?' {
		return "/" + rest[start:]
	}
	return rest[start:]
}

// isScheme reports whether s is made of the bytes of a URI scheme.
func isScheme(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}
