package search

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the length in bytes to which words are truncated.
const maxWord = 64

// A Span is a range of bytes in a text.
type Span struct{ From, To int }

// wordsOf yields the folded words of a text and their positions. Folding removes case and the
// accents of Latin, Greek and Cyrillic letters: Größe, GRÖSSE and grosse are the same word. A word
// consists of letters, numbers and marks; the slice is valid until the next word.
//
// Each character of a script without spaces between words (Han, kana, Thai...) is a word, so a
// query in such a script is a phrase.
func wordsOf(text string) iter.Seq2[Span, []byte] {
	return func(yield func(Span, []byte) bool) {
		var folded []byte
		for at := 0; at < len(text); {
			r, n := utf8.DecodeRuneInString(text[at:])
			span := Span{at, at + n}
			at += n
			if !isWord(r) {
				continue
			}

			// Find the end of the word.
			alone := unspaced(r)
			for at < len(text) {
				next, n := utf8.DecodeRuneInString(text[at:])
				if !isWord(next) || unspaced(next) || alone && !unicode.IsMark(next) {
					break
				}
				at += n
			}
			span.To = at

			folded = appendFolded(folded[:0], text[span.From:span.To])
			if !yield(span, folded) {
				return
			}
		}
	}
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// unspaced reports whether a character belongs to a script without spaces between words.
func unspaced(r rune) bool {
	return r >= 0xe00 && (unicode.IsOneOf(unspacedScripts, r) || r == 'ー')
}

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
	unicode.Myanmar,
}

// letters maps letters that Unicode does not decompose to plain ones.
var letters = map[rune]string{
	'ß': "ss",
	'æ': "ae",
	'œ': "oe",
	'ø': "o",
	'ł': "l",
	'đ': "d",
	'ħ': "h",
	'þ': "th",
}

// appendFolded appends a folded word. It removes accents, whether composed or combining.
func appendFolded(b []byte, word string) []byte {
	word = word[:min(len(word), 4*maxWord)]
	ascii := true
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if i < maxWord {
			b = append(b, c)
		}
	}
	if ascii {
		return b
	}

	b = b[:0]
	var char [utf8.UTFMax]byte
	for _, r := range norm.NFC.String(word) {
		n := utf8.EncodeRune(char[:], r)
		if parts := norm.NFD.Properties(char[:n]).Decomposition(); parts != nil {
			base, size := utf8.DecodeRune(parts)
			if len(bytes.TrimFunc(parts[size:], isAccent)) == 0 {
				r = base
			}
		}
		r = unicode.ToLower(unicode.ToUpper(r))
		switch plain, ok := letters[r]; {
		case len(b)+utf8.UTFMax > maxWord:
			return b
		case ok:
			b = append(b, plain...)
		case r != utf8.RuneError && !isAccent(r):
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// isAccent reports whether a character is an accent of Latin, Greek and Cyrillic letters.
func isAccent(r rune) bool { return 0x300 <= r && r < 0x370 }

// fold returns the folded words of a text, separated by blanks.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for _, w := range wordsOf(text) {
		b.Write(w)
		b.WriteByte(' ')
	}
	return b.String()
}
