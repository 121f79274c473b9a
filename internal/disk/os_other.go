//go:build !linux

package disk

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
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

// readable returns an error if this process cannot read an entry of a directory.
func readable(dir *os.File, e *Dirent) error {
	f, err := os.OpenFile(filepath.Join(dir.Name(), e.Base), openFlags, 0)
	if err == nil {
		err = f.Close()
	}
	return err
}

func isRemote(string) bool { return false }
