package selector

import "unicode/utf8"

// controlLen returns how many bytes of s, which is not empty, are a control
// character at its beginning: one of ASCII, one of U+0080 to U+009F, or a byte of
// that range outside UTF-8, which 8-bit terminals obey. otherwise is the length of
// the character that it is instead.
func controlLen(s string) (control, otherwise int) {
	c := s[0]
	if c < utf8.RuneSelf {
		if isControl(c) {
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

// isControl reports whether c is a control character of ASCII.
func isControl(c byte) bool { return c < ' ' || c == 0x7f }
