// Package search is a full-text index of a site's texts, kept in SQLite (FTS5).
//
//	text  → words (words.go) → Put: a row of words, a row of what it was made from (texts.go)
//	query → parse (query.go) → Search: ranked names (search.go)
//	hit   → the caller reads the text again → Excerpt: its line, with the hits (excerpt.go)
//
// The table of words holds no text: excerpts are cut from the file when they are shown.
// FTS5's own snippet() and highlight() take time that grows with the square of the hits,
// and cannot be interrupted.
//
// Texts and queries are hostile. A text is read up to MaxText, a query has at most maxWords
// words and takes at most maxWork, and when the index is full, room is made at the expense
// of the top-level directory that uses most.
package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

var (
	// ErrFull reports that a text does not fit: the index is full, and its top-level
	// directory uses more than its share.
	ErrFull = errors.New("the search index is full")

	// ErrUnsupported reports that SQLite cannot be built for this system.
	ErrUnsupported = errors.New("search is not available on this system")

	// ErrDiscarded reports that the index was found to be damaged, and is empty now.
	ErrDiscarded = errors.New("the search index was damaged, and is made again")
)

// An Index holds texts by name. Its methods may be called concurrently; a mutex serializes them
// on one connection.
//
// Changes form a batch until Commit. If a change or Commit fails, the whole batch is rolled
// back. ErrFull is no failure.
type Index struct {
	dir   string // "": in memory
	limit int64

	mu     sync.Mutex
	db     *sql.DB
	conn   *sql.Conn
	usage  map[string]int64 // bytes charged to each top-level directory
	stats  IndexStats
	pages  int64 // bytes of the file at the last commit, plus what was charged since
	excess int64 // bytes of texts to remove
	batch  batch
	doubt  bool // a change has failed: the next Open checks the index
}

// IndexStats counts the contents of an index.
type IndexStats struct {
	Texts   int
	Wanted  int   // texts, including those without room
	charged int64 // estimated bytes of the texts
	Bytes   int64 // of the file, without free pages
}

// A batch is the open transaction.
type batch struct {
	begun bool
	texts int
	bytes int
	took  time.Duration
}

// A batch is due when it reaches one of these bounds. batchTime is processor time, where the
// system reports it, since on a busy machine small batches would cost more in total.
const (
	batchTexts = 100
	batchBytes = 1 << 20
	batchTime  = 20 * time.Millisecond
)

// schema creates the tables. A change of the stored data must raise the version; an index of
// another version is replaced. The tokenizer gets folded words.
const (
	file    = "search.db"
	version = 5
	schema  = `
CREATE TABLE doc(id INTEGER PRIMARY KEY, name BLOB UNIQUE NOT NULL, top BLOB NOT NULL, dir BLOB NOT NULL, mark INTEGER NOT NULL, cost INTEGER NOT NULL);
CREATE INDEX doc_top ON doc(top, id);
CREATE INDEX doc_dir ON doc(dir);
CREATE TABLE dir(name BLOB PRIMARY KEY, texts INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE state(clean INTEGER NOT NULL);
INSERT INTO state VALUES(1);
CREATE VIRTUAL TABLE text USING fts5(title, body, path, content='', contentless_delete=1, prefix='2 3',
	tokenize="unicode61 remove_diacritics 2 categories 'L* M* N* Co'");
PRAGMA user_version = 5;`
)

// Open opens the index in a directory, or creates one in memory if dir is "". It checks an
// index that was not closed, and replaces one that is damaged or of another version by an empty
// one. The limit is in bytes; if it is not positive, there is none.
func Open(ctx context.Context, dir string, limit int64) (*Index, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	x := &Index{dir: dir, limit: limit}
	err := x.open(ctx)
	if err != nil && dir != "" && ctx.Err() == nil {
		err = x.replace(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the search index: %w", err)
	}
	return x, nil
}

func (x *Index) open(ctx context.Context) (err error) {
	name := ":memory:"
	if x.dir != "" {
		path := filepath.Join(x.dir, file)
		if err := private(path); err != nil {
			return err
		}
		name = "file:" + (&url.URL{Path: path}).EscapedPath()
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	x.db = db
	defer func() {
		if err != nil {
			_ = x.db.Close()
		}
	}()
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return err
	}
	x.conn = conn
	if err := x.exec(ctx, `PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
		PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000; PRAGMA journal_size_limit=16777216`); err != nil {
		return err
	}
	return x.check(ctx)
}

// private sets the mode of an index's files to 0600. SQLite creates further files with the mode
// of the first.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_ = f.Close()
	for _, name := range Files(filepath.Dir(path)) {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() == 0o600 { // the sandbox forbids chmod
			continue
		}
		if err := os.Chmod(name, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// replace removes the index and opens an empty one.
func (x *Index) replace(ctx context.Context) error {
	if x.dir != "" {
		for _, name := range Files(x.dir) {
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("replacing the search index: %w", err)
			}
		}
	}
	return x.open(ctx)
}

// Files returns the names of the files of an index in a directory.
func Files(dir string) []string {
	var names []string
	for _, end := range []string{"", "-wal", "-shm"} {
		names = append(names, filepath.Join(dir, file+end))
	}
	return names
}

// check creates the tables of a new index, and checks one that was not closed.
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
		if err := x.row(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil ||
			verdict != "ok" {
			return fmt.Errorf("the index is damaged: %s %w", verdict, err)
		}
		var differ bool
		if err := x.row(ctx, `SELECT (SELECT count(*) FROM doc) <> (SELECT count(*) FROM text_docsize)
			OR EXISTS(SELECT 1 FROM doc WHERE id NOT IN (SELECT id FROM text_docsize))`).Scan(&differ); err != nil || differ {
			return fmt.Errorf("the tables of the index hold different texts: %w", err)
		}
	}
	if err := x.exec(ctx, "UPDATE state SET clean = 0"); err != nil {
		return err
	}
	return x.count(ctx)
}

// count computes the counts and charges from the tables.
func (x *Index) count(ctx context.Context) error {
	x.usage, x.stats = map[string]int64{}, IndexStats{}
	err := x.each(ctx, func(scan func(...any) error) error {
		var top string
		var cost int64
		var n int
		if err := scan(&top, &cost, &n); err != nil {
			return err
		}
		x.charge(top, cost, n)
		return nil
	}, "SELECT top, sum(cost), count(*) FROM doc GROUP BY top")
	if err != nil {
		return err
	}
	if err := x.row(ctx, "SELECT coalesce(sum(texts), 0) FROM dir").Scan(&x.stats.Wanted); err != nil {
		return err
	}
	return x.measure(ctx)
}

// measure reads the size of the used pages.
func (x *Index) measure(ctx context.Context) error {
	const used = `SELECT ((SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count))
		* (SELECT page_size FROM pragma_page_size)`
	err := x.row(ctx, used).Scan(&x.stats.Bytes)
	x.pages = x.stats.Bytes
	return err
}

func (x *Index) charge(top string, cost int64, texts int) {
	x.stats.charged += cost
	x.stats.Texts += texts
	x.pages += cost
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

// each calls f for each row of a query until f returns an error.
func (x *Index) each(ctx context.Context, f func(scan func(...any) error) error, query string,
	args ...any) error {
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

// Close commits the batch and closes the index.
func (x *Index) Close() error {
	err := x.Commit()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err == nil && !x.doubt {
		err = x.exec(context.Background(), "UPDATE state SET clean = 1")
	}
	return errors.Join(err, x.conn.Close(), x.db.Close())
}

// Stats returns the counts.
func (x *Index) Stats() IndexStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stats
}

// Due reports whether the batch should be committed.
func (x *Index) Due() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := x.batch
	return b.texts >= batchTexts || b.bytes >= batchBytes || b.took >= batchTime
}

// change calls f, which changes the index, within the batch.
func (x *Index) change(f func(ctx context.Context) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, worked := context.Background(), threadClock()
	if !x.batch.begun {
		if err := x.exec(ctx, "BEGIN"); err != nil {
			return x.failed(err)
		}
		x.batch.begun = true
	}
	err := f(ctx)
	x.batch.took += worked()
	if err != nil && !errors.Is(err, ErrFull) {
		err = x.failed(err)
	}
	return err
}

// Commit commits the batch. If the file then exceeds the limit, Commit removes texts, in further
// batches.
func (x *Index) Commit() error {
	if err := x.commit(true); err != nil {
		return err
	}
	for {
		more, err := x.shrink()
		if err != nil || !more {
			return err
		}
		if err := x.commit(false); err != nil {
			return err
		}
	}
}

// commit commits the batch. It does not measure the file after texts were removed for room, since
// their pages become free only when SQLite merges segments later.
func (x *Index) commit(measure bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.batch.begun {
		return nil
	}
	ctx := context.Background()
	if err := x.exec(ctx, "COMMIT"); err != nil {
		return x.failed(err)
	}
	x.batch = batch{}
	if !measure {
		return nil
	}
	if err := x.measure(ctx); err != nil {
		return x.failed(err)
	}
	if x.limit > 0 && x.stats.Bytes > x.limit {
		x.excess = x.limit / 10
	}
	return nil
}

// failed rolls back the batch after an error. It replaces a damaged index by an empty one.
func (x *Index) failed(err error) error {
	ctx := context.Background()
	x.doubt = true
	x.batch = batch{}
	_ = x.exec(ctx, "ROLLBACK") // fails if SQLite has rolled back by itself
	if !damaged(err) {
		return errors.Join(err, x.count(ctx))
	}
	_, _ = x.conn.Close(), x.db.Close()
	if replaced := x.replace(ctx); replaced != nil {
		return errors.Join(err, replaced)
	}
	x.doubt = false
	return fmt.Errorf("%w: %w", ErrDiscarded, err)
}
