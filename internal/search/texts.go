package search

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"strings"
)

const (
	MaxText  = 1 << 20 // bytes of a text that are indexed
	maxTitle = 1 << 10 // bytes of a title
)

// A Text is a document for Put.
type Text struct {
	Name    string    // a path below the root; of a directory with a slash at its end
	Title   string    // texts with a word in the title come first
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
	title, body := canonical([]byte(t.Title[:min(len(t.Title), maxTitle)])), canonical(content)
	top := topOf(t.Name)
	cost := int64(len(title)+len(body))*5/4 + int64(len(t.Name)) + 200
	return errors.Join(failed, x.change(ctx, func(ctx context.Context) error {
		if err := x.remove(ctx, "name = ?", []byte(t.Name)); err != nil {
			return err
		}
		if err := x.makeRoom(ctx, top, cost); err != nil {
			return err
		}
		if err := x.fence(ctx, x.limit*5/4/4096); err != nil {
			return err
		}
		r, err := x.conn.ExecContext(ctx, "INSERT INTO text(words) VALUES(?)", body+marked(title)+pathTerms(t.Name)+title)
		if err != nil {
			return full(err)
		}
		id, err := r.LastInsertId()
		if err == nil {
			err = x.exec(ctx, "INSERT INTO doc(id, name, top, dir, mark, cost) VALUES(?, ?, ?, ?, ?, ?)", id, []byte(t.Name), []byte(top), []byte(parentOf(t.Name)), int64(t.Mark), cost)
		}
		if err != nil {
			return errors.Join(full(err), x.fence(ctx, 0), x.exec(ctx, "DELETE FROM text WHERE rowid = ?", id))
		}
		x.charge(top, cost, 1)
		return nil
	}))
}

// A title's words are there twice, once with a mark, and a directory is a word with another:
// words of their own that need no look at where the same word stands elsewhere. No word of
// a text or a query has one of these characters.
const (
	titleMark = "\ue000"
	pathMark  = "\ue001"
)

// marked puts the mark before each word of a title.
func marked(title string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(title) {
		b.WriteString(titleMark + word + " ")
	}
	return b.String()
}

func full(err error) error {
	if strings.Contains(err.Error(), "full") { // SQLITE_FULL: the fence, or the disk
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// fence bounds the pages of the file a quarter above what was charged for: texts of
// many different words take more than they are charged. Deletions write, too, and must
// not meet it: 0 takes it away.
func (x *Index) fence(ctx context.Context, pages int64) error {
	if x.limit <= 0 {
		return nil
	}
	if pages == 0 {
		pages = 1 << 30
	}
	return x.exec(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", max(64, pages)))
}

// makeRoom takes texts out of the top-level directory that uses most, if the one
// that asks stays within its share. The newest texts of the other go first.
func (x *Index) makeRoom(ctx context.Context, top string, cost int64) error {
	for x.limit > 0 && x.stats.Bytes+cost > x.limit {
		most, tops := top, int64(len(x.usage))
		for other, n := range x.usage {
			if n > x.usage[most] || n == x.usage[most] && other < most {
				most = other
			}
		}
		if x.usage[top] == 0 {
			tops++
		}
		if most == top || x.usage[top]+cost > x.limit/tops {
			return ErrFull
		}
		if err := x.remove(ctx, "id = (SELECT max(id) FROM doc WHERE top = ?)", []byte(most)); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the texts for which a condition holds.
func (x *Index) remove(ctx context.Context, where string, args ...any) error {
	type row struct{ id, cost int64 }
	gone := map[row]string{}
	err := x.each(ctx, func(scan func(...any) error) error {
		var r row
		var top string
		err := scan(&r.id, &r.cost, &top)
		gone[r] = top
		return err
	}, "SELECT id, cost, top FROM doc WHERE "+where, args...)
	if err != nil || len(gone) == 0 {
		return err
	}
	if err := x.fence(ctx, 0); err != nil {
		return err
	}
	for r, top := range gone {
		if err := x.exec(ctx, "DELETE FROM text WHERE rowid = ?1; DELETE FROM doc WHERE id = ?1", r.id); err != nil {
			return err
		}
		x.charge(top, -r.cost, -1)
	}
	return nil
}

// Delete takes a text out, if it is there.
func (x *Index) Delete(ctx context.Context, name string) error {
	return x.change(ctx, func(ctx context.Context) error { return x.remove(ctx, "name = ?", []byte(name)) })
}

// Keep takes out the texts that keep refuses.
func (x *Index) Keep(ctx context.Context, keep func(name string) bool) error {
	x.mu.Lock()
	names, err := x.column(ctx, "SELECT name FROM doc")
	x.mu.Unlock()
	for _, name := range names {
		if err == nil && !keep(name) {
			err = x.Delete(ctx, name)
		}
	}
	return err
}

// Enter notes a directory, "." for the root. It returns the marks of its texts and of
// its own by their names, and the directories in it that are noted.
func (x *Index) Enter(ctx context.Context, dir string) (marks map[string]uint64, dirs []string, err error) {
	marks = map[string]uint64{}
	err = x.change(ctx, func(ctx context.Context) (err error) {
		if err := x.exec(ctx, "INSERT OR IGNORE INTO dir(name, parent) VALUES(?, ?)", []byte(dir), []byte(parentOf(dir))); err != nil {
			return err
		}
		if dirs, err = x.column(ctx, "SELECT name FROM dir WHERE parent = ?", []byte(dir)); err != nil {
			return err
		}
		return x.each(ctx, func(scan func(...any) error) error {
			var name string
			var mark int64
			err := scan(&name, &mark)
			marks[name] = uint64(mark)
			return err
		}, "SELECT name, mark FROM doc WHERE dir = ? OR name = ?", []byte(dir), []byte(DirName(dir)))
	})
	return marks, dirs, err
}

// Forget takes out a directory with all that lies below it.
func (x *Index) Forget(ctx context.Context, dir string) error {
	from, to := []byte(dir+"/"), []byte(dir+"0")
	return x.change(ctx, func(ctx context.Context) error {
		if err := x.remove(ctx, "name >= ? AND name < ?", from, to); err != nil {
			return err
		}
		return x.exec(ctx, "DELETE FROM dir WHERE name = ? OR name >= ? AND name < ?", []byte(dir), from, to)
	})
}

// DirName is the name of a directory's own text.
func DirName(dir string) string {
	if dir == "." {
		return "/"
	}
	return dir + "/"
}

// parentOf returns the directory that a name lies in. The root, and a directory's own
// text, lie in none.
func parentOf(name string) string {
	if name == "." || strings.HasSuffix(name, "/") {
		return ""
	}
	return path.Dir(name)
}

func topOf(name string) string {
	top, _, below := strings.Cut(name, "/")
	if !below {
		return ""
	}
	return top
}

// pathTerms is one word for each directory above a name, for "in:phlog".
func pathTerms(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if name[i] == '/' && i > 0 {
			b.WriteString(pathTerm(name[:i]) + " ")
		}
	}
	return b.String()
}

func pathTerm(dir string) string {
	h := fnv.New128a()
	_, _ = io.WriteString(h, dir)
	return fmt.Sprintf(pathMark+"%x", h.Sum(nil))
}
