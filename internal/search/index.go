// Package search is a full-text index of a site's texts, kept in SQLite (FTS5).
//
//	text  → words (words.go) → Put: a row of words, a row of what it was made from (texts.go)
//	query → parse (query.go) → Search: ranked names; other forms, spelling (search.go)
//	hit   → the caller reads the text again → Excerpt: its line, with the hits (line.go)
//
// The table of words holds no text: excerpts are made from the file's content when they
// are shown. Texts are hostile, so a text is read up to MaxText, a top-level
// directory has a share of the index, and a query has at most maxParts words.
package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// maxBatch is how many changes are made in one transaction.
const maxBatch = 500

var (
	// ErrFull reports that a text does not fit: the index, or the share of its
	// top-level directory, is used up.
	ErrFull = errors.New("the search index is full")

	// ErrUnsupported reports that SQLite cannot be built for this system.
	ErrUnsupported = errors.New("search is not available on this system")
)

// An Index holds texts by name. Its methods may be called concurrently; they run
// one after the other, on one connection.
type Index struct {
	mu    sync.Mutex
	db    *sql.DB
	conn  *sql.Conn
	limit int64
	usage map[string]int64 // bytes charged to each top-level directory
	stats IndexStats
	batch int  // changes since the last commit; 0: no transaction
	doubt bool // something failed: the next Open is to check the index
}

// IndexStats counts the contents of an index.
type IndexStats struct {
	Texts int
	Bytes int64 // as charged against the limit
}

// schema is made once. A change of the stored data raises the version; an index of
// another version is replaced. Words come to the tokenizer as they are compared.
const (
	file    = "search.db"
	version = 3
	schema  = `
CREATE TABLE doc(id INTEGER PRIMARY KEY, name BLOB UNIQUE NOT NULL, top BLOB NOT NULL, dir BLOB NOT NULL, mark INTEGER NOT NULL, cost INTEGER NOT NULL);
CREATE INDEX doc_top ON doc(top);
CREATE INDEX doc_dir ON doc(dir);
CREATE TABLE dir(name BLOB PRIMARY KEY, parent BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX dir_parent ON dir(parent);
CREATE TABLE state(clean INTEGER NOT NULL);
INSERT INTO state VALUES(1);
CREATE VIRTUAL TABLE text USING fts5(words, content='', contentless_delete=1, prefix='2 3', tokenize='ascii');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(text, 'row');
PRAGMA user_version = 3;`
)

// Open opens the index in a directory, or an empty one in memory if dir is "". An
// index that was not closed is checked first, and replaced by an empty one if it is
// damaged. The limit is in bytes; if it is not positive, there is none.
func Open(ctx context.Context, dir string, limit int64) (*Index, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	x, err := open(ctx, dir, limit)
	if err == nil || dir == "" || ctx.Err() != nil {
		return x, err
	}
	for _, name := range Files(dir) {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("replacing the search index: %w", err)
		}
	}
	return open(ctx, dir, limit)
}

// Files returns the names of the files of an index in a directory.
func Files(dir string) []string {
	var names []string
	for _, end := range []string{"", "-wal", "-shm"} {
		names = append(names, filepath.Join(dir, file+end))
	}
	return names
}

func open(ctx context.Context, dir string, limit int64) (x *Index, err error) {
	name := ":memory:"
	if dir != "" {
		name = "file:" + (&url.URL{Path: filepath.Join(dir, file)}).EscapedPath()
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("opening the search index: %w", err)
	}
	x = &Index{db: db, limit: limit}
	defer func() {
		if err != nil {
			_ = db.Close()
			x, err = nil, fmt.Errorf("opening the search index: %w", err)
		}
	}()
	if x.conn, err = db.Conn(ctx); err != nil {
		return x, err
	}
	if err := x.exec(ctx, `PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
		PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000; PRAGMA journal_size_limit=16777216;
		CREATE VIRTUAL TABLE temp.stem USING fts5(word, tokenize='porter unicode61')`); err != nil {
		return x, err
	}
	return x, x.check(ctx)
}

// check makes the tables of a new index and examines one that was not closed.
func (x *Index) check(ctx context.Context) error {
	var v, tables, clean int
	if err := x.row(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)").Scan(&v, &tables); err != nil {
		return err
	}
	if tables == 0 {
		if err := x.exec(ctx, schema); err != nil {
			return err
		}
	} else if v != version {
		return fmt.Errorf("the index has version %d, not %d", v, version)
	}
	if err := x.row(ctx, "SELECT clean FROM state").Scan(&clean); err != nil {
		return err
	}
	if clean == 0 {
		var verdict string
		if err := x.row(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
			return fmt.Errorf("the index is damaged: %s %w", verdict, err)
		}
		if err := x.exec(ctx, "INSERT INTO text(text) VALUES('integrity-check')"); err != nil {
			return err
		}
	}
	if err := x.exec(ctx, "UPDATE state SET clean = 0"); err != nil {
		return err
	}
	return x.count(ctx)
}

// count reads the charge of each top-level directory.
func (x *Index) count(ctx context.Context) error {
	x.usage, x.stats = map[string]int64{}, IndexStats{}
	return x.each(ctx, func(scan func(...any) error) error {
		var top string
		var cost int64
		var n int
		if err := scan(&top, &cost, &n); err != nil {
			return err
		}
		x.charge(top, cost, n)
		return nil
	}, "SELECT top, sum(cost), count(*) FROM doc GROUP BY top")
}

func (x *Index) charge(top string, cost int64, texts int) {
	x.stats.Bytes += cost
	x.stats.Texts += texts
	if x.usage[top] += cost; x.usage[top] <= 0 {
		delete(x.usage, top)
	}
}

func (x *Index) exec(ctx context.Context, query string, args ...any) error {
	_, err := x.conn.ExecContext(ctx, query, args...)
	return err
}

func (x *Index) row(ctx context.Context, query string, args ...any) *sql.Row {
	return x.conn.QueryRowContext(ctx, query, args...)
}

// each calls f for each row of a query, until f fails.
func (x *Index) each(ctx context.Context, f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := x.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column returns the first column of a query.
func (x *Index) column(ctx context.Context, query string, args ...any) (all []string, err error) {
	err = x.each(ctx, func(scan func(...any) error) error {
		var s string
		err := scan(&s)
		all = append(all, s)
		return err
	}, query, args...)
	return all, err
}

// Close commits the pending changes and closes the index.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	ctx := context.Background()
	err := x.commit(ctx)
	if err == nil && !x.doubt {
		err = x.exec(ctx, "UPDATE state SET clean = 1")
	}
	return errors.Join(err, x.conn.Close(), x.db.Close())
}

// Flush makes the changes so far durable.
func (x *Index) Flush() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.commit(context.Background())
}

// commit ends the transaction. One that cannot be committed is undone as a whole:
// the marks of its texts are gone with it, so that their next look puts them again.
func (x *Index) commit(ctx context.Context) error {
	if x.batch == 0 {
		return nil
	}
	x.batch = 0
	err := x.exec(ctx, "COMMIT")
	if err == nil {
		return nil
	}
	_ = x.exec(ctx, "ROLLBACK") // fails if COMMIT has rolled back
	return errors.Join(err, x.count(ctx))
}

// change runs f in the transaction of this batch. A change that has begun is not
// interrupted: its rows belong together.
func (x *Index) change(ctx context.Context, f func(ctx context.Context) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx)
	if x.batch++; x.batch == 1 {
		if err := x.exec(ctx, "BEGIN"); err != nil {
			x.batch = 0
			return err
		}
	}
	err := f(ctx)
	x.doubt = x.doubt || err != nil && !errors.Is(err, ErrFull)
	if err != nil || x.batch >= maxBatch {
		err = errors.Join(err, x.commit(ctx))
	}
	return err
}

// Stats returns the current counts.
func (x *Index) Stats() IndexStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stats
}
