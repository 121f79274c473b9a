package search

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
)

const (
	// PerPage is how many results a page has.
	PerPage = 20

	maxCounted = 1000 // results: a count beyond is "more than"
	maxRanked  = 5000 // texts that are ranked for one query
)

// A Query asks an index.
type Query struct {
	Text string // as typed; see parse
	Page int    // from 0

	// Allowed, if not nil, says which texts may be shown. Others are not counted.
	Allowed func(name string) bool
}

// A Hit is a text that was found.
type Hit struct{ Name, Title string }

// Results are one page of what a query found.
type Results struct {
	Hits  []Hit
	Total int  // of all pages
	More  bool // Total is a lower bound
	Empty bool // the query has no word

	// If the words as typed find nothing: Forms reports that the results are of other
	// forms of them, Instead is a query with words of the index in their place.
	Forms   bool
	Instead string
}

// Search answers a query; an error is the context's or the index's.
func (x *Index) Search(ctx context.Context, ask Query) (Results, error) {
	q := parse(ask.Text)
	if len(q.with) == 0 {
		return Results{Empty: true}, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	r, err := x.page(ctx, q, ask)
	if err != nil || r.Total > 0 {
		return r, err
	}
	if other, ok := x.otherForms(ctx, q); ok {
		if r, err = x.pageOf(ctx, other, ask); err != nil || r.Total > 0 {
			r.Forms = true
			return r, err
		}
	}
	if instead, text, ok := x.spelling(ctx, q, ask.Text); ok {
		if near, err := x.page(ctx, instead, ask); err == nil && near.Total > 0 {
			r.Instead = text
		}
	}
	return r, context.Cause(ctx)
}

func (x *Index) page(ctx context.Context, q parsedQuery, ask Query) (Results, error) {
	return x.pageOf(ctx, wanted{q.match(), q.inTitle()}, ask)
}

// wanted holds two FTS5 expressions: texts must match the first, and those that match
// title come first.
type wanted struct{ match, title string }

// pageOf ranks texts with a word in the title before others, then by BM25. If more than
// maxRanked texts have the words, the newest maxRanked stand for them, the newest first:
// the weight of such words is next to nothing, and would cost a look at all texts.
func (x *Index) pageOf(ctx context.Context, what wanted, ask Query) (r Results, err error) {
	const newest = " FROM text WHERE text MATCH ? ORDER BY rowid DESC LIMIT ?"
	all, err := x.rows(ctx, "SELECT rowid, 0.0"+newest, what.match, maxRanked+1)
	if err != nil || len(all) == 0 {
		return r, err
	}
	titled, err := x.rows(ctx, "SELECT rowid, 0.0"+newest, "("+what.match+") AND "+what.title, maxRanked)
	if err == nil && len(all) <= maxRanked {
		all, err = x.rows(ctx, "SELECT rowid, bm25(text, 10, 1, 0)"+newest, what.match, maxRanked)
	}
	if err != nil {
		return r, err
	}
	inTitle := make(map[int64]bool, len(titled))
	for _, t := range titled {
		inTitle[t.id] = true
	}
	score := func(t scored) float64 {
		if inTitle[t.id] {
			return t.score - 1e9
		}
		return t.score
	}
	for _, t := range titled { // older than the newest
		if len(all) > maxRanked && t.id < all[maxRanked].id {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(score(a), score(b)) })
	return x.named(ctx, all, ask)
}

// named counts the texts that may be shown, and fills the page that was asked for.
func (x *Index) named(ctx context.Context, all []scored, ask Query) (r Results, err error) {
	var ids []string
	for _, t := range all {
		ids = append(ids, strconv.FormatInt(t.id, 10))
	}
	rows, err := x.conn.QueryContext(ctx, "SELECT name, title FROM json_each(?) AS j CROSS JOIN doc ON doc.id = j.value", "["+strings.Join(ids, ",")+"]")
	if err != nil {
		return r, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() && r.Total < maxCounted {
		var h Hit
		if err := rows.Scan(&h.Name, &h.Title); err != nil {
			return r, err
		}
		if ask.Allowed != nil && !ask.Allowed(h.Name) {
			continue
		}
		if r.Total >= ask.Page*PerPage && len(r.Hits) < PerPage {
			r.Hits = append(r.Hits, h)
		}
		r.Total++
	}
	r.More = r.Total >= maxCounted
	return r, rows.Err()
}

type scored struct {
	id    int64
	score float64 // the best has the lowest
}

func (x *Index) rows(ctx context.Context, query string, args ...any) (all []scored, err error) {
	rows, err := x.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r scored
		if err := rows.Scan(&r.id, &r.score); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}
