package search

import (
	"regexp"
	"strings"
)

// A queryWord is a word, or the beginning of one.
type queryWord struct {
	word   string
	prefix bool
}

// A term is a word, the words of a phrase, or alternatives to a word.
type term struct {
	words    []queryWord
	either   bool // one of the words is enough
	from, to int  // where it stands in the query
}

// maxParts is how many words of a query count.
const maxParts = 16

// A parsedQuery is a visitor's query.
type parsedQuery struct {
	with, without []term
	in            []string // directories, without slashes at their ends
	cut           bool     // it had more than maxParts words
}

// part matches a part of a query: word "a phrase" begin* -without in:directory. A quote
// that is not closed goes to the end.
var part = regexp.MustCompile(`(in:|-)?(?:"([^"]*)"?|([^\s"]+))`)

// parse reads a query.
func parse(s string) (q parsedQuery) {
	left, seen := maxParts, map[string]bool{}
	for _, at := range part.FindAllStringSubmatchIndex(s, -1) {
		from, to := max(at[4], at[6]), max(at[5], at[7])
		kind, value := s[at[0]:from], s[from:to]
		if strings.HasPrefix(kind, "in:") {
			q.in = append(q.in, strings.Trim(value, "/"))
			continue
		}
		t := term{words: words(value), from: from, to: to}
		if len(t.words) == 0 || seen[t.String()] {
			continue
		}
		seen[t.String()] = true
		q.cut = q.cut || len(t.words) > left
		if t.words = t.words[:min(len(t.words), left)]; len(t.words) == 0 {
			continue
		}
		left -= len(t.words)
		if strings.HasPrefix(kind, "-") {
			q.without = append(q.without, t)
		} else {
			q.with = append(q.with, t)
		}
	}
	q.in = q.in[:min(len(q.in), maxParts)]
	return q
}

// words splits a part of a query into words; a star after the last one matches all words
// that begin with it. A single character of a script without spaces is the beginning of
// its pairs, and a run of them is a phrase.
func words(s string) (all []queryWord) {
	text, before := []byte(s), Span{}
	for span, w := range wordsOf(text) {
		r, n := char(text[span.From:])
		alone := unspaced(r) && span.From+n == span.To
		if alone && before.To == span.To {
			break // the pair before holds it
		}
		all = append(all, queryWord{string(w), alone || span.To < len(text) && text[span.To] == '*'})
		before = span
	}
	return all
}

// match is the query as an FTS5 expression, titles the part of it that finds texts with one
// of the words in their titles. Words are letters, digits and marks alone: nothing of a
// query is syntax.
func (q parsedQuery) match() (all, titles string) {
	all = "(" + join(q.with, " AND ", term.String) + ")"
	if len(q.in) > 0 {
		var dirs []string
		for _, dir := range q.in {
			dirs = append(dirs, pathTerm(dir))
		}
		all += " AND (" + strings.Join(dirs, " OR ") + ")"
	}
	if len(q.without) > 0 {
		all = "(" + all + ") NOT (" + join(q.without, " OR ", term.String) + ")"
	}
	return all, "(" + all + ") AND (" + join(q.with, " OR ", func(t term) string { return t.fts(titleMark) }) + ")"
}

func join(terms []term, with string, fts func(term) string) string {
	var all []string
	for _, t := range terms {
		all = append(all, fts(t))
	}
	return strings.Join(all, with)
}

// String is a term as FTS5 reads it.
func (t term) String() string { return t.fts("") }

// fts is a term of words that have a mark in front of them.
func (t term) fts(mark string) string {
	var all []string
	for _, w := range t.words {
		all = append(all, mark+w.word)
	}
	if t.either {
		return `("` + strings.Join(all, `" OR "`) + `")`
	}
	phrase := `"` + strings.Join(all, " ") + `"`
	if t.words[len(t.words)-1].prefix {
		phrase += " *"
	}
	return phrase
}

// only is the single word of a term; "" if it has more, or the beginning of one.
func (t term) only() string {
	if len(t.words) == 1 && !t.words[0].prefix {
		return t.words[0].word
	}
	return ""
}
