package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A queryWord is a word, or the beginning of one.
type queryWord struct {
	word   string
	prefix bool
}

// A queryPart is a word, or the words of a phrase.
type queryPart []queryWord

// maxParts is how many words of a query count.
const maxParts = 16

// A parsedQuery is a visitor's query:
//
//	word  "a phrase"  begin*  -without  in:directory
type parsedQuery struct {
	with, without []queryPart
	in            []string // directories, without slashes at their ends
	left          int      // words that it may still have
}

// parse reads a query. A quote that is not closed goes to the end. A single
// character of a script without spaces is the beginning of its pairs, and a run of
// them is a phrase.
func parse(s string) parsedQuery {
	q := parsedQuery{left: maxParts}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		not := strings.HasPrefix(s, "-")
		s = strings.TrimPrefix(s, "-")
		var field string
		if rest, quoted := strings.CutPrefix(s, `"`); quoted {
			field, s, _ = strings.Cut(rest, `"`)
		} else {
			end := strings.IndexFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '"' })
			if end < 0 {
				end = len(s)
			}
			field, s = s[:end], s[end:]
			if dir, ok := strings.CutPrefix(field, "in:"); ok && !not {
				q.in = append(q.in, strings.Trim(dir, "/"))
				continue
			}
		}
		q.add(words(field), not)
		if q.left == 0 {
			break
		}
	}
	return q
}

func (q *parsedQuery) add(p queryPart, not bool) {
	p = p[:min(len(p), q.left)]
	same := func(o queryPart) bool { return slices.Equal(o, p) }
	if len(p) == 0 || slices.ContainsFunc(q.with, same) || slices.ContainsFunc(q.without, same) {
		return
	}
	q.left -= len(p)
	switch {
	case not:
		q.without = append(q.without, p)
	default:
		q.with = append(q.with, p)
	}
}

// match is the query as an FTS5 expression. Words are letters, digits and marks
// alone: nothing of a query is syntax.
func (q parsedQuery) match() string { return q.limited(join(q.with, " AND ")) }

// limited adds a query's restrictions to an expression.
func (q parsedQuery) limited(with string) string {
	var b strings.Builder
	b.WriteString("({title body} : (" + with + "))")
	if len(q.in) > 0 {
		var dirs []string
		for _, dir := range q.in {
			dirs = append(dirs, pathTerm(dir))
		}
		b.WriteString(" AND (path : (" + strings.Join(dirs, " OR ") + "))")
	}
	if len(q.without) > 0 {
		return "(" + b.String() + ") NOT ({title body} : (" + join(q.without, " OR ") + "))"
	}
	return b.String()
}

// inTitle matches texts with one of the words in their titles.
func (q parsedQuery) inTitle() string { return "(title : (" + join(q.with, " OR ") + "))" }

func join(parts []queryPart, with string) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.String())
	}
	return strings.Join(all, with)
}

// String is a part as FTS5 reads it.
func (p queryPart) String() string {
	var b strings.Builder
	for i, w := range p {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.word)
	}
	if p[len(p)-1].prefix {
		return `"` + b.String() + `" *`
	}
	return `"` + b.String() + `"`
}

// words splits a term of a query into words; a star after the last word matches all
// words that begin with it.
func words(s string) queryPart {
	var all queryPart
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
