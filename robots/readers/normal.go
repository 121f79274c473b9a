package readers

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/gophd/gophd/selector"
)

// [selector.AppendNormal] writes the normal form (R6). It escapes * and $ in a
// selector as %2A and %24, so that they differ from the special characters of a
// pattern.

// NormalPath returns the normal form of a path with its query (R6), as RFC 9309
// compares it.
func NormalPath(path string) string {
	return string(selector.AppendNormal(nil, path))
}

// NormalPattern returns the normal form of a pattern (R6). It
// normalises each piece between the stars like a path, and keeps a final $. The
// length of the result is the precedence of the rule (R5).
func NormalPattern(p string) string {
	if isNormalPattern(p) {
		return p
	}
	return string(appendNormalPattern(nil, p))
}

// isNormalPattern reports whether a pattern is surely in normal form, except for stars and a
// final $.
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

// PathOf returns path and query of an absolute URL; anything else is a path
// already. The empty path is "/" (RFC 9110, 4.2.3).
func PathOf(selector string) string {
	if selector == "" {
		return "/"
	}
	if selector[0] == '/' {
		return selector
	}
	scheme, rest, found := strings.Cut(selector, "://")
	if !found || !isWord(scheme) {
		return selector
	}
	rest, _, _ = strings.Cut(rest, "#")
	start := strings.IndexAny(rest, "/?")
	if start < 0 {
		return "/"
	}
	if rest[start] == '?' {
		return "/" + rest[start:]
	}
	return rest[start:]
}

// DecodeUTF16 returns text that begins with a byte order mark of UTF-16, as some
// editors write it, in UTF-8; any other data as they are.
func DecodeUTF16(data []byte) (text []byte, wide bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return data, false
	}
	units := make([]uint16, 0, len(data)/2)
	for rest := data[2:]; len(rest) > 1; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return []byte(string(utf16.Decode(units))), true
}
