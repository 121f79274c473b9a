package menu

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Texts in Latin-1 are sent as UTF-8, which clients can show. Latin-1 is read
// as Windows-1252, which only adds to it: quotation marks and dashes in the place
// of control characters that no text has.

// A Charset is which texts are taken as Latin-1. The zero value is Auto.
type Charset int

// The character sets.
const (
	CharsetAuto   Charset = iota // those that look like it
	CharsetLatin1                // all that are no UTF-8
	CharsetUTF8                  // none
)

// UnmarshalText reads "auto", "latin1" or "utf-8".
func (c *Charset) UnmarshalText(text []byte) error {
	switch string(text) {
	case "auto", "":
		*c = CharsetAuto
	case "latin1":
		*c = CharsetLatin1
	case "utf-8":
		*c = CharsetUTF8
	default:
		return fmt.Errorf("unknown character set %q", text)
	}
	return nil
}

// Converts reports whether a text is to be converted that begins so, or that is
// whole.
func (c Charset) Converts(text []byte, whole bool) bool {
	if c == CharsetUTF8 || utf8.Valid(text) || !whole && utf8.Valid(text[:lastRune(text)]) {
		return false
	}
	return c == CharsetLatin1 || looksLikeLatin1(text)
}

// lastRune returns where the last character begins that is not all there; if it
// is, that is the end of the text.
func lastRune(text []byte) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// looksLikeLatin1 reports whether bytes that are not ASCII stand as the letters
// and signs of Western European languages do: one or two of them beside a letter
// of ASCII. Cyrillic and Greek texts have longer runs, and so have the lines and
// blocks that are drawn in the character sets of DOS.
func looksLikeLatin1(text []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] < utf8.RuneSelf {
			continue
		}
		begin := i
		for i < len(text) && text[i] >= utf8.RuneSelf {
			i++
		}
		beside := begin > 0 && isLetter(text[begin-1]) || i < len(text) && isLetter(text[i])
		switch n := i - begin; {
		case n > 3:
			return false
		case n > 2 || n > 1 && !beside:
			bad++
		case beside:
			good++
		}
	}
	return good > 0 && good >= 3*bad
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// windows1252 are the characters of the bytes 0x80 to 0x9f. Five of them have none.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

var high = []rune(windows1252)

// FromLatin1 returns a text in Latin-1 as UTF-8.
func FromLatin1[T string | []byte](s T) string { return string(AppendLatin1(nil, s)) }

// FromUTF16 returns a text in UTF-16 as UTF-8, if it begins with a byte order mark.
func FromUTF16[T string | []byte](s T) (string, bool) {
	high := 0 // where the high byte of a unit is
	switch {
	case len(s) < 2:
		return "", false
	case s[0] == 0xff && s[1] == 0xfe:
		high = 1
	case s[0] != 0xfe || s[1] != 0xff:
		return "", false
	}
	units := make([]uint16, 0, len(s)/2)
	for i := 2; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i+high])<<8|uint16(s[i+1-high]))
	}
	return string(utf16.Decode(units)), true
}

// AppendLatin1 appends a text in Latin-1 as UTF-8.
func AppendLatin1[T string | []byte](b []byte, s T) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x80:
			b = append(b, c)
		case c < 0xa0:
			b = utf8.AppendRune(b, high[c-0x80])
		default:
			b = utf8.AppendRune(b, rune(c))
		}
	}
	return b
}
