package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// A Tree is an opened directory that is served, with all below it. Nothing outside
// it can be reached through it: names are opened below it without following any
// symbolic link; Root follows those.
type Tree struct {
	Dir  string   // absolute, as the administrator names it
	real string   // absolute, all links resolved
	os   *os.Root // nil where there is openat2
	fd   int      // for openat2; -1 where there is none

	unused   runtime.Cleanup // closes fd
	foldings foldings

	Info   fs.FileInfo // of the directory
	Listed bool        // it shows in the listing of the directory that it appears in
	Owner  int         // whose files are served besides root's; or AnyOwner
	remote bool        // which others may change without an event

	// Fault, if not nil, is called before a name is opened, and the open fails with
	// its error: for tests.
	Fault func(name string) error
}

// openTreeAs opens a directory with the descriptor that top returns of it.
func openTreeAs(dir string, top func(string) int) (*Tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	t := &Tree{Dir: abs, real: real, fd: top(real), Owner: AnyOwner}
	if t.fd >= 0 {
		t.unused = runtime.AddCleanup(t, func(fd int) { _ = syscall.Close(fd) }, t.fd)
	} else if t.os, err = os.OpenRoot(abs); err != nil {
		return nil, err
	}
	if t.Info, err = t.Lstat("."); err != nil {
		t.Close()
		return nil, err
	}
	t.remote = isRemote(abs)
	return t, nil
}

// Exchanged reports whether the path of the tree leads to another directory by now.
func (t *Tree) Exchanged(call Caller) bool {
	named, err := call.Stat(t.Dir)
	return err == nil && named.IsDir() && !os.SameFile(named, t.Info)
}

// Plain opens a name that holds no link; if it does, it fails with errLink.
func (t *Tree) Plain(name string) (*os.File, error) {
	if t.Fault != nil {
		if err := t.Fault(name); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	if t.os != nil {
		return t.openWalking(name)
	}
	fd, err := t.beneath(name, openFlags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path.Join(t.real, name)), nil
}

// openWalking is Plain for systems without openat2: os.Root keeps it inside.
func (t *Tree) openWalking(name string) (*os.File, error) {
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
	switch {
	case errors.Is(err, syscall.ENXIO): // a socket, or a FIFO without a reader
		err = &fs.PathError{Op: "open", Path: name, Err: errSpecial}
	case errors.Is(err, syscall.EAGAIN):
		err = &fs.PathError{Op: "open", Path: name, Err: ErrBusy}
	}
	return f, err
}

// beneath opens a name with openat2(2), which does not leave the tree.
func (t *Tree) beneath(name string, flags int) (fd int, err error) {
	defer runtime.KeepAlive(t)
	if fd, err = openBelow(t.fd, name, flags); err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

// Lstat returns the info of a name. Only its last element may be a link.
func (t *Tree) Lstat(name string) (fs.FileInfo, error) {
	if t.os != nil {
		return t.os.Lstat(name)
	}
	fd, err := t.beneath(name, lookFlags)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	return f.Stat()
}

// Cached returns a regular file if the kernel has it in memory. It reads the file if it
// is smaller than small bytes. It fails for files on another file system than the tree,
// and for all files on a remote one: there even the open of a known name asks another
// machine or program.
func (t *Tree) Cached(name string, small int64) (c Cached, ok bool) {
	if t.fd < 0 || t.remote || !t.spelledSurely(name) {
		return c, false
	}
	defer runtime.KeepAlive(t)
	return cachedBelow(t.fd, name, small, t.serves)
}

// serves reports whether files of a user are served: the owner's and root's.
func (t *Tree) serves(uid int) bool { return t.Owner == AnyOwner || uid == 0 || uid == t.Owner }

// Close closes a tree at once. It must not be called while a request uses the tree: the
// system may reuse the descriptor's number for another file. The garbage collector
// closes trees for which Close is never called.
func (t *Tree) Close() {
	if t.fd >= 0 {
		t.unused.Stop()
		_ = syscall.Close(t.fd)
		t.fd = -1
	}
	if t.os != nil {
		_ = t.os.Close()
	}
}
