package robots

import (
	"strings"

	"github.com/gophd/gophd/selector"
)

// The normal form (R6) is that of [selector.AppendNormal]. In a selector * and $
// are written %2A and %24, so that they cannot be mistaken for the ones that mean
// something in a pattern.

// NormalPath returns the normal form of a path with its query (R6), as RFC 9309
// compares it.
func NormalPath(path string) string { return string(selector.AppendNormal(nil, path)) }

// NormalPattern returns the normal form of a pattern (R6): that of a path, piece
// by piece between the stars, with a final $ kept. Its length is the precedence
// of the rule (R5).
func NormalPattern(p string) string {
	if isNormalPattern(p) {
		return p
	}
	return string(appendNormalPattern(nil, p))
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

// appendNormalPattern appends the normal form of a pattern.
func appendNormalPattern(b []byte, p string) []byte {
	p, anchored := strings.CutSuffix(p, "$")
	for query := false; ; {
		piece, rest, star := strings.Cut(p, "*")
		b, query = selector.AppendNormalPiece(b, piece, query)
		if !star {
			break
		}
		b, p = append(b, '*'), rest
	}
	if anchored {
		b = append(b, '$')
	}
	return b
}

// maxQueryForms bounds how many stars of a pattern are taken for the "?".
const maxQueryForms = 8

// queryForms returns the other forms of a pattern in normal form that has escaped
// reserved bytes behind a star and no "?" before them: where the star covers a "?"
// of the selector, they equal the raw ones.
func queryForms(p string) []string {
	end := strings.IndexByte(p, '?')
	if end < 0 {
		end = len(p)
	}
	var forms []string
	for i := range end {
		if p[i] != '*' {
			continue
		}
		behind := appendUnescaped(nil, p[i:end])
		if len(behind) == end-i || len(forms) == maxQueryForms {
			break // nothing is escaped from here on
		}
		forms = append(forms, p[:i]+"*?"+string(behind)+p[end:])
	}
	return forms
}

// appendUnescaped appends text in normal form with its reserved bytes raw.
func appendUnescaped(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c, n := selector.DecodePercent(s[i:]); n > 0 && selector.IsReserved(c) {
			b, i = append(b, c), i+n-1
			continue
		}
		b = append(b, s[i])
	}
	return b
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
