//go:build !linux

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// lookFlags is not used: there is no openat2(2) here.
const lookFlags = 0

// largeFile is for Linux: elsewhere files of any size are opened.
const largeFile = 0

// pathFlag is not used either.
const pathFlag = 0

func openTop(string) int { return -1 }

func closeDescriptor(fd int) { _ = unix.Close(fd) }

func (t *Tree) revisionCached(string) (Revision, error, bool) { return Revision{}, nil, false } //nolint:revive // as on Linux

// revisionOf returns the revision of an open file.
func revisionOf(fd int) (Revision, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Revision{}, err
	}
	return Revision{Device: uint64(st.Dev), Inode: uint64(st.Ino), Changed: st.Ctim.Nano(), Modified: st.Mtim.Nano(), Size: st.Size, Owner: st.Uid, Mode: uint32(st.Mode)}, nil //nolint:unconvert // other types on other systems
}

// idOf returns the identity of a file.
func idOf(st *syscall.Stat_t) fileID {
	return fileID{uint64(st.Dev), uint64(st.Ino)} //nolint:unconvert // other types on other systems
}

func openBelow(int, string, int) (int, error)                       { return -1, errors.ErrUnsupported }
func lookAt(int, string) (int, string, error)                       { return -1, "", errors.ErrUnsupported }
func cachedBelow(int, string, int64, func(int) bool) (Cached, bool) { return Cached{}, false }

// Resident reports whether the kernel has an opened file in memory.
func Resident(fd int, size int64) bool { return false }

// Readable returns a function that reports whether this process can read an entry of
// a directory. An entry that does not answer counts as readable.
func (h *Handle) Readable(call Caller) func(*Dirent) bool {
	if os.Geteuid() == 0 {
		return func(*Dirent) bool { return true }
	}
	return func(e *Dirent) bool {
		err := call(selector.Join(h.Real, e.Base), func() error {
			f, err := os.OpenFile(filepath.Join(h.Name(), e.Base), openFlags, 0)
			if err == nil {
				err = f.Close()
			}
			return err
		})
		return err == nil || errors.Is(err, stall.Err)
	}
}

// ReadDir lists a directory, in the directory's own order. It calls keeps before it keeps
// the result of a system call. After an error it returns the entries read before.
func (h *Handle) ReadDir(call Caller, keeps func(bytes int) error) ([]Dirent, error) {
	var list []Dirent
	for {
		var entries []fs.DirEntry
		err := call(h.Real, func() (err error) {
			entries, err = h.File.ReadDir(1024)
			return err
		})
		if err == nil {
			err = keeps(64 * len(entries))
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && notWithheld(info) != nil {
				continue
			}
			list = append(list, Dirent{Base: e.Name(), Mode: e.Type()})
		}
	}
}

func isRemote(string) bool { return false }
