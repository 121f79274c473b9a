package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// queryWord is one word of a query, or the beginning of one.
type queryWord struct {
	word   string
	prefix bool
}

// parsedQuery is what somebody looks for: words, "phrases in quotes", begin*.
type parsedQuery struct {
	parts   []queryWord
	phrases [][]queryWord // each of at least two words
}

// maxParts is how many words of a query count.
const maxParts = 32

// parse reads a query. A quote that is not closed goes to the end. A single
// character of a script without spaces is the beginning of its pairs, and what
// such a run of characters gives is a phrase.
func parse(s string) parsedQuery {
	var q parsedQuery
	for i, quoted := range strings.Split(s, `"`) {
		if i%2 == 1 {
			q.phrase(words(quoted))
			continue
		}
		for field := range strings.FieldsSeq(quoted) {
			q.phrase(words(field))
		}
	}
	return q
}

// phrase adds words that stand together.
func (q *parsedQuery) phrase(parts []queryWord) {
	if len(q.parts)+len(parts) > maxParts {
		parts = parts[:maxParts-len(q.parts)]
	}
	for _, p := range parts {
		if !slices.Contains(q.parts, p) {
			q.parts = append(q.parts, p)
		}
	}
	if len(parts) > 1 {
		q.phrases = append(q.phrases, parts)
	}
}

// words takes what stands together in a query apart; a star after a word asks
// for all that begin with it.
func words(s string) []queryWord {
	var all []queryWord
	text := []byte(s)
	sp := split(text)
	for sp.next() {
		star := sp.end < len(text) && text[sp.end] == '*'
		all = append(all, queryWord{word: string(sp.word), prefix: star})
	}
	if len(all) == 0 {
		return nil
	}
	// A text may go on where the query ends.
	if r, n := char(text[sp.start:]); !unspaced(r) || sp.start+n != sp.end {
		return all
	}
	if before, _ := utf8.DecodeLastRune(text[:sp.start]); unspaced(before) {
		return all[:len(all)-1] // the pair before holds it
	}
	all[len(all)-1].prefix = true
	return all
}
