package search

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"strings"
	"time"
)

const (
	// PerPage is how many results a page has.
	PerPage = 20

	maxCounted = 1000                   // results: a count beyond is "more than"
	maxRanked  = 5000                   // texts that are ranked for one query
	maxWork    = 100 * time.Millisecond // of processor time for one query
)

// ErrSlow reports that a query was interrupted after it had taken maxWork.
var ErrSlow = errors.New("the search took too long")

// A Query is a search as a user enters it.
type Query struct {
	Text string // as typed; see part
	Page int    // from 0

	// Allowed, if not nil, reports whether a text may be shown. Others are not counted.
	Allowed func(name string) bool
}

// Results are one page of what a query found.
type Results struct {
	Names []string
	Total int  // of all pages
	More  bool // Total is a lower bound
	Empty bool // the query has no word
	Cut   bool // the query had more than 16 words or two prefixes; the rest was ignored

	words []queryWord
}

// Search answers a query. An error is the context's, the index's or ErrSlow.
func (x *Index) Search(ctx context.Context, ask Query) (Results, error) {
	q := parse(ask.Text)
	r := Results{Cut: q.cut, Empty: len(q.with) == 0}
	if r.Empty {
		return r, nil
	}
	for _, t := range q.with {
		r.words = append(r.words, t...)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	ctx, worked, stop := workContext(ctx)
	defer stop()
	err := x.page(ctx, worked, q, ask, &r)
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && damaged(err):
		err = x.failed(err)
	}
	return r, err
}

// workContext returns a context that ends with ErrSlow when the calling goroutine has used
// maxWork, and a function that returns the time used so far. It locks the goroutine to its thread
// until stop is called, since it measures the processor time of the thread, where the system
// reports it: on a busy machine a query may take longer.
func workContext(ctx context.Context) (_ context.Context,
	worked func() time.Duration, stop func()) {
	runtime.LockOSThread()
	worked = threadClock()
	ctx, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		left := maxWork - worked()
		if left <= 0 {
			cancel(ErrSlow)
			return
		}
		timer.Reset(max(left, time.Millisecond))
	})
	timer.Reset(maxWork)
	return ctx, worked, func() {
		cancel(nil)
		timer.Stop()
		runtime.UnlockOSThread()
	}
}

// rankTime is the work after which a query is not ranked any more: ranking takes about twice as
// long as finding the texts.
const rankTime = maxWork / 4

// The texts of a query, as a list of ids.
const (
	newest = `SELECT group_concat(id) FROM (SELECT rowid AS id FROM text WHERE text MATCH ? ORDER BY rowid DESC LIMIT ?)`
	ranked = `SELECT group_concat(id) FROM (SELECT rowid AS id FROM text WHERE text MATCH ? ORDER BY bm25(text), rowid DESC LIMIT ?)`
	named  = `SELECT doc.name FROM json_each(?) AS list CROSS JOIN doc ON doc.id = list.value ORDER BY list.key`
)

// page finds the texts of the requested page and counts all that may be shown.
func (x *Index) page(ctx context.Context, worked func() time.Duration, q parsedQuery, ask Query,
	r *Results) error {
	// If more than maxRanked texts match, take the newest: such common words hardly affect the
	// rank, and ranking would read every match.
	all, titles := q.match()
	ids, err := x.ids(ctx, newest, all)
	if err != nil || len(ids) == 0 {
		return err
	}
	if len(ids) < maxRanked && worked() < rankTime {
		if ids, err = x.ids(ctx, ranked, all); err != nil {
			return err
		}
	}

	// Move texts with a word in the title to the front.
	first, err := x.ids(ctx, newest, titles)
	if err != nil {
		return err
	}
	inTitle := map[string]bool{}
	for _, id := range first {
		inTitle[id] = true
	}
	var front, rest []string
	for _, id := range ids {
		if inTitle[id] {
			front = append(front, id)
		} else {
			rest = append(rest, id)
		}
	}
	if len(ids) == maxRanked { // ids may lack some of them
		front = first
	}
	list := "[" + strings.Join(append(front, rest...), ",") + "]"

	// Collect the allowed texts of the page, and count all.
	err = x.each(ctx, func(scan func(...any) error) error {
		var name string
		if err := scan(&name); err != nil || ask.Allowed != nil && !ask.Allowed(name) {
			return err
		}
		if r.Total/PerPage == ask.Page {
			r.Names = append(r.Names, name)
		}
		r.Total++
		if r.Total == maxCounted {
			r.More = true
			return errEnough
		}
		return nil
	}, named, list)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

var errEnough = errors.New("enough results")

// ids returns the texts that match an expression.
func (x *Index) ids(ctx context.Context, query, match string) ([]string, error) {
	var list sql.NullString
	if err := x.row(ctx, query, match, maxRanked).Scan(&list); err != nil || !list.Valid {
		return nil, err
	}
	return strings.Split(list.String, ","), nil
}
