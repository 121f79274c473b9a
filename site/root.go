package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/gophd/gophd/selector"
)

// root is an opened content root. Nothing outside it can be reached through
// it: names are opened below it without following any symbolic link, and links
// are followed here, one by one, only where they stay inside.
type root struct {
	dir  string   // absolute, as the administrator names it
	real string   // absolute, all links resolved
	os   *os.Root // holds what is not opened by plain
	fd   int      // for openat2; -1 where there is none

	unused runtime.Cleanup // closes fd

	device uint64 // the file system that it lies on
	remote bool   // which others may change without an event

	// plain opens a name that holds no link; if it does, it fails with errLink.
	plain func(name string) (*os.File, error)
}

var (
	errLink    = errors.New("symbolic link")
	errEscapes = fmt.Errorf("symbolic link leads out of the root: %w", fs.ErrNotExist)
	errLoop    = fmt.Errorf("symbolic links form a loop: %w", fs.ErrNotExist)
	errSpecial = fmt.Errorf("not a regular file or directory: %w", fs.ErrNotExist)
)

// openFlags: a FIFO must not block, and no terminal may become ours.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC

func openRoot(dir string) (*root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		_ = opened.Close()
		return nil, err
	}
	r := &root{dir: abs, real: real, os: opened, fd: -1, device: deviceOf(opened), remote: isRemote(abs)}
	r.plain = r.openWalking
	r.openBeneath()
	return r, nil
}

// exchanged says whether the name of the root leads to another directory by now,
// as it may before the watcher stands.
func (r *root) exchanged() bool {
	named, err := os.Stat(r.dir)
	held, err2 := r.os.Stat(".")
	return err == nil && err2 == nil && !os.SameFile(named, held)
}

// open opens a file or directory by its name below the root, following links
// that stay inside, and says whether there was one. What is neither file nor
// directory is refused.
func (r *root) open(name string) (f *os.File, info fs.FileInfo, linked bool, err error) {
	f, err = r.plain(name)
	linked = errors.Is(err, errLink)
	// A link that is swapped between the two steps is found out by plain.
	for try := 0; errors.Is(err, errLink) && try < 3; try++ {
		var real string
		if real, _, err = r.resolve(name); err == nil {
			f, err = r.plain(real)
		}
	}
	if err != nil {
		return nil, nil, linked, err
	}
	info, err = f.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errSpecial}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, linked, err
	}
	return f, info, linked, nil
}

// openWalking is plain for systems without openat2: os.Root keeps it inside.
func (r *root) openWalking(name string) (*os.File, error) {
	for i := 0; i < len(name); i++ {
		if name[i] == '/' || i == len(name)-1 {
			info, err := r.os.Lstat(strings.TrimSuffix(name[:i+1], "/"))
			if err != nil {
				return nil, notThere(err)
			}
			if info.Mode()&fs.ModeSymlink != 0 {
				return nil, &fs.PathError{Op: "open", Path: name, Err: errLink}
			}
		}
	}
	f, err := r.os.OpenFile(name, openFlags, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket, or a FIFO without a reader
		err = &fs.PathError{Op: "open", Path: name, Err: errSpecial}
	}
	return f, err
}

// notThere makes an error that says there cannot be such a name one that is
// fs.ErrNotExist.
func notThere(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return err
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
	pending := []string{elem}
	for len(pending) > 0 {
		elem, pending = pending[0], pending[1:]
		switch {
		case elem == "" || elem == ".":
			continue
		case elem == ".." && at == ".":
			return "", errEscapes
		case elem == "..":
			at = path.Dir(at)
			continue
		}
		t.passed = append(t.passed, at)
		next := selector.Join(at, elem)
		info, err := r.os.Lstat(next)
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
		target, err := r.os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			var inside bool
			if target, inside = r.inside(target); !inside {
				return "", errEscapes
			}
			at = "."
		}
		pending = append(strings.Split(filepath.ToSlash(target), "/"), pending...)
	}
	return at, nil
}

// inside turns an absolute path into one below the root, if it is.
func (r *root) inside(target string) (string, bool) {
	target = filepath.Clean(target)
	for _, base := range []string{r.real, r.dir} {
		if target == base {
			return ".", true
		}
		if rest, ok := strings.CutPrefix(target, strings.TrimSuffix(base, "/")+"/"); ok {
			return rest, true
		}
	}
	return "", false
}

// close closes a root that nobody else uses. One that is used closes when it is
// not any more: to close it then, in the middle of a look, would leave its
// number to another file.
func (r *root) close() {
	r.closeBeneath()
	_ = r.os.Close()
}
