package site

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophd/gophd/selector"
)

// root is everything that a site serves, under its names: the tree of its root
// directory, and other trees below names of their own. It never changes after it
// was made. Symbolic links are followed here, one by one, only where they stay in
// their tree; those of the root directory's tree may lead into another one, too,
// since only the administrator can make them.
type root struct {
	main  *tree
	trees map[string]*tree    // by name, such as "~bob"
	byDir map[string][]string // names of trees, "." too, by directory
	kids  map[string][]string // base names of trees, sorted, by the directory that they appear in
}

func openRoot(dir string) (*root, error) {
	main, err := openTree(dir)
	if err != nil {
		return nil, err
	}
	return (&root{main: main}).with(nil), nil
}

// with returns a root with other trees besides its main one.
func (r *root) with(trees map[string]*tree) *root {
	next := &root{main: r.main, trees: trees, byDir: map[string][]string{}, kids: map[string][]string{}}
	add := func(name string, t *tree) {
		next.byDir[t.real] = append(next.byDir[t.real], name)
		if t.dir != t.real {
			next.byDir[t.dir] = append(next.byDir[t.dir], name)
		}
	}
	add(".", r.main)
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		add(name, trees[name])
		next.kids[path.Dir(name)] = append(next.kids[path.Dir(name)], path.Base(name))
	}
	return next
}

// at returns the tree that a name lies in, and its name there.
func (r *root) at(name string) (t *tree, top, rest string) {
	if len(r.trees) > 0 {
		for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '/') {
			if t := r.trees[name[:end]]; t != nil {
				if end == len(name) {
					return t, name, "."
				}
				return t, name[:end], name[end+1:]
			}
		}
	}
	return r.main, ".", name
}

// isTop reports whether a real directory is the top of a tree.
func (r *root) isTop(real string) bool { return real == "." || r.trees[real] != nil }

// plain opens a name that holds no link; if it does, it fails with errLink.
func (r *root) plain(name string) (*os.File, error) {
	t, _, rest := r.at(name)
	return t.plain(rest)
}

// lstat tells what a name is that holds no link but for its last element.
func (r *root) lstat(name string) (fs.FileInfo, error) {
	t, _, rest := r.at(name)
	return t.lstat(rest)
}

// exchanged reports whether the name of the root directory leads to another one.
func (r *root) exchanged() bool { return r.main.exchanged() }

// local reports whether a file lies on the file system of its tree, and no other
// machine may change it without an event.
func (r *root) local(name string, info fs.FileInfo) bool {
	t, _, _ := r.at(name)
	return !t.remote && device(info) == t.device
}

var (
	errLink    = fmt.Errorf("symbolic link: %w", fs.ErrNotExist) // where there was none a moment ago
	errEscapes = fmt.Errorf("symbolic link leads out of the tree: %w", fs.ErrNotExist)
	errLoop    = fmt.Errorf("symbolic links form a loop: %w", fs.ErrNotExist)
	errForeign = fmt.Errorf("belongs to another user than its tree: %w", fs.ErrNotExist)
	errSpecial = fmt.Errorf("not a regular file or directory: %w", fs.ErrNotExist)
)

// owned reports whether a file belongs to whom it must to be served.
func (r *root) owned(name string, info fs.FileInfo) bool {
	t, _, _ := r.at(name)
	if t.owner == anyOwner {
		return true
	}
	uid := ownerOf(info)
	return uid == t.owner || uid == 0
}

// inside turns an absolute path to which a link in a tree leads into a name, if
// it is one that the link may lead to: in its own tree, or, from that of the root
// directory, in any.
func (r *root) inside(from *tree, target string) (name string, ok bool) {
	target = filepath.Clean(target)
	for dir := target; ; dir = filepath.Dir(dir) {
		for _, top := range r.byDir[dir] {
			if in, _, _ := r.at(top); in == from || from == r.main {
				rest := strings.TrimPrefix(strings.TrimPrefix(target, dir), "/")
				return selector.Join(top, cmp.Or(rest, ".")), true
			}
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// note reads an annotation.
func (r *root) note(call caller, name string) ([]byte, error) {
	f, info, _, err := r.open(call, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.IsDir() {
		return nil, errors.New("is a directory")
	}
	return io.ReadAll(io.LimitReader(&reader{f, call, name}, maxNote+1))
}

// reader reads a file by single system calls.
type reader struct {
	*os.File
	call caller
	name string
}

// Read reads from the file.
func (r *reader) Read(p []byte) (n int, err error) {
	if failed := r.call(r.name, func() error { n, err = r.File.Read(p); return nil }); failed != nil {
		return 0, failed
	}
	return n, err
}

// whoForbids finds the first element of a name that this process may not pass
// or read, for the administrator.
func (r *root) whoForbids(call caller, name string) string {
	at, err := r.resolve(call, name) // what was reached is what does not let us on
	need := "read (r)"
	if err != nil {
		need = "search (x)"
	}
	var info fs.FileInfo
	err = call(at, func() (err error) { info, err = r.lstat(at); return err })
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%q has mode %s, user %d needs %s", at, info.Mode(), os.Geteuid(), need)
}

// close closes all trees, which nobody else uses.
func (r *root) close() {
	r.main.close()
	for _, t := range r.trees {
		t.close()
	}
}
