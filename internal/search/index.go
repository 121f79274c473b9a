// Package search is a full-text index of a site's texts, kept in SQLite (FTS5).
//
//	text  → words (words.go) → Put: one row of terms, one of what it was made from (index.go)
//	query → parse (query.go) → Search: ranked names (search.go), other forms, spelling (suggest.go)
//	hit   → the caller reads the text again → Excerpt: its line, with the hits marked (line.go)
//
// The table of terms holds no text: excerpts are made from the file's content when they
// are shown. Texts are hostile, so a text is read up to MaxText, a top-level
// directory has a share of the index, and a query has at most maxParts parts.
package search

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	MaxText  = 1 << 20 // bytes of a text that are indexed
	maxTitle = 1 << 10 // bytes of a title
	maxBatch = 500     // changes in one transaction
)

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
	total int64
	texts int
	batch int // changes since the last commit; 0: no transaction
}

// schema is made once. A change of the stored data raises the version; an index of
// another version is replaced.
const (
	version = 1
	schema  = `
CREATE TABLE doc(id INTEGER PRIMARY KEY, name BLOB UNIQUE NOT NULL, top BLOB NOT NULL, dir BLOB NOT NULL, mark INTEGER NOT NULL, cost INTEGER NOT NULL, title TEXT NOT NULL);
CREATE INDEX doc_top ON doc(top);
CREATE INDEX doc_dir ON doc(dir);
CREATE TABLE dir(name BLOB PRIMARY KEY, parent BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX dir_parent ON dir(parent);
CREATE TABLE state(clean INTEGER NOT NULL);
INSERT INTO state VALUES(1);
CREATE VIRTUAL TABLE text USING fts5(title, body, path, content='', contentless_delete=1, prefix='2 3',
	tokenize="unicode61 remove_diacritics 2 categories 'L* N* M* Co'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(text, 'row');
PRAGMA user_version = 1;`
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
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(dir, file+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("replacing the search index: %w", err)
		}
	}
	return open(ctx, dir, limit)
}

const file = "search.db"

func open(ctx context.Context, dir string, limit int64) (x *Index, err error) {
	name := ":memory:"
	if dir != "" {
		name = "file:" + (&url.URL{Path: filepath.Join(dir, file)}).EscapedPath()
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("opening the search index: %w", err)
	}
	x = &Index{db: db, limit: limit, usage: map[string]int64{}}
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
	var verdict string
	if err := x.conn.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)").Scan(&v, &tables); err != nil {
		return err
	}
	if tables == 0 {
		if err := x.exec(ctx, schema); err != nil {
			return err
		}
	} else if v != version {
		return fmt.Errorf("the index has version %d, not %d", v, version)
	}
	if err := x.conn.QueryRowContext(ctx, "SELECT clean FROM state").Scan(&clean); err != nil {
		return err
	}
	if clean == 0 {
		if err := x.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
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
	clear(x.usage)
	x.total, x.texts = 0, 0
	rows, err := x.conn.QueryContext(ctx, "SELECT top, sum(cost), count(*) FROM doc GROUP BY top")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var top string
		var cost int64
		var n int
		if err := rows.Scan(&top, &cost, &n); err != nil {
			return err
		}
		x.usage[top], x.total, x.texts = cost, x.total+cost, x.texts+n
	}
	return rows.Err()
}

func (x *Index) exec(ctx context.Context, query string, args ...any) error {
	_, err := x.conn.ExecContext(ctx, query, args...)
	return err
}

// Close commits the pending changes and closes the index.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	ctx := context.Background()
	err := x.commit(ctx)
	if err == nil {
		err = x.exec(ctx, "UPDATE state SET clean = 1")
	}
	return errors.Join(err, x.conn.Close(), x.db.Close())
}

// Flush makes the changes so far durable.
func (x *Index) Flush(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.commit(ctx)
}

func (x *Index) begin(ctx context.Context) error {
	if x.batch++; x.batch > 1 {
		return nil
	}
	return x.exec(ctx, "BEGIN")
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

// change runs f in the transaction of this batch.
func (x *Index) change(ctx context.Context, f func() error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.begin(ctx); err != nil {
		return err
	}
	if err := f(); err != nil {
		return errors.Join(err, x.commit(ctx))
	}
	if x.batch >= maxBatch {
		return x.commit(ctx)
	}
	return nil
}

// A Text is a document for Put.
type Text struct {
	Name    string    // a path below the root; of a directory with a slash at its end
	Title   string    // its words count ten times
	Mark    uint64    // for the caller: what the text was made from
	Content io.Reader // may be nil
}

// Put adds a text, or replaces the one of that name. It returns ErrFull, and
// leaves the text out, if there is no room for it. If Content fails, what was
// read before is indexed, and Put returns that error.
func (x *Index) Put(ctx context.Context, t Text) error {
	var content []byte
	var failed error
	if t.Content != nil {
		content, failed = io.ReadAll(io.LimitReader(t.Content, MaxText))
	}
	title := strings.ToValidUTF8(cut(t.Title, maxTitle), "\uFFFD")
	words, body := canonical([]byte(title)), canonical(content)
	top := topOf(t.Name)
	cost := int64(len(words)+len(body))*5/4 + int64(len(t.Name)+len(title)) + 200
	return errors.Join(failed, x.change(ctx, func() error {
		if err := x.remove(ctx, t.Name); err != nil {
			return err
		}
		if err := x.makeRoom(ctx, top, cost); err != nil {
			return err
		}
		if err := x.fence(ctx, x.total+cost); err != nil {
			return err
		}
		r, err := x.conn.ExecContext(ctx, "INSERT INTO doc(name, top, dir, mark, cost, title) VALUES(?, ?, ?, ?, ?, ?)", []byte(t.Name), []byte(top), []byte(parentOf(t.Name)), int64(t.Mark), cost, title)
		if err != nil {
			return full(err)
		}
		id, _ := r.LastInsertId()
		if err := x.exec(ctx, "INSERT INTO text(rowid, title, body, path) VALUES(?, ?, ?, ?)", id, words, body, pathTerms(t.Name)); err != nil {
			_ = x.exec(ctx, "DELETE FROM doc WHERE id = ?", id)
			return full(err)
		}
		x.charge(top, cost, 1)
		return nil
	}))
}

func full(err error) error {
	if strings.Contains(err.Error(), "full") { // SQLITE_FULL: the fence, or the disk
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

func (x *Index) charge(top string, cost int64, texts int) {
	x.total += cost
	x.texts += texts
	if x.usage[top] += cost; x.usage[top] <= 0 {
		delete(x.usage, top)
	}
}

// fence bounds the pages of the file a quarter above what was charged for: texts of
// many different words take more than they are charged.
func (x *Index) fence(ctx context.Context, room int64) error {
	if x.limit <= 0 || room < x.limit {
		return nil
	}
	return x.exec(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", max(64, x.limit*5/4/4096)))
}

// makeRoom takes texts out of the top-level directory that uses most, if the one
// that asks stays within its share. The newest texts of the other go first.
func (x *Index) makeRoom(ctx context.Context, top string, cost int64) error {
	for x.limit > 0 && x.total+cost > x.limit {
		most := top
		for other, n := range x.usage {
			if n > x.usage[most] || n == x.usage[most] && other < most {
				most = other
			}
		}
		tops := int64(len(x.usage))
		if x.usage[top] == 0 {
			tops++
		}
		if most == top || x.usage[top]+cost > x.limit/tops {
			return ErrFull
		}
		var name string
		if err := x.conn.QueryRowContext(ctx, "SELECT name FROM doc WHERE top = ? ORDER BY id DESC LIMIT 1", []byte(most)).Scan(&name); err != nil {
			return err
		}
		if err := x.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Delete takes a text out, if it is there.
func (x *Index) Delete(ctx context.Context, name string) error {
	return x.change(ctx, func() error { return x.remove(ctx, name) })
}

func (x *Index) remove(ctx context.Context, name string) error {
	var id, cost int64
	err := x.conn.QueryRowContext(ctx, "SELECT id, cost FROM doc WHERE name = ?", []byte(name)).Scan(&id, &cost)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil { // a deletion writes, too: it must not meet the fence
		err = x.exec(ctx, "PRAGMA max_page_count = 1073741823")
	}
	if err == nil {
		err = x.exec(ctx, "DELETE FROM text WHERE rowid = ?", id)
	}
	if err == nil {
		err = x.exec(ctx, "DELETE FROM doc WHERE id = ?", id)
	}
	if err == nil {
		x.charge(topOf(name), -cost, -1)
	}
	return err
}

// Mark returns the mark of a text; ok reports whether it is in the index.
func (x *Index) Mark(ctx context.Context, name string) (mark uint64, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var m int64
	err := x.conn.QueryRowContext(ctx, "SELECT mark FROM doc WHERE name = ?", []byte(name)).Scan(&m)
	return uint64(m), err == nil
}

// IndexStats counts the contents of an index.
type IndexStats struct {
	Texts int
	Bytes int64 // as charged against the limit
}

// Stats returns the current counts.
func (x *Index) Stats() IndexStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	return IndexStats{Texts: x.texts, Bytes: x.total}
}

func topOf(name string) string {
	top, _, below := strings.Cut(name, "/")
	if !below {
		return ""
	}
	return top
}

// pathTerms is one term for each directory above a name, for "in:phlog".
func pathTerms(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if name[i] == '/' && i > 0 {
			b.WriteString(pathTerm(name[:i]))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func pathTerm(dir string) string {
	h := fnv.New128a()
	_, _ = io.WriteString(h, dir)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// canonical is a text as the words it is compared by.
func canonical(text []byte) string {
	var b bytes.Buffer
	b.Grow(len(text))
	for sp := split(text); sp.next(); {
		b.Write(sp.word)
		b.WriteByte(' ')
	}
	return b.String()
}

func cut(s string, n int) string { return s[:min(len(s), n)] }
