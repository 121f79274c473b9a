package search

import (
	"context"
	"fmt"
	"slices"
)

const (
	// PerPage is how many results a page has.
	PerPage = 20

	maxCounted = 1000 // results: a count beyond is "more than"
	maxRanked  = 5000 // texts that are ranked for one query
)

// A Query asks an index.
type Query struct {
	Text string // as typed; see part
	Page int    // from 0

	// Allowed, if not nil, says which texts may be shown. Others are not counted.
	Allowed func(name string) bool
}

// Results are one page of what a query found.
type Results struct {
	Names []string
	Total int  // of all pages
	More  bool // Total is a lower bound
	Empty bool // the query has no word
	Cut   bool // only its first 16 words count

	// If the words as typed find nothing: Forms reports that the results are of other
	// forms of them, Instead is a query with words of the index in their place.
	Forms   bool
	Instead string

	words []queryWord // that were found
}

// Search answers a query; an error is the context's or the index's.
func (x *Index) Search(ctx context.Context, ask Query) (r Results, err error) {
	q := parse(ask.Text)
	if len(q.with) == 0 {
		return Results{Empty: true}, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	defer func() { x.doubt = x.doubt || err != nil && ctx.Err() == nil }()
	defer func() { r.Cut = q.cut }()
	r, err = x.page(ctx, q, ask)
	if err != nil || r.Total > 0 {
		return r, err
	}
	if forms, err := x.otherForms(ctx, q); err != nil || len(forms.with) > 0 {
		if r, err = x.page(ctx, forms, ask); err != nil || r.Total > 0 {
			r.Forms = true
			return r, err
		}
	}
	mended, text, err := x.spelling(ctx, q, ask.Text)
	if err != nil || text == "" {
		return r, err
	}
	if near, err := x.page(ctx, mended, ask); err != nil || near.Total == 0 {
		return r, err
	}
	r.Instead = text
	return r, nil
}

// Texts with a word in the title come before others, then BM25 decides, then the newest
// comes first. If more than maxRanked texts match, the newest stand for them, unranked:
// the weight of such words is next to nothing, and would cost a look at all texts.
const (
	matching = `SELECT count(*) FROM (SELECT 1 FROM text WHERE text MATCH ?1 LIMIT ?3 + 1)`
	named    = `SELECT (SELECT name FROM doc WHERE id = hit.id) FROM (%s) AS hit ORDER BY hit.body, hit.score, hit.id DESC`
	ranked   = `SELECT rowid AS id, rowid NOT IN (SELECT rowid FROM text WHERE text MATCH ?2) AS body, bm25(text) AS score FROM text WHERE text MATCH ?1 LIMIT ?3`
	newest   = `SELECT id, min(body) AS body, 0 AS score FROM (
		SELECT * FROM (SELECT rowid AS id, 0 AS body FROM text WHERE text MATCH ?2 ORDER BY rowid DESC LIMIT ?3) UNION ALL
		SELECT * FROM (SELECT rowid AS id, 1 AS body FROM text WHERE text MATCH ?1 ORDER BY rowid DESC LIMIT ?3)) GROUP BY id`
)

// page returns the texts that may be shown on the page that was asked for, and counts all.
func (x *Index) page(ctx context.Context, q parsedQuery, ask Query) (r Results, err error) {
	for _, t := range q.with {
		r.words = append(r.words, t.words...)
	}
	all, titles := q.match()
	n, order := 0, ranked
	if err := x.row(ctx, matching, all, titles, maxRanked).Scan(&n); err != nil || n == 0 {
		return r, err
	}
	if n > maxRanked {
		order = newest
	}
	names, err := x.column(ctx, fmt.Sprintf(named, order), all, titles, maxRanked)
	for _, name := range names {
		if r.Total == maxCounted {
			break
		}
		if ask.Allowed != nil && !ask.Allowed(name) {
			continue
		}
		if r.Total/PerPage == ask.Page {
			r.Names = append(r.Names, name)
		}
		r.Total++
	}
	r.More = r.Total == maxCounted
	return r, err
}

// Bounds of the second attempts for a query that finds nothing.
const (
	maxNear    = 8000 // words of the index that are compared with one of the query
	maxMended  = 3    // words of a query
	maxForms   = 8    // of a word
	shortWords = 4    // characters: shorter words have no other forms
)

// otherForms is a query with each word replaced by the words of the index that have its
// stem (English, by SQLite's porter tokenizer); without words if there are none.
func (x *Index) otherForms(ctx context.Context, q parsedQuery) (parsedQuery, error) {
	with, found := slices.Clone(q.with), false
	for i, t := range q.with[:min(len(q.with), maxMended)] {
		word := []rune(t.only())
		if len(word) < shortWords {
			continue
		}
		if err := x.exec(ctx, "DELETE FROM temp.stem"); err != nil {
			return q, err
		}
		if err := x.exec(ctx, "INSERT INTO temp.stem(word) SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?1 || char(0x10ffff) LIMIT ?2", string(word[:3]), maxNear); err != nil {
			return q, err
		}
		forms, err := x.column(ctx, "SELECT word FROM temp.stem WHERE stem MATCH ? LIMIT ?", t.String(), maxForms)
		if err != nil {
			return q, err
		}
		for _, form := range forms {
			with[i].words = append(slices.Clip(with[i].words), queryWord{word: form})
			with[i].either, found = true, true
		}
	}
	if q.with = with; !found {
		q.with = nil
	}
	return q, nil
}

// spelling is a query with words of the index in place of those that it has not, parsed
// and as a visitor types it; "" if one of them has no neighbor in the index.
func (x *Index) spelling(ctx context.Context, q parsedQuery, text string) (mended parsedQuery, typed string, err error) {
	tried := 0
	for i, t := range slices.Backward(q.with) {
		word := t.only()
		if len([]rune(word)) < 3 {
			continue
		}
		if has, err := x.has(ctx, word); err != nil || has {
			if err != nil {
				return q, "", err
			}
			continue
		}
		near := ""
		if tried++; tried <= maxMended {
			near, err = x.nearest(ctx, word)
		}
		if near == "" || err != nil {
			return q, "", err
		}
		q.with[i].words, text = []queryWord{{word: near}}, text[:t.from]+near+text[t.to:]
		typed = text
	}
	return q, typed, nil
}

// has reports whether a text holds a word. The vocabulary also has words of deleted texts.
func (x *Index) has(ctx context.Context, word string) (bool, error) {
	found, err := x.column(ctx, "SELECT rowid FROM text WHERE text MATCH ? LIMIT 1", `"`+word+`"`)
	return len(found) > 0, err
}

// nearest is the word of the index with the fewest changes to this one, of those the
// one that most texts have.
func (x *Index) nearest(ctx context.Context, word string) (best string, err error) {
	r := []rune(word)
	// Most mistakes leave two letters at the beginning, or exchange or lose one of them.
	heads, fewest := []string{string(r[:2]), string([]rune{r[1], r[0]}), string(r[1:3]), string(r[:1])}, 2
	if len(r) > 5 {
		fewest = 3
	}
	for _, head := range heads {
		near, err := x.column(ctx, "SELECT term FROM (SELECT term, doc FROM vocabulary WHERE term >= ?1 AND term < ?1 || char(0x10ffff) LIMIT ?2) ORDER BY doc DESC", head, maxNear)
		for _, w := range near {
			n := distance(r, []rune(w), fewest)
			if n >= fewest {
				continue
			}
			if has, err := x.has(ctx, w); err != nil {
				return "", err
			} else if has {
				best, fewest = w, n
			}
		}
		if best != "" || err != nil {
			return best, err
		}
	}
	return "", nil
}

// distance is how many characters are to be inserted, deleted, replaced or exchanged
// with a neighbor to make b of a (Damerau), or most if it is not less.
func distance(a, b []rune, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return min(rows[len(a)][len(b)], most)
}
