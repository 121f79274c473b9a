package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

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

// anyOwner says that it does not matter whose a file is.
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

// lstat tells what a name is, which must hold no link but for its last element.
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
