package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// A Dirent is an entry of a directory: its name, and of its mode the type.
type Dirent struct {
	Base string
	Mode fs.FileMode
}

// Name returns the name.
func (e *Dirent) Name() string { return e.Base }

// IsDir reports whether it is a directory.
func (e *Dirent) IsDir() bool { return e.Mode.IsDir() }

// Type returns the type.
func (e *Dirent) Type() fs.FileMode { return e.Mode }

// Info returns errors.ErrUnsupported: menus, which need an [fs.DirEntry], use the type
// only.
func (e *Dirent) Info() (fs.FileInfo, error) {
	return nil, errors.ErrUnsupported
}

// ReadDir lists a directory, in the directory's own order. It calls keeps before it keeps
// some entries. After an error it returns the entries read before. Files of this process are
// left out.
func (h *Handle) ReadDir(call Caller, keeps func(some []Dirent) error) (list []Dirent, err error) {
	dir, ok := h.File.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{
			Op:   "readdir",
			Path: h.Real,
			Err:  syscall.ENOTDIR,
		}
	}
	for err == nil {
		var some []Dirent // of this call: it may be left behind
		err = call(h.Real, func() error {
			entries, err := dir.ReadDir(chunk)
			for _, e := range h.served(entries) {
				some = append(some, Dirent{e.Name(), e.Type()})
			}
			return err
		})
		if err != nil {
			break
		}
		if err = keeps(some); err == nil {
			list = append(list, some...)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return list, err
}

// Readable returns a function that reports whether this process can read an entry of
// a directory, and search it if it is a directory. An entry that does not answer counts
// as readable.
func (h *Handle) Readable(call Caller) func(*Dirent) bool {
	dir, ok := h.File.(*os.File)
	if os.Geteuid() == 0 || !ok {
		return func(*Dirent) bool { return true }
	}
	return func(e *Dirent) bool {
		err := call(selector.Join(h.Real, e.Base), func() error { return readable(dir, e) })
		return err == nil || errors.Is(err, stall.Err)
	}
}

// The reasons why a name cannot be opened.
var (
	errLink    = fmt.Errorf("symbolic link: %w", fs.ErrNotExist) // where there was none a moment ago
	ErrEscapes = fmt.Errorf("symbolic link leads out of the tree: %w", fs.ErrNotExist)
	errLoop    = fmt.Errorf("symbolic links form a loop: %w", fs.ErrNotExist)
	ErrForeign = fmt.Errorf("belongs to another user than its tree: %w", fs.ErrNotExist)
	// ErrBusy is returned for a file on which another process has a lease (fcntl(2)), and
	// when a file system returns EAGAIN. It is temporary.
	ErrBusy    = fmt.Errorf("held by another process: %w", stall.Err)
	errSpecial = fmt.Errorf("not a regular file or directory: %w", fs.ErrNotExist)
)

// AnyOwner is the owner of a tree that serves the files of all users.
const AnyOwner = -1

// openFlags: a FIFO must not block, and no terminal may become ours.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC | largeFile

// OwnerOf returns the user id of a file's owner.
func OwnerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return AnyOwner
}

// notThere makes ENOTDIR and ENAMETOOLONG match fs.ErrNotExist: no file can have such a
// name.
func notThere(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return err
}
