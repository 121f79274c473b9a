package search

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	maxWords    = 16 // per query
	maxPrefixes = 2  // of them, prefixes (begin*)
	minPrefix   = 2  // characters of a prefix
)

// A queryWord is a word or a prefix.
type queryWord struct {
	word   string
	prefix bool
}

// A term is a word, or the words of a phrase.
type term []queryWord

// A parsedQuery is the parsed query of a client.
type parsedQuery struct {
	with, without []term
	in            []string // directories, without slashes at their ends
	cut           bool     // words beyond maxWords or maxPrefixes were dropped
}

// part matches a part of a query: word "a phrase" begin* -without in:directory. A missing
// closing quote is assumed at the end.
var part = regexp.MustCompile(`(in:|-)?(?:"([^"]*)"?|([^\s"]+))`)

// parse parses a query.
func parse(s string) (q parsedQuery) {
	words, prefixes := maxWords, maxPrefixes
	seen := map[string]bool{}
	for _, m := range part.FindAllStringSubmatch(s, -1) {
		kind, value := m[1], m[2]+m[3]
		if kind == "in:" {
			q.in = append(q.in, strings.Trim(value, "/"))
			continue
		}
		t := parseTerm(value)
		if len(t) == 0 || seen[kind+t.fts("")] {
			continue
		}
		seen[kind+t.fts("")] = true

		// Drop words beyond the bounds.
		if len(t) > words {
			q.cut = true
			t = t[:words]
		}
		words -= len(t)
		if len(t) == 0 {
			continue
		}
		if last := &t[len(t)-1]; last.prefix {
			prefixes--
			if prefixes < 0 {
				q.cut = true
				last.prefix = false
			}
		}

		if kind == "-" {
			q.without = append(q.without, t)
		} else {
			q.with = append(q.with, t)
		}
	}
	q.in = q.in[:min(len(q.in), maxWords)]
	return q
}

// parseTerm splits a part of a query into words. A star after the last one makes it a prefix.
func parseTerm(s string) (t term) {
	end := 0
	for span, w := range wordsOf(s) {
		if len(w) > 0 {
			t = append(t, queryWord{word: string(w)})
			end = span.To
		}
	}
	if len(t) > 0 && strings.HasPrefix(s[end:], "*") {
		last := &t[len(t)-1]
		first, _ := utf8.DecodeRuneInString(last.word)
		last.prefix = utf8.RuneCountInString(last.word) >= minPrefix && !unspaced(first)
	}
	return t
}

// match returns the query as an FTS5 expression, and one that finds texts with a word of the
// query in their titles. Words consist of letters, numbers and marks, so no query can inject
// FTS5 syntax.
func (q parsedQuery) match() (all, titles string) {
	all = "(" + join(q.with, " AND ", "") + ")"
	if len(q.in) > 0 {
		var dirs []string
		for _, dir := range q.in {
			dirs = append(dirs, pathWord(dir))
		}
		all += " AND (" + strings.Join(dirs, " OR ") + ")"
	}
	if len(q.without) > 0 {
		all = "(" + all + ") NOT (" + join(q.without, " OR ", "") + ")"
	}
	return all, "(" + all + ") AND (" + join(q.with, " OR ", titleMark) + ")"
}

func join(terms []term, with, mark string) string {
	var all []string
	for _, t := range terms {
		all = append(all, t.fts(mark))
	}
	return strings.Join(all, with)
}

// fts returns a term in FTS5 syntax, with a mark (see marked) before each word.
func (t term) fts(mark string) string {
	var words []string
	for _, w := range t {
		words = append(words, mark+w.word)
	}
	phrase := `"` + strings.Join(words, " ") + `"`
	if t[len(t)-1].prefix {
		phrase += " *"
	}
	return phrase
}
