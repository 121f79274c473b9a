package menu

import "unicode/utf8"

// controlLen returns how many octets of s, which is not empty, are a control
// character at its beginning: one of ASCII, one of U+0080 to U+009F, or an octet of
// that range outside UTF-8, which 8-bit terminals obey. otherwise is the length of
// the character that it is instead.
func controlLen(s string) (control, otherwise int) {
	c := s[0]
	if c < utf8.RuneSelf {
		if c < ' ' || c == 0x7f {
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

// hasControl says whether a control character is in s.
func hasControl(s string) bool {
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

// appendClean appends s with a space for each control character.
func appendClean(b []byte, s string) []byte {
	if !hasControl(s) {
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
