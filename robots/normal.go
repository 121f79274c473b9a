package robots

import (
	"strings"

	"github.com/gophd/gophd/selector"
)

// Normal form (R6): bytes that RFC 3986 calls unreserved stand for themselves,
// reserved ones keep the form they are written in, all others are percent-encoded
// in upper case. In a selector * and $ are written %2A and %24, so that they
// cannot be mistaken for the ones that mean something in a pattern.

// NormalPath returns the normal form of a path (R6), as RFC 9309 compares it.
func NormalPath(path string) string { return string(selector.AppendNormal(nil, path)) }

// NormalPattern returns the normal form of a pattern (R6): that of a path, piece
// by piece between the stars, with a final $ kept. Its length is the precedence
// of the rule (R5).
func NormalPattern(p string) string {
	if isNormalPattern(p) {
		return p
	}
	return normalPattern(p)
}

// isNormalPattern reports whether a pattern is surely in normal form: stars and a
// final $ may stand.
func isNormalPattern(p string) bool {
	for i := range len(p) {
		if c := p[i]; !selector.IsNormalByte(c) && c != '*' && (c != '$' || i != len(p)-1) {
			return false
		}
	}
	return true
}

func normalPattern(p string) string {
	p, anchored := strings.CutSuffix(p, "$")
	var b []byte
	for {
		piece, rest, star := strings.Cut(p, "*")
		b = selector.AppendNormal(b, piece)
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
