package search

import (
	"context"
	"strings"
)

// Directories: the index knows which it has, so that the one that fills it need not.

// AddDir notes a directory, "." for the root. It does nothing if it is there.
func (x *Index) AddDir(ctx context.Context, dir string) error {
	return x.change(ctx, func() error {
		return x.exec(ctx, "INSERT OR IGNORE INTO dir(name, parent) VALUES(?, ?)", []byte(dir), []byte(parentOf(dir)))
	})
}

// parentOf returns the directory that a name lies in. The root, and a directory's own
// text, lie in none.
func parentOf(name string) string {
	i := strings.LastIndexByte(name, '/')
	switch {
	case i == len(name)-1 && i >= 0, name == ".":
		return ""
	case i < 0:
		return "."
	}
	return name[:i]
}

// Contents returns the names of the texts and of the directories that lie in a
// directory, without those below them. A directory's own text is none of them.
func (x *Index) Contents(ctx context.Context, dir string) (texts, dirs []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.column(ctx, "SELECT name FROM doc WHERE dir = ?", []byte(dir)), x.column(ctx, "SELECT name FROM dir WHERE parent = ?", []byte(dir))
}

// Forget takes out a directory with all that lies below it.
func (x *Index) Forget(ctx context.Context, dir string) error {
	return x.sweep(ctx, dir, func(string) bool { return false })
}

// Keep takes out the texts that keep refuses.
func (x *Index) Keep(ctx context.Context, keep func(name string) bool) error {
	return x.sweep(ctx, ".", keep)
}

func (x *Index) sweep(ctx context.Context, dir string, keep func(name string) bool) error {
	x.mu.Lock()
	from, to := []byte(dir+"/"), []byte(dir+"0")
	query, args := "SELECT name FROM doc WHERE name >= ? AND name < ?", []any{from, to}
	if dir == "." {
		query, args = "SELECT name FROM doc", nil
	}
	names := x.column(ctx, query, args...)
	x.mu.Unlock()
	for _, name := range names {
		if keep(name) {
			continue
		}
		if err := x.Delete(ctx, name); err != nil {
			return err
		}
	}
	if dir == "." {
		return nil
	}
	return x.change(ctx, func() error {
		return x.exec(ctx, "DELETE FROM dir WHERE name = ?1 OR name >= ?2 AND name < ?3", []byte(dir), from, to)
	})
}
