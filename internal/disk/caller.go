package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/stall"
)

// A Caller runs a call that may wait for a file system. The name is the file that the
// call waits for: a slash path below a root, or an absolute path. The Caller returns the
// call's error, or stall.Err if the file does not answer; the call may then still be
// running, so its results must not be used.
type Caller func(name string, call func() error) error

// Direct makes calls as they are, for programs that end by themselves.
func Direct(_ string, call func() error) error { return call() }

// Guarded leaves each call behind that does not end in time.
func Guarded(g *stall.Guard) Caller { return Patient(g, stall.Hurried) }

// Patient leaves each call behind that takes longer than this patience.
func Patient(g *stall.Guard, patience stall.Patience) Caller {
	return func(name string, call func() error) error {
		_, err := stall.Try(g, patience, func(a *stall.Attempt) (struct{}, error) {
			return struct{}{}, Within(a)(name, call)
		})
		return err
	}
}

// Within makes the calls of an attempt, which is left behind as a whole.
func Within(a *stall.Attempt) Caller {
	return func(name string, call func() error) error {
		op, err := a.Enter(name)
		if err != nil {
			return err
		}
		defer op.Leave()
		return call()
	}
}

// Named returns a Caller that ignores the name it is given and reports this one instead:
// a path below a root.
func (c Caller) Named(name string) Caller {
	return func(_ string, call func() error) error { return c(name, call) }
}

// get runs a call and returns its value.
func get[T any](c Caller, name string, call func() (T, error)) (value T, err error) {
	got := new(T) // the call's own: it may be left behind
	if err = c(name, func() (err error) { *got, err = call(); return err }); err != nil {
		return value, err
	}
	return *got, nil
}

// Stat returns the info of a path, following links.
func (c Caller) Stat(path string) (fs.FileInfo, error) {
	return get(c, path, func() (fs.FileInfo, error) { return os.Stat(path) })
}

// Lstat returns the info of a path, which may be a link.
func (c Caller) Lstat(path string) (fs.FileInfo, error) {
	return get(c, path, func() (fs.FileInfo, error) { return os.Lstat(path) })
}

// List returns the entries of a directory, sorted.
func (c Caller) List(path string) ([]fs.DirEntry, error) {
	return get(c, path, func() ([]fs.DirEntry, error) { return os.ReadDir(path) })
}

// chunk is how many entries Each reads at a time: a directory of a million files must
// not be in memory to find its three directories.
const chunk = 1024

// Each calls yield for each entry of a directory, in no order.
func (c Caller) Each(path string, yield func(fs.DirEntry)) error {
	return c(path, func() error {
		f, err := os.OpenFile(path, openFlags, 0)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		for err == nil {
			var some []fs.DirEntry
			some, err = f.ReadDir(chunk)
			for _, e := range some {
				yield(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
}

// Revision returns the revision of a path, following links; its Mount is not known.
func (c Caller) Revision(path string) (Revision, error) {
	return get(c, path, func() (r Revision, err error) {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return r, err
		}
		return revisionFrom(&st), nil
	})
}

// ReadFile reads at most so many bytes of a file.
func (c Caller) ReadFile(path string, most int64) ([]byte, error) {
	return get(c, path, func() ([]byte, error) {
		f, err := os.OpenFile(path, openFlags, 0)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		return io.ReadAll(io.LimitReader(f, most))
	})
}

// OpenFile opens a file that is not served, such as a log. If the call is left behind,
// the garbage collector closes the file.
func (c Caller) OpenFile(path string, flag int, mode fs.FileMode) (*os.File, error) {
	return get(c, path, func() (*os.File, error) { return os.OpenFile(path, flag, mode) })
}

// RealPath returns a path without links.
func (c Caller) RealPath(path string) (string, error) {
	return get(c, path, func() (string, error) { return filepath.EvalSymlinks(path) })
}

// Remote reports whether a directory is on a file system that other machines or programs can
// change without an event. One that does not respond counts as remote.
func (c Caller) Remote(dir string) bool {
	is, err := get(c, dir, func() (bool, error) { return isRemote(dir), nil })
	return is || err != nil
}

// OpenTree opens a directory that is served.
func (c Caller) OpenTree(dir string) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return get(c, dir, func() (*Tree, error) { return openTreeAs(dir, openFiles) })
}

// OpenRoot opens a directory as the root of a site.
func (c Caller) OpenRoot(dir string) (*Root, error) {
	main, err := c.OpenTree(dir)
	if err != nil {
		return nil, err
	}
	return (&Root{Main: main}).With(nil), nil
}
