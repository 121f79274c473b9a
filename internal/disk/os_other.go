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

// lookFlags is not used: there is no openat2(2) here.
const lookFlags = 0

// largeFile is for Linux: elsewhere files of any size are opened.
const largeFile = 0

func openTop(string) int { return -1 }

func closeDescriptor(fd int) { _ = unix.Close(fd) }

func (t *Tree) revisionCached(string) (Revision, error, bool) {
	return Revision{}, nil, false
} //nolint:revive // as on Linux

// revisionOf returns the revision of an open file.
func revisionOf(fd int) (Revision, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Revision{}, err
	}
	return revisionFrom(&st), nil
}

func device(dev uint64) uint64 { return dev }

func openBelow(int, string, int) (int, error) {
	return -1, errors.ErrUnsupported
}
func lookAt(int, string) (int, string, error) {
	return -1, "", errors.ErrUnsupported
}
func cachedBelow(int, string, int64, func(int) bool) (int, int64, bool) {
	return -1, 0, false
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
