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

// open opens a file or directory by its name, following links that stay where
// they may, and returns its real name: the same if there was no link. What is
// neither file nor directory is refused, and what belongs to another than the
// owner of its tree.
func (r *root) open(name string) (f *os.File, info fs.FileInfo, real string, err error) {
	real = name
	f, err = r.plain(name)
	// A link that is swapped between the two steps is found out by plain.
	for try := 0; errors.Is(err, errLink) && try < 3; try++ {
		if real, _, err = r.resolve(name); err == nil {
			f, err = r.plain(real)
		}
	}
	if err != nil {
		return nil, nil, real, err
	}
	info, err = f.Stat()
	switch {
	case err != nil:
	case !info.IsDir() && !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: name, Err: errSpecial}
	case !r.owned(real, info):
		err = &fs.PathError{Op: "open", Path: name, Err: errForeign}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, real, err
	}
	return f, info, real, nil
}

// owned reports whether a file belongs to whom it must to be served.
func (r *root) owned(name string, info fs.FileInfo) bool {
	t, _, _ := r.at(name)
	if t.owner == anyOwner {
		return true
	}
	uid := ownerOf(info)
	return uid == t.owner || uid == 0
}

// maxLinks is how many symbolic links a name may pass, as in Linux.
const maxLinks = 40

// resolve follows all links of a name and returns one that has none, and the
// real directories and the file that its elements stand for, as far as it got.
//
// A name that passes the same real directory twice is refused: so links make
// no endless tree, and the selectors of a site can be counted.
func (r *root) resolve(name string) (real string, chain []string, err error) {
	real, chain = ".", []string{"."}
	var t trail
	for elem := range strings.SplitSeq(name, "/") {
		if real, err = r.step(real, elem, &t); err != nil {
			return "", chain, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		for _, passed := range chain {
			if passed == real && name != "." {
				return "", chain, &fs.PathError{Op: "open", Path: name, Err: errLoop}
			}
		}
		chain = append(chain, real)
	}
	return real, chain, nil
}

// trail is what was passed on the way to where links lead.
type trail struct {
	links  int
	passed []string // real directories in which a name was looked up
}

// step resolves one element in a real directory.
func (r *root) step(dir, elem string, t *trail) (string, error) {
	at := dir
	from, _, _ := r.at(dir) // the tree of the link that is followed
	pending := []string{elem}
	for len(pending) > 0 {
		elem, pending = pending[0], pending[1:]
		if elem == "" || elem == "." {
			continue
		}
		if elem == ".." {
			in, _, rest := r.at(at)
			if rest != "." {
				at = path.Dir(at)
				continue
			}
			outside := filepath.Join(append([]string{in.real, ".."}, pending...)...)
			name, inside := r.inside(from, outside)
			if !inside {
				return "", errEscapes
			}
			at, pending = ".", strings.Split(name, "/")
			continue
		}
		t.passed = append(t.passed, at)
		next := selector.Join(at, elem)
		info, err := r.lstat(next)
		if err != nil {
			return "", notThere(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if t.links++; t.links > maxLinks {
			return "", errLoop
		}
		in, _, rest := r.at(next)
		target, err := in.readlink(rest)
		if err != nil {
			return "", notThere(err)
		}
		if from = in; filepath.IsAbs(target) {
			var inside bool
			if target, inside = r.inside(from, target); !inside {
				return "", errEscapes
			}
			at = "."
		}
		pending = append(strings.Split(filepath.ToSlash(target), "/"), pending...)
	}
	return at, nil
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
func (r *root) note(name string) ([]byte, error) {
	f, info, _, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.IsDir() {
		return nil, errors.New("is a directory")
	}
	return io.ReadAll(io.LimitReader(f, maxNote+1))
}

// whoForbids finds the first element of a name that this process may not pass
// or read, for the administrator.
func (r *root) whoForbids(name string) string {
	_, chain, err := r.resolve(name)
	at := chain[len(chain)-1] // what was reached is what does not let us on
	need := "read (r)"
	if err != nil {
		need = "search (x)"
	}
	info, statErr := r.lstat(at)
	if statErr != nil {
		return statErr.Error()
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
