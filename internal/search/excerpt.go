package search

import (
	"bytes"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
)

const (
	// MaxExcerpt is the number of bytes at the start of a text that excerpts are cut from.
	MaxExcerpt = 64 << 10

	maxLine = 240 // bytes of an excerpt
)

// Excerpt returns the line of a text with the most different words of the query, without
// control characters, and the positions of those words. The line is "" if the first MaxExcerpt
// bytes contain none of them.
func (r Results) Excerpt(text string) (line string, hits []Span) {
	text = text[:min(len(text), MaxExcerpt)]
	most, first := 0, 0
	for raw := range strings.Lines(text) {
		var found uint64 // one bit per word of the query
		at := -1
		for span, w := range wordsOf(raw) {
			bit := r.find(w)
			if bit != 0 && at < 0 {
				at = span.From
			}
			found |= bit
		}
		if n := bits.OnesCount64(found); n > most {
			most = n
			first = at
			line = raw
		}
	}
	line = plain(line, first)
	return line, r.hits(line)
}

// hits returns the positions of words of the query in a line. Adjacent ones are merged.
func (r Results) hits(line string) (hits []Span) {
	for span, w := range wordsOf(line) {
		if r.find(w) == 0 {
			continue
		}
		if n := len(hits); n > 0 && span.From == hits[n-1].To {
			hits[n-1].To = span.To
		} else {
			hits = append(hits, span)
		}
	}
	return hits
}

// find returns the bits of the words of the query that match a word.
func (r Results) find(w []byte) (found uint64) {
	for i, q := range r.words {
		if string(w) == q.word || q.prefix && bytes.HasPrefix(w, []byte(q.word)) {
			found |= 1 << i
		}
	}
	return found
}

// plain returns up to maxLine bytes of a line around a position, without control characters and
// outer blanks.
func plain(line string, at int) string {
	if at > maxLine/2 {
		line = line[at-maxLine/4:] // the rest of a character becomes blanks
	}
	var b strings.Builder
	for _, r := range line {
		if b.Len() > 2*maxLine {
			break
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = ' '
		}
		b.WriteRune(r)
	}
	return diag.Shorten(strings.Join(strings.Fields(b.String()), " "), maxLine)
}
