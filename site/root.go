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
	"runtime"
	"slices"
	"strings"
	"syscall"

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

// lstat returns the info of a name of which only the last element may be a link.
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
	return io.ReadAll(io.LimitReader(&fileReader{f, call, name}, maxNote+1))
}

// fileReader reads a file by single system calls.
type fileReader struct {
	*os.File
	call caller
	name string
}

// Read reads from the file.
func (r *fileReader) Read(p []byte) (n int, err error) {
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

// tree is an opened directory that is served, with all below it. Nothing outside
// it can be reached through it: names are opened below it without following any
// symbolic link; root follows those.
type tree struct {
	dir  string   // absolute, as the administrator names it
	real string   // absolute, all links resolved
	os   *os.Root // nil where there is openat2
	fd   int      // for openat2; -1 where there is none

	unused runtime.Cleanup // closes fd

	info   fs.FileInfo // of the directory
	listed bool        // it shows in the listing of the directory that it appears in
	owner  int         // whose files are served besides root's; or anyOwner
	device uint64      // the file system that it lies on
	remote bool        // which others may change without an event

	// plain opens a name that holds no link; if it does, it fails with errLink.
	plain func(name string) (*os.File, error)
}

// anyOwner is the owner of a tree whose files may be anybody's.
const anyOwner = -1

// openFlags: a FIFO must not block, and no terminal may become ours.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC

func openTree(dir string) (*tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: abs, real: real, fd: -1, owner: anyOwner}
	if !t.openBeneath() {
		if t.os, err = os.OpenRoot(abs); err != nil {
			return nil, err
		}
		t.plain = t.openWalking
	}
	if t.info, err = t.lstat("."); err != nil {
		t.close()
		return nil, err
	}
	t.device, t.remote = device(t.info), isRemote(abs)
	return t, nil
}

// exchanged reports whether the name of the tree leads to another directory by
// now, as it may before the watcher stands.
func (t *tree) exchanged() bool {
	named, err := os.Stat(t.dir)
	return err == nil && !os.SameFile(named, t.info)
}

// openWalking is plain for systems without openat2: os.Root keeps it inside.
func (t *tree) openWalking(name string) (*os.File, error) {
	for i := 0; i < len(name); i++ {
		if name[i] == '/' || i == len(name)-1 {
			info, err := t.os.Lstat(strings.TrimSuffix(name[:i+1], "/"))
			if err != nil {
				return nil, notThere(err)
			}
			if info.Mode()&fs.ModeSymlink != 0 {
				return nil, &fs.PathError{Op: "open", Path: name, Err: errLink}
			}
		}
	}
	f, err := t.os.OpenFile(name, openFlags, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket, or a FIFO without a reader
		err = &fs.PathError{Op: "open", Path: name, Err: errSpecial}
	}
	return f, err
}

// ownerOf returns the user whom a file belongs to.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return anyOwner
}

// notThere makes an error that says there cannot be such a name one that is
// fs.ErrNotExist.
func notThere(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return err
}

// lstat returns the info of a name of which only the last element may be a link.
func (t *tree) lstat(name string) (fs.FileInfo, error) {
	if t.os == nil {
		return t.lstatBeneath(name)
	}
	return t.os.Lstat(name)
}

// close closes a tree that nobody else uses. One that is used closes when it is
// not any more: to close it then, in the middle of a request, would leave its
// number to another file.
func (t *tree) close() {
	t.closeBeneath()
	if t.os != nil {
		_ = t.os.Close()
	}
}
