package selector

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Percent escapes, the octal ones of gophernicus, and the normal form in which
// readers of a robots.txt compare.

const (
	hexDigits    = "0123456789ABCDEF"
	alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

// IsEscaped reports whether a selector that names nothing may name something once
// it is unescaped.
func IsEscaped(sel string) bool { return strings.ContainsAny(sel, "%#") }

// Forms returns the other forms in which a selector that names nothing is tried: without
// the empty elements and the elements "." of old links ("//a", "/a/./b"), and decoded,
// once ("%252e" becomes "%2e"). It decodes percent escapes (RFC 3986, section 2.1), and #
// with three octal digits, which is how gophernicus writes "%" and control characters, and
// once wrote blanks. A # without such digits is kept. There is no decoded form if a percent
// escape is malformed, or if one encodes a control character of ASCII. [Path] refuses forms
// that cannot name a file.
func Forms(sel string) (list []string) {
	if folded := fold(sel); folded != sel {
		list, sel = append(list, folded), folded
	}
	if IsEscaped(sel) {
		if plain, ok := unescape(sel, true); ok && plain != sel {
			list = append(list, plain)
		}
	}
	return list
}

// fold removes empty elements and elements "."; a slash at either end stays.
func fold(sel string) string {
	if !strings.Contains(sel, "//") && !strings.Contains(sel, "/./") &&
		!strings.HasPrefix(sel, "./") && !strings.HasSuffix(sel, "/.") {
		return sel
	}
	elems := slices.DeleteFunc(strings.Split(sel, "/"), func(elem string) bool {
		return elem == "" || elem == "."
	})
	folded := strings.Join(elems, "/")
	if strings.HasPrefix(sel, "/") {
		folded = "/" + folded
	}
	if len(elems) > 0 && (strings.HasSuffix(sel, "/") || strings.HasSuffix(sel, "/.")) {
		folded += "/"
	}
	return folded
}

// unescape decodes percent escapes, and octal ones if they are wanted.
func unescape(s string, octal bool) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, n := s[i], 1
		switch {
		case c == '%':
			if c, n = DecodePercent(s[i:]); n == 0 {
				return "", false
			}
		case c == '#' && octal:
			octal := s[i+1 : min(i+4, len(s))]
			if v, err := strconv.ParseUint(octal, 8, 8); err == nil && len(octal) == 3 {
				c, n = byte(v), 4
			}
		}
		if n > 1 && IsControl(c) {
			return "", false
		}
		b = append(b, c)
		i += n - 1
	}
	return string(b), true
}

// DecodePercent decodes the percent escape that s begins with: its value, and its
// length, which is zero if there is none.
func DecodePercent(s string) (c byte, n int) {
	if len(s) < 3 || s[0] != '%' {
		return 0, 0
	}
	hi, lo := hexValue(s[1]), hexValue(s[2])
	if hi > 15 || lo > 15 {
		return 0, 0
	}
	return hi<<4 | lo, 3
}

// Decoded returns a text with its percent escapes decoded. A % that begins no escape is kept.
func Decoded(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c, n := DecodePercent(s[i:])
		if n == 0 {
			c, n = s[i], 1
		}
		b, i = append(b, c), i+n
	}
	return string(b)
}

// AppendPercent appends a byte as a percent escape, in upper case.
func AppendPercent(b []byte, c byte) []byte {
	return append(b, '%', hexDigits[c>>4], hexDigits[c&15])
}

// hexValue returns the value of a hexadecimal digit, 255 for anything else. It takes half
// as long as package hex: matchers decode each path.
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

// The bytes that the normal form does not escape: those that RFC 3986 calls
// unreserved (section 2.3), and reserved ones (section 2.2) except *, $ and #: * and $
// are special in a pattern.
const (
	reserved byte = 1 + iota
	unreserved
)

var normalBytes = func() (t [256]byte) {
	for _, c := range alphanumeric + "-._~" {
		t[c] = unreserved
	}
	for _, c := range ":/?[]@!&'()+,;=" {
		t[c] = reserved
	}
	return t
}()

// IsNormalByte reports whether the normal form leaves a byte unescaped.
func IsNormalByte(c byte) bool { return normalBytes[c] != 0 }

// IsNormal reports whether a selector is in normal form without any escape.
func IsNormal(sel string) bool {
	for i := range len(sel) {
		if normalBytes[sel[i]] == 0 {
			return false
		}
	}
	return true
}

// IsReserved reports whether a byte is reserved in a URI (RFC 3986, section 2.2),
// but for *, $ and #.
func IsReserved(c byte) bool { return normalBytes[c] == reserved }

// AppendNormal appends the normal form of a selector, in which RFC 9309, section
// 2.2.2, compares it: unreserved bytes are decoded, and all that are neither
// unreserved nor reserved are percent-encoded in upper case, as are * and $ and a %
// that begins no escape. Reserved bytes keep the form in which they are written
// up to the first "?"; after it they are decoded, since the RFC's own
// table compares "?baz=https://foo.bar" and "?baz=https%3A%2F%2Ffoo.bar" as equal,
// while "/" and "%2F" differ in a path.
func AppendNormal(b []byte, sel string) []byte {
	b, _ = AppendNormalPiece(b, sel, false)
	return b
}

// AppendNormalPiece is AppendNormal for a piece of a selector. query reports whether
// a "?" comes before the piece; the result, whether one comes before what follows.
func AppendNormalPiece(b []byte, piece string, query bool) ([]byte, bool) {
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		if normalBytes[c] != 0 {
			b = append(b, c)
			query = query || c == '?'
			continue
		}
		if decoded, n := DecodePercent(piece[i:]); n > 0 {
			c = decoded
			i += n - 1
			if normalBytes[c] == unreserved || normalBytes[c] == reserved && query {
				b = append(b, c)
				continue
			}
		}
		b = AppendPercent(b, c)
	}
	return b, query
}

// controlLen returns how many bytes of s, which is not empty, are a control character
// at its beginning: one of ASCII, one of U+0080 to U+009F, or a byte of that range
// outside UTF-8, which 8-bit terminals obey. If s begins with another character,
// otherwise is the length of that.
func controlLen(s string) (control, otherwise int) {
	c := s[0]
	if c < utf8.RuneSelf {
		if IsControl(c) {
			return 1, 0
		}
		return 0, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r < 0xa0 || n == 1 && c < 0xa0 {
		return n, 0
	}
	return 0, n
}

// HasControl reports whether a control character is in s: of ASCII, of U+0080 to
// U+009F, or a byte like that outside UTF-8.
func HasControl(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; ' ' <= c && c < 0x7f {
			i++
			continue
		}
		control, n := controlLen(s[i:])
		if control > 0 {
			return true
		}
		i += n
	}
	return false
}

// AppendClean appends s with a space for each control character.
func AppendClean(b []byte, s string) []byte {
	if !HasControl(s) {
		return append(b, s...)
	}
	for len(s) > 0 {
		control, n := controlLen(s)
		if control > 0 {
			b = append(b, ' ')
		}
		b = append(b, s[control:control+n]...)
		s = s[control+n:]
	}
	return b
}

// IsControl reports whether c is a control character of ASCII.
func IsControl[T byte | rune](c T) bool { return c < ' ' || c == 0x7f }

// AppendURI appends a selector as a URI path: every byte is escaped but letters, digits
// and -._~!&'()+,;=:@/.
func AppendURI(b []byte, sel string) []byte {
	for i := range len(sel) {
		if uriBytes[sel[i]] {
			b = append(b, sel[i])
		} else {
			b = AppendPercent(b, sel[i])
		}
	}
	return b
}

// URIPath is AppendURI to a string: the one spelling of a selector in links.
func URIPath(sel string) string { return string(AppendURI(nil, sel)) }

// uriBytes marks the bytes that need no escape in a URI path.
var uriBytes = func() (t [256]bool) {
	for _, c := range alphanumeric + "-._~!&'()+,;=:@/" {
		t[c] = true
	}
	return t
}()
