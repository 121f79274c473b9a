package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxLine = 240 // bytes of a line that is shown

// A Span is a part of a line, in bytes.
type Span struct{ From, To int }

// Excerpt returns the line of a text that has most of a query's words, fit to be
// shown, and where they stand in it. The line is "" if the text has none of them.
func Excerpt(query string, text []byte) (line string, hits []Span) {
	text = text[:min(len(text), MaxText)]
	parts := slices.Concat(parse(query).with...)
	best, at, line0 := 0, -1, 0
	var on uint64 // the words of the query on this line
	for sp, seen := split(text), 0; sp.next(); {
		if bytes.IndexByte(text[seen:sp.start], '\n') >= 0 {
			on, line0 = 0, sp.start
		}
		seen = sp.start
		for i, p := range parts {
			if p.fits(sp.word) {
				if on == 0 {
					line0 = sp.start
				}
				on |= 1 << i
			}
		}
		if n := ones(on); n > best {
			best, at = n, line0
			if best == len(parts) {
				break
			}
		}
	}
	line = lineAt(text, at)
	for sp := split([]byte(line)); sp.next(); {
		if slices.ContainsFunc(parts, func(p queryWord) bool { return p.fits(sp.word) }) {
			hits = append(hits, Span{sp.start, sp.end})
		}
	}
	return line, hits
}

func ones(set uint64) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

func (p queryWord) fits(w []byte) bool {
	if p.prefix {
		return bytes.HasPrefix(w, []byte(p.word))
	}
	return string(w) == p.word
}

// lineAt returns the line of a text that holds a place, made fit to be shown.
func lineAt(text []byte, at int) string {
	if at < 0 {
		return ""
	}
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	if at-start > maxLine/2 {
		for start = at - maxLine/4; start < at && !utf8.RuneStart(text[start]); start++ {
		}
	}
	return plain(text[start:min(end, start+4*maxLine)])
}

// plain returns a line without control characters, blanks at its ends, and more than
// maxLine bytes.
func plain(raw []byte) string {
	var b strings.Builder
	blank := false
	for len(raw) > 0 {
		r, n := char(raw)
		raw = raw[n:]
		if !unicode.IsPrint(r) || r == ' ' {
			blank = b.Len() > 0
			continue
		}
		if b.Len() > maxLine {
			return b.String() + "..."
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
