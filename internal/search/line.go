package search

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxLine = 240 // bytes of a line that is shown

// Excerpt returns the line of a text that has most of the words that were found, fit to
// be shown, and where they stand in it. The line is "" if the text has none of them.
func (r Results) Excerpt(text []byte) (line string, hits []Span) {
	best := 0
	for raw := range bytes.Lines(text[:min(len(text), MaxText)]) {
		var on uint64 // the words that the line has
		first := 0
		for span, w := range wordsOf(raw) {
			for i, fits := range r.words {
				if fits.matches(w) {
					if on == 0 {
						first = span.From
					}
					on |= 1 << (i % 64)
				}
			}
		}
		if n := bits.OnesCount64(on); n > best {
			best, line = n, plain(raw, first)
		}
	}
	for span, w := range wordsOf([]byte(line)) {
		if !slices.ContainsFunc(r.words, func(q queryWord) bool { return q.matches(w) }) {
			continue
		}
		if n := len(hits); n > 0 && span.From <= hits[n-1].To { // pairs of CJK overlap
			hits[n-1].To = span.To
		} else {
			hits = append(hits, span)
		}
	}
	return line, hits
}

func (q queryWord) matches(w []byte) bool {
	return string(w) == q.word || q.prefix && bytes.HasPrefix(w, []byte(q.word))
}

// plain returns a line around a place without control characters, blanks at its ends, and
// more than maxLine bytes.
func plain(raw []byte, at int) string {
	if at > maxLine/2 {
		for raw = raw[at-maxLine/4:]; len(raw) > 0 && !utf8.RuneStart(raw[0]); raw = raw[1:] {
		}
	}
	var b strings.Builder
	for len(raw) > 0 && b.Len() < 2*maxLine {
		r, n := char(raw)
		if raw = raw[n:]; !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	line := strings.Join(strings.Fields(b.String()), " ")
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + "..."
}
