package search

import (
	"context"
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
	Name  string // a path below the root; of a directory with a slash at its end
	Title string // texts with a word in the title come first
	Mark  uint64 // for the caller: what the text was made from
	Body  string
}

// Put adds a text, or replaces the one of that name. It returns ErrFull, and leaves the
// text out, if there is no room for it.
func (x *Index) Put(t Text) error {
	title, body := fold(t.Title[:min(len(t.Title), maxTitle)]), fold(t.Body[:min(len(t.Body), MaxText)])
	top := topOf(t.Name)
	cost := int64(len(title)+len(body))*5/4 + int64(len(t.Name)) + 200
	return x.change(func(ctx context.Context) error {
		if err := x.remove(ctx, "name = ?", []byte(t.Name)); err != nil {
			return err
		}
		if x.full(top, cost) {
			return ErrFull
		}
		r, err := x.conn.ExecContext(ctx, "INSERT INTO text(title, body, path) VALUES(?, ?, ?)", title+marked(title), body, pathWords(t.Name))
		if err != nil {
			return err
		}
		id, err := r.LastInsertId()
		if err != nil {
			return err
		}
		err = x.exec(ctx, "INSERT INTO doc(id, name, top, dir, mark, cost) VALUES(?, ?, ?, ?, ?, ?)",
			id, []byte(t.Name), []byte(top), []byte(parentOf(t.Name)), int64(t.Mark), cost)
		if err != nil {
			return err
		}
		x.charge(top, cost, 1)
		x.batch.texts++
		x.batch.bytes += len(title) + len(body)
		return nil
	})
}

// full reports whether a text must be left out. When the index is nearly full, only
// directories that use less than the average may add to it. What is left then is room for
// them until shrink takes texts of those that use most.
func (x *Index) full(top string, cost int64) bool {
	if x.limit <= 0 || x.pages+cost <= x.limit*9/10 {
		return false
	}
	tops := len(x.usage)
	if x.usage[top] == 0 {
		tops++
	}
	return x.usage[top]+cost >= (x.stats.Charged+cost)/int64(tops)
}

// shrink removes some of the texts that are too much, the newest of the top-level directory
// that is charged most, and reports whether it has. It begins a batch.
func (x *Index) shrink() (more bool, err error) {
	x.mu.Lock()
	if x.excess <= 0 || len(x.usage) == 0 {
		x.excess = 0
		x.mu.Unlock()
		return false, nil
	}
	most := ""
	for top, n := range x.usage {
		if n > x.usage[most] || n == x.usage[most] && top < most {
			most = top
		}
	}
	before := x.stats.Charged
	x.mu.Unlock()
	return true, x.change(func(ctx context.Context) error {
		ids, err := x.column(ctx, "SELECT id FROM doc WHERE top = ? ORDER BY id DESC LIMIT ?", []byte(most), batchTexts)
		for _, id := range ids {
			if err != nil || before-x.stats.Charged >= x.excess {
				break
			}
			err = x.remove(ctx, "id = ?", id)
		}
		if err != nil {
			return err
		}
		x.excess -= before - x.stats.Charged
		return x.exec(ctx, "INSERT INTO text(text, rank) VALUES('merge', 16)") // frees pages, some at a time
	})
}

// remove deletes the texts for which a condition holds.
func (x *Index) remove(ctx context.Context, where string, args ...any) error {
	type row struct {
		id, cost int64
		top      string
	}
	var gone []row
	err := x.each(ctx, func(scan func(...any) error) error {
		var r row
		err := scan(&r.id, &r.cost, &r.top)
		gone = append(gone, r)
		return err
	}, "SELECT id, cost, top FROM doc WHERE "+where, args...)
	if err != nil {
		return err
	}
	for _, r := range gone {
		if err := x.exec(ctx, "DELETE FROM text WHERE rowid = ?1; DELETE FROM doc WHERE id = ?1", r.id); err != nil {
			return err
		}
		x.charge(r.top, -r.cost, -1)
	}
	return nil
}

// Delete takes a text out, if it is there.
func (x *Index) Delete(name string) error {
	return x.change(func(ctx context.Context) error { return x.remove(ctx, "name = ?", []byte(name)) })
}

// Directory returns the marks of the texts that the index has of a directory, "." for the
// root, and of its own text, by their names; or only those of some files.
func (x *Index) Directory(dir string, files []string) (marks map[string]uint64, err error) {
	where, args := "dir = ? OR name = ?", []any{[]byte(dir), []byte(DirName(dir))}
	if files != nil {
		where, args = "name IN (''"+strings.Repeat(", ?", len(files))+")", nil
		for _, f := range files {
			args = append(args, []byte(path.Join(dir, f)))
		}
	}
	marks = map[string]uint64{}
	err = x.change(func(ctx context.Context) error {
		return x.each(ctx, func(scan func(...any) error) error {
			var name string
			var mark int64
			err := scan(&name, &mark)
			marks[name] = uint64(mark)
			return err
		}, "SELECT name, mark FROM doc WHERE "+where, args...)
	})
	return marks, err
}

// Directories returns all directories of SetDirectory.
func (x *Index) Directories() (dirs []string, err error) {
	err = x.change(func(ctx context.Context) (err error) {
		dirs, err = x.column(ctx, "SELECT name FROM dir")
		return err
	})
	return dirs, err
}

// SetDirectory notes a directory, and how many texts it has, those included that do not
// fit; or how many more.
func (x *Index) SetDirectory(dir string, texts int, more bool) error {
	return x.change(func(ctx context.Context) error {
		var old int
		if err := x.row(ctx, "SELECT coalesce(sum(texts), -1) FROM dir WHERE name = ?", []byte(dir)).Scan(&old); err != nil {
			return err
		}
		if more {
			texts += max(old, 0)
		}
		if old == texts {
			return nil
		}
		x.stats.Wanted += texts - max(old, 0)
		return x.exec(ctx, "INSERT OR REPLACE INTO dir(name, texts) VALUES(?, ?)", []byte(dir), texts)
	})
}

// Forget takes out a directory with all that lies below it.
func (x *Index) Forget(dir string) error {
	from, to := []byte(dir+"/"), []byte(dir+"0")
	return x.change(func(ctx context.Context) error {
		if err := x.remove(ctx, "name >= ? AND name < ?", from, to); err != nil {
			return err
		}
		const itself = "name = ? OR name >= ? AND name < ?"
		var texts int
		if err := x.row(ctx, "SELECT coalesce(sum(texts), 0) FROM dir WHERE "+itself, []byte(dir), from, to).Scan(&texts); err != nil {
			return err
		}
		x.stats.Wanted -= texts
		return x.exec(ctx, "DELETE FROM dir WHERE "+itself, []byte(dir), from, to)
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

// A word of a title is there twice, once with a mark, and a directory is a word with another
// mark: to look for those is quicker than to look where in a text each word stands. No word of
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

// pathWords is one word for each directory above a name, for "in:phlog". A path itself
// would be cut into several.
func pathWords(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if name[i] == '/' && i > 0 {
			b.WriteString(pathWord(name[:i]) + " ")
		}
	}
	return b.String()
}

func pathWord(dir string) string {
	h := fnv.New128a()
	_, _ = io.WriteString(h, dir)
	return fmt.Sprintf(`%s%x`, pathMark, h.Sum(nil))
}
