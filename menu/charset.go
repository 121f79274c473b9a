package menu

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Texts are sent as UTF-8, which clients can show. Latin-1 is read as Windows-1252, which
// only adds to it: quotation marks and dashes in the place of control characters that no
// text has.

// A Charset is a character set. As a setting it is that of all texts which are not UTF-8; the
// zero value finds it out for each text. As the result of [Charset.Of] the zero value is one
// that is not known.
type Charset struct {
	label    string
	encoding encoding.Encoding // nil: the bytes stay
}

// The character sets that are found out.
var (
	CharsetUTF8   = Charset{label: "utf-8"}
	CharsetLatin1 = Charset{"windows-1252", charmap.Windows1252}
	charsetCP437  = Charset{"IBM437", charmap.CodePage437}
	charsetUTF16  = Charset{"utf-16", unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)}
)

// CharsetAuto finds the character set of each text out.
var CharsetAuto Charset

// UnmarshalText reads "auto", "cp437" or a name of the WHATWG's index, such as "latin1",
// "koi8-r" or "shift_jis".
func (c *Charset) UnmarshalText(text []byte) error {
	switch name := strings.ToLower(string(text)); name {
	case "auto", "":
		*c = CharsetAuto
	case "cp437", "ibm437", "437":
		*c = charsetCP437
	default:
		found, err := htmlindex.Get(name)
		if err != nil || found == encoding.Replacement {
			return fmt.Errorf("unknown character set %q", text)
		}
		label, err := htmlindex.Name(found)
		if *c = (Charset{label, found}); label == CharsetUTF8.label {
			*c = CharsetUTF8
		}
		return err
	}
	return nil
}

// Label is the name of the character set in a media type: "unknown-8bit" (RFC 1428) if it is
// not known.
func (c Charset) Label() string {
	if c == CharsetAuto {
		return "unknown-8bit"
	}
	return c.label
}

// Decode returns a text in the character set as UTF-8.
func (c Charset) Decode(text []byte) []byte {
	if c.encoding == nil {
		return text
	}
	decoded, _ := c.encoding.NewDecoder().Bytes(text) // what is none becomes U+FFFD
	return decoded
}

// Reader returns a reader of a text in the character set that returns it as UTF-8.
func (c Charset) Reader(r io.Reader) io.Reader {
	if c.encoding == nil {
		return r
	}
	return transform.NewReader(r, c.encoding.NewDecoder())
}

// fromDOS are the suffixes of texts that were made for DOS.
var fromDOS = []string{".ans", ".nfo", ".diz"}

// Of returns the character set of a text by its name, and its beginning or all of it: UTF-8 or
// UTF-16 if it is that; else c; else the one that it looks like.
func (c Charset) Of(name string, text []byte, whole bool) Charset {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return charsetUTF16
	case utf8.Valid(text), !whole && utf8.Valid(text[:lastRune(text)]), isDamaged(text):
		return CharsetUTF8
	case c == CharsetUTF8:
		return Charset{}
	case c != CharsetAuto:
		return c
	case slices.Contains(fromDOS, extension(name)):
		return charsetCP437
	case looksLikeLatin1(text):
		return CharsetLatin1
	}
	return Charset{}
}

// isDamaged reports whether a text is UTF-8 but for a few bytes: it was cut, or two texts were
// put together.
func isDamaged(text []byte) bool {
	good, bad := 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch text = text[n:]; {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
	}
	return good >= 20*bad
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

// looksLikeLatin1 reports whether the bytes that are not ASCII are placed like the
// letters and signs of Western European languages: one or two of them beside a letter
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

// FromLatin1 returns a text in Latin-1 as UTF-8.
func FromLatin1(s string) string {
	return string(CharsetLatin1.Decode([]byte(s)))
}
