//go:build !linux

package disk

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// largeFile is for Linux: elsewhere files of any size are opened.
const largeFile = 0

func openFiles(dir string) (files, error) { return openWalked(dir) }

// revisionOf returns the revision of an open file.
func revisionOf(fd int) (Revision, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Revision{}, err
	}
	return revisionFrom(&st), nil
}

// Resident reports whether the kernel has an opened file in memory.
func Resident(fd int, size int64) bool { return false }

// Readable returns a function that reports whether this process can read an entry of
// a directory. An entry that does not answer counts as readable.
func (h *Handle) Readable(call Caller) func(*Dirent) bool {
	of, ok := h.File.(*os.File)
	if os.Geteuid() == 0 || !ok {
		return func(*Dirent) bool { return true }
	}
	return func(e *Dirent) bool {
		err := call(selector.Join(h.Real, e.Base), func() error {
			f, err := os.OpenFile(filepath.Join(of.Name(), e.Base), openFlags, 0)
			if err == nil {
				err = f.Close()
			}
			return err
		})
		return err == nil || errors.Is(err, stall.Err)
	}
}

func isRemote(string) bool { return false }
