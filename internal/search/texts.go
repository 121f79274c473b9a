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
	MaxText  = 1 << 20 // indexed bytes of a text
	maxTitle = 1 << 10 // bytes of a title
)

// A Text is a document for Put.
type Text struct {
	Name  string // path below the root; a directory's ends in a slash
	Title string // texts with a word in the title come first
	Mark  uint64 // the caller's version of the text
	Body  string
}

// Put adds or replaces a text. It returns ErrFull if there is no room; the index then has no
// text of that name.
func (x *Index) Put(t Text) error {
	title := fold(t.Title[:min(len(t.Title), maxTitle)])
	body := fold(t.Body[:min(len(t.Body), MaxText)])
	top := topOf(t.Name)
	cost := int64(len(title)+len(body))*5/4 + int64(len(t.Name)) + 200
	return x.change(func(ctx context.Context) error {
		if err := x.remove(ctx, "name = ?", []byte(t.Name)); err != nil {
			return err
		}
		if x.full(top, cost) {
			return ErrFull
		}
		r, err := x.conn.ExecContext(ctx, "INSERT INTO text(title, body, path) VALUES(?, ?, ?)",
			title+marked(title), body, pathWords(t.Name))
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

// full reports whether there is no room for a text. When the index is nearly full, only
// top-level directories below the average size may add texts. The reserve is for them, until
// shrink removes texts of the largest ones.
func (x *Index) full(top string, cost int64) bool {
	if x.limit <= 0 || x.pages+cost <= x.limit*9/10 {
		return false
	}
	tops := len(x.usage)
	if x.usage[top] == 0 {
		tops++
	}
	return x.usage[top]+cost >= (x.stats.charged+cost)/int64(tops)
}

// shrink removes some texts while the index is too large: the newest of the largest top-level
// directory. It reports whether it has removed any, in a new batch.
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
	before := x.stats.charged
	x.mu.Unlock()
	return true, x.change(func(ctx context.Context) error {
		ids, err := x.column(ctx, "SELECT id FROM doc WHERE top = ? ORDER BY id DESC LIMIT ?",
			[]byte(most), batchTexts)
		for _, id := range ids {
			if err != nil || before-x.stats.charged >= x.excess {
				break
			}
			err = x.remove(ctx, "id = ?", id)
		}
		if err != nil {
			return err
		}
		x.excess -= before - x.stats.charged
		return x.exec(ctx, "INSERT INTO text(text, rank) VALUES('merge', 16)") // frees some pages
	})
}

// remove deletes the texts that match an SQL condition.
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
		if err := x.exec(ctx, "DELETE FROM text WHERE rowid = ?1; DELETE FROM doc WHERE id = ?1",
			r.id); err != nil {
			return err
		}
		x.charge(r.top, -r.cost, -1)
	}
	return nil
}

// Delete removes a text, if the index has it.
func (x *Index) Delete(name string) error {
	return x.change(func(ctx context.Context) error {
		return x.remove(ctx, "name = ?", []byte(name))
	})
}

// Directory returns the marks of the texts of a directory ("." for the root), by name, including
// the directory's own text. If files is not nil, it returns only those of the files.
func (x *Index) Directory(dir string, files []string) (marks map[string]uint64, err error) {
	where := "dir = ? OR name = ?"
	args := []any{[]byte(dir), []byte(DirName(dir))}
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

// Directories returns the directories that SetDirectory has recorded.
func (x *Index) Directories() (dirs []string, err error) {
	err = x.change(func(ctx context.Context) (err error) {
		dirs, err = x.column(ctx, "SELECT name FROM dir")
		return err
	})
	return dirs, err
}

// SetDirectory records a directory and its number of texts, including those without room in
// the index. If more is set, texts is added to the recorded number.
func (x *Index) SetDirectory(dir string, texts int, more bool) error {
	return x.change(func(ctx context.Context) error {
		var old int
		if err := x.row(ctx, "SELECT coalesce(sum(texts), -1) FROM dir WHERE name = ?",
			[]byte(dir)).Scan(&old); err != nil {
			return err
		}
		if more {
			texts += max(old, 0)
		}
		if old == texts {
			return nil
		}
		x.stats.Wanted += texts - max(old, 0)
		return x.exec(ctx, "INSERT OR REPLACE INTO dir(name, texts) VALUES(?, ?)",
			[]byte(dir), texts)
	})
}

// Forget removes a directory and everything below it.
func (x *Index) Forget(dir string) error {
	from, to := []byte(dir+"/"), []byte(dir+"0")
	return x.change(func(ctx context.Context) error {
		if err := x.remove(ctx, "name >= ? AND name < ?", from, to); err != nil {
			return err
		}
		const itself = "name = ? OR name >= ? AND name < ?"
		var texts int
		if err := x.row(ctx, "SELECT coalesce(sum(texts), 0) FROM dir WHERE "+itself, []byte(dir),
			from, to).Scan(&texts); err != nil {
			return err
		}
		x.stats.Wanted -= texts
		return x.exec(ctx, "DELETE FROM dir WHERE "+itself, []byte(dir), from, to)
	})
}

// DirName returns the name of a directory's own text.
func DirName(dir string) string {
	if dir == "." {
		return "/"
	}
	return dir + "/"
}

// parentOf returns the directory of a name, or "" for the root and for a directory's own text.
func parentOf(name string) string {
	if strings.HasSuffix(name, "/") {
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

// Each word of a title is indexed a second time with a mark in front, and each directory as a
// word with another mark. Searching for marked words is faster than restricting a search to a
// column. No word of a text or query contains these characters.
const (
	titleMark = "\ue000"
	pathMark  = "\ue001"
)

// marked returns the words of a title, each with the mark in front.
func marked(title string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(title) {
		b.WriteString(titleMark + word + " ")
	}
	return b.String()
}

// pathWords returns one word per directory above a name, for "in:phlog". The tokenizer would
// split a path into several words.
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
