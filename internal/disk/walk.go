package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gophd/gophd/selector"
)

// A name that contains a symbolic link is walked: from directory to directory, and
// through each link, so that every step stays inside the root. The walk returns the
// real name, which has no link, and Open opens that. If an author puts a link there
// meanwhile, the open fails with errLink, and the walk begins again.
//
// An author can make links that lead through links that lead through links. So a name
// has a budget for its links and for the elements of all their targets. A step costs
// the same at any depth, and fails if its Caller has been cancelled.

// The budget of a name.
const (
	MaxLinks        = 40  // of a name, as in Linux
	MaxLinkElements = 255 // of the targets of all links of a name
	maxTries        = 3   // walks of a name whose links are exchanged meanwhile, opens of a busy file
)

// Why links are not followed.
var (
	ErrTooManyLinks = fmt.Errorf("too many links: %w", fs.ErrNotExist)
	errExchanged    = fmt.Errorf("symbolic links are exchanged faster than they can be followed: %w", fs.ErrNotExist)
)

// A Handle is an opened file or directory of a Root.
type Handle struct {
	File
	Info     fs.FileInfo
	Revision Revision
	Real     string // its name without links
}

// Open opens a file or directory by its name, following links that stay where they
// may. It refuses special files, and files of other users than root and the tree's
// owner.
func (r *Root) Open(call Caller, name string) (f *Handle, err error) {
	real, err := r.reach(call, name, func(t *Tree, rest string) (err error) {
		f, err = t.handle(rest)
		return err
	})
	switch {
	case err != nil && f != nil:
	case err != nil:
		return nil, openError(name, err)
	case !f.Info.IsDir() && !f.Info.Mode().IsRegular():
		err = errSpecial
	case !r.Owned(real, f.Revision):
		err = ErrForeign
	default:
		f.Real = real
		return f, nil
	}
	_ = f.Close()
	return nil, openError(name, err)
}

// reach calls do for a name, and if that contains a link, for its real name, which reach
// returns.
func (r *Root) reach(call Caller, name string,
	do func(t *Tree, rest string) error) (real string, err error) {
	real = name
	for try := 0; ; try++ {
		t, _, rest := r.At(real)
		err = call(real, func() error { return do(t, rest) })
		if err == nil {
			return real, t.spelled(call, real, rest)
		}
		if !errors.Is(err, errLink) {
			return real, err
		}
		if try == maxTries {
			return real, errExchanged
		}
		if real, err = r.Resolve(call, name); err != nil {
			return real, err
		}
	}
}

// OpenReal opens a name that contains no link. It does not check the owner.
func (r *Root) OpenReal(call Caller, real string) (f *Handle, err error) {
	t, _, rest := r.At(real)
	if err = call(real, func() (err error) { f, err = t.handle(rest); return err }); err == nil {
		f.Real = real
	}
	return f, err
}

// handle opens a name that contains no link.
func (t *Tree) handle(name string) (*Handle, error) {
	opened, err := t.open(name)
	if err != nil {
		return nil, err
	}
	f := &Handle{File: opened}
	if f.Revision, err = t.of(name, opened); err == nil {
		f.Info, err = f.Stat()
	}
	if err == nil && isWithheld(f.Revision) {
		err = errWithheld
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// openError returns the error for a name that cannot be opened. A name that was exchanged for
// another file or a link after it was resolved counts as absent.
func openError(name string, err error) error {
	var why syscall.Errno
	switch {
	case errors.Is(err, ErrBusy): // it is there
	case !errors.As(err, &why) && errors.As(err, new(*fs.PathError)) &&
		!errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist) // os.Root has seen it lead out
	case why == syscall.ELOOP || why == syscall.EXDEV || why == syscall.EINVAL ||
		why == syscall.ENXIO:
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	if said := (*fs.PathError)(nil); errors.As(err, &said) && said.Path == name {
		return notThere(err)
	}
	return &fs.PathError{Op: "open", Path: name, Err: notThere(err)}
}

// WhoForbids finds the first element of a name that this process may not pass
// or read, for the administrator.
func (r *Root) WhoForbids(call Caller, name string) string {
	at, err := r.Resolve(call, name) // the element that it stops at is the one to report
	need := "read (r)"
	if err != nil {
		need = "search (x)"
	}
	s, err := r.Lstat(call, at)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%q has mode %s, user %d needs %s", at, s.FileMode(), os.Geteuid(), need)
}

// Resolve follows all links of a name and returns one that has none; if it cannot,
// how far it got.
//
// A name that passes the same real directory twice is refused: so links make no
// endless tree, and the selectors of a site can be counted.
func (r *Root) Resolve(call Caller, name string) (real string, err error) {
	w := r.walk(call, ".")
	defer w.leave()
	before := []string{"."}
	for elem := range strings.SplitSeq(name, "/") {
		if err := w.step(elem); err != nil {
			return w.at, err
		}
		for _, dir := range before {
			if dir == w.at && name != "." {
				return w.at, errLoop
			}
		}
		before = append(before, w.at)
	}
	return w.at, nil
}

// Follow resolves one element, which may be a link, in a real directory. It returns the
// real name, and the real directories that it passed: as long as those do not change,
// the link has the same target.
func (r *Root) Follow(call Caller, dir, elem string) (real string, passed []string, err error) {
	w := r.walk(call, dir)
	defer w.leave()
	err = w.step(elem)
	return w.at, w.passed, err
}

// walk is on the way through a name.
type walk struct {
	root   *Root
	call   Caller
	at     string   // the real name that was reached
	fd     int      // of that, for openat2(2); -1 if it is not open
	passed []string // real directories in which elements were looked up

	links, elements int // of the links that were followed
}

func (r *Root) walk(call Caller, at string) *walk {
	return &walk{root: r, call: call, at: at, fd: -1}
}

// step resolves one element of a name in the directory that was reached.
func (w *walk) step(elem string) error {
	from, _, _ := w.root.At(w.at) // the tree of the link that is followed
	for pending := []string{elem}; len(pending) > 0; {
		elem, pending = pending[0], pending[1:]
		if elem == "" || elem == "." {
			continue
		}
		if elem == ".." {
			in, _, rest := w.root.At(w.at)
			if rest != "." {
				w.jump(path.Dir(w.at))
				continue
			}
			outside := filepath.Join(append([]string{in.real, ".."}, pending...)...)
			name, inside := w.root.inside(from, outside)
			if !inside {
				return ErrEscapes
			}
			w.jump(".")
			pending = strings.Split(name, "/")
			continue
		}
		in, _, _ := w.root.At(selector.Join(w.at, elem))
		target, err := w.look(elem)
		if err != nil {
			return err
		}
		if target == "" {
			continue
		}
		if from = in; filepath.IsAbs(target) {
			var inside bool
			if target, inside = w.root.inside(from, target); !inside {
				return ErrEscapes
			}
			w.jump(".")
		}
		more := strings.Split(filepath.ToSlash(target), "/")
		w.links, w.elements = w.links+1, w.elements+len(more)
		if w.links > MaxLinks || w.elements > MaxLinkElements {
			return ErrTooManyLinks
		}
		pending = append(more, pending...)
	}
	return nil
}

// look goes to an element of the directory that was reached, or returns where it
// leads if it is a link.
func (w *walk) look(elem string) (target string, err error) {
	w.passed = append(w.passed, w.at)
	next := selector.Join(w.at, elem)
	t, _, rest := w.root.At(next)
	if rest == "." { // the top of a tree
		w.jump(next)
		return "", nil
	}
	err = w.call(next, func() error {
		if target, err = t.files.readlink(w, rest); err == nil {
			err = t.spelledIn(path.Dir(rest), elem)
		}
		return err
	})
	if err == nil && target == "" {
		w.at = next
	}
	return target, notThere(err)
}

// leave closes the directory that was reached.
func (w *walk) leave() {
	if w.fd >= 0 {
		_ = syscall.Close(w.fd)
		w.fd = -1
	}
}

// jump goes to a directory by its real name.
func (w *walk) jump(real string) {
	w.leave()
	w.at = real
}

// CallReader reads a file by single system calls.
type CallReader struct {
	*Handle
	Call Caller
}

// Read reads from the file.
func (r *CallReader) Read(p []byte) (n int, err error) {
	if failed := r.Call(r.Real, func() error {
		n, err = r.File.Read(p)
		return nil
	}); failed != nil {
		return 0, failed
	}
	return n, err
}
