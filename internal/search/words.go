package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Words: queries and texts are compared word by word, without case and without
// the accents of Latin, Greek and Cyrillic letters: Größe, GRÖSSE and grosse are
// one word. A word is letters, digits and the marks on them.
//
// Scripts that put no space between words (Han, kana, Thai...) are cut into pairs
// of neighbouring characters, as usual for them: of 東京都 come 東京, 京都 and, for
// the end, 都. So each part of such a text is found by the pairs in it, and a
// single character as the beginning of a pair.

// maxWord is the length in bytes at which a word is cut before it is compared.
const maxWord = 64

// splitter takes a text apart. Bytes that are not UTF-8 are read as Latin-1.
type splitter struct {
	text []byte
	pos  int

	word       []byte // the one that next has come to, as it is compared
	start, end int    // where it stands in the text, in bytes

	buf  [maxWord + utf8.UTFMax]byte
	flat []byte // a word without composed characters
	fold [maxWord + utf8.UTFMax]byte
}

func split(text []byte) *splitter {
	s := &splitter{}
	s.reset(text)
	return s
}

func (s *splitter) reset(text []byte) { s.text, s.pos = text, 0 }

// char returns the first character of a text and its length in bytes.
func char(text []byte) (rune, int) {
	r, n := utf8.DecodeRune(text)
	if r == utf8.RuneError && n == 1 {
		return rune(text[0]), 1
	}
	return r, n
}

// letter holds the lower case of what belongs to words in ASCII, else 0.
var letter = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}()

// next returns the next word; false if there is none.
func (s *splitter) next() bool {
	for s.pos < len(s.text) {
		b := s.text[s.pos]
		if b < utf8.RuneSelf {
			if letter[b] != 0 {
				return s.spaced()
			}
			s.pos++
			continue
		}
		r, n := char(s.text[s.pos:])
		switch {
		case unspaced(r):
			return s.pair(r, n)
		case isWord(r):
			return s.spaced()
		}
		s.pos += n
	}
	return false
}

// spaced reads a word to where it ends. The usual one is ASCII.
func (s *splitter) spaced() bool {
	start, w := s.pos, s.buf[:0]
	for s.pos < len(s.text) && s.text[s.pos] < utf8.RuneSelf && letter[s.text[s.pos]] != 0 {
		if len(w) < maxWord {
			w = append(w, letter[s.text[s.pos]])
		}
		s.pos++
	}
	if s.pos == len(s.text) || s.text[s.pos] < utf8.RuneSelf {
		s.word, s.start, s.end = w, start, s.pos
		return true
	}
	for s.pos < len(s.text) {
		r, n := char(s.text[s.pos:])
		if !isWord(r) || unspaced(r) {
			break
		}
		if len(w) < maxWord {
			w = utf8.AppendRune(w, r)
		}
		s.pos += n
	}
	s.word, s.start, s.end = s.folded(w), start, s.pos
	return true
}

// pair returns a character and the one after it, if that is of its kind.
func (s *splitter) pair(r rune, n int) bool {
	w := utf8.AppendRune(s.buf[:0], r)
	start := s.pos
	s.pos += n
	end := s.pos
	if s.pos < len(s.text) {
		if second, m := char(s.text[s.pos:]); unspaced(second) {
			w = utf8.AppendRune(w, second)
			end += m
		}
	}
	s.word, s.start, s.end = s.folded(w), start, end
	return true
}

// folded returns a word as it is compared.
func (s *splitter) folded(w []byte) []byte {
	out := s.fold[:0]
	s.flat = norm.NFKD.Append(s.flat[:0], w...)
	for _, r := range string(s.flat) {
		switch {
		case 0x300 <= r && r < 0x370: // accents
		case r == 'ß', r == 'ẞ':
			out = append(out, "ss"...)
		default:
			out = utf8.AppendRune(out, unicode.ToLower(unicode.ToUpper(r)))
		}
		if len(out) > maxWord {
			return out[:maxWord]
		}
	}
	return out
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// unspaced reports whether a character is of a script that puts no space between
// words.
func unspaced(r rune) bool {
	return r >= 0xe00 && (unicode.IsOneOf(unspacedScripts, r) || r == 'ー')
}

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}
