package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the length in bytes at which a word is cut before it is compared.
const maxWord = 64

// A Span is a part of a text, in bytes.
type Span struct{ From, To int }

// wordsOf returns the words of a text as they are compared, without case and without
// the accents of Latin, Greek and Cyrillic letters: Größe, GRÖSSE and grosse are one
// word. A word is letters, digits and the marks on them; bytes that are not UTF-8 are
// read as Latin-1. A word is valid until the next.
//
// Scripts that put no space between words (Han, kana, Thai...) are cut into pairs
// of neighboring characters, as usual for them: of 東京都 come 東京, 京都 and, for
// the end, 都. So each part of such a text is found by the pairs in it, and a
// single character as the beginning of a pair.
func wordsOf(text []byte) iter.Seq2[Span, []byte] {
	return func(yield func(Span, []byte) bool) {
		var f folder
		for at := 0; at < len(text); {
			r, n := char(text[at:])
			span := Span{at, at + n}
			at += n
			switch {
			case unspaced(r):
				if next, n := char(text[at:]); unspaced(next) {
					span.To += n
				}
			case isWord(r):
				for at < len(text) {
					if r, n = char(text[at:]); !isWord(r) || unspaced(r) {
						break
					}
					at += n
				}
				span.To = at
			default:
				continue
			}
			if !yield(span, f.fold(text[span.From:span.To])) {
				return
			}
		}
	}
}

// char returns the first character of a text and its length in bytes.
func char(text []byte) (rune, int) {
	r, n := utf8.DecodeRune(text)
	if r == utf8.RuneError && n == 1 {
		return rune(text[0]), 1
	}
	return r, n
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
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

// folder makes words comparable, in memory that it uses again.
type folder struct{ out, utf8, flat []byte }

func (f *folder) fold(word []byte) []byte {
	f.out = f.out[:0]
	for i, c := range word {
		if c >= utf8.RuneSelf {
			return f.foldAll(word)
		}
		if i == maxWord {
			break
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		f.out = append(f.out, c)
	}
	return f.out
}

func (f *folder) foldAll(word []byte) []byte {
	f.out, f.utf8 = f.out[:0], f.utf8[:0]
	for n := 0; len(word) > 0 && len(f.utf8) < 4*maxWord; word = word[n:] {
		var r rune
		r, n = char(word)
		f.utf8 = utf8.AppendRune(f.utf8, r)
	}
	f.flat = norm.NFKD.Append(f.flat[:0], f.utf8...)
	for _, r := range string(f.flat) {
		switch {
		case len(f.out)+utf8.UTFMax > maxWord:
			return f.out
		case 0x300 <= r && r < 0x370: // accents
		case r == 'ß', r == 'ẞ':
			f.out = append(f.out, "ss"...)
		default:
			f.out = utf8.AppendRune(f.out, unicode.ToLower(unicode.ToUpper(r)))
		}
	}
	return f.out
}

// canonical is a text as the words it is compared by.
func canonical(text []byte) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, w := range wordsOf(text) {
		b.Write(w)
		b.WriteByte(' ')
	}
	return b.String()
}
