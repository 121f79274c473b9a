//go:build !linux

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// lookFlags is not used: there is no openat2(2) here.
const lookFlags = 0

// largeFile is for Linux: elsewhere files of any size are opened.
const largeFile = 0

func openTop(string) int { return -1 }

func openBelow(int, string, int) (int, error)                               { return -1, errors.ErrUnsupported }
func lookAt(int, string) (int, string, error)                               { return -1, "", errors.ErrUnsupported }
func cachedBelow(int, string, int64, func(int, uint64) bool) (Cached, bool) { return Cached{}, false }

// Still reports whether the kernel has a file in memory.
func (c Cached) Still() bool { return false }

// Readable returns a function that reports whether this process can read an entry
// of an opened directory.
func Readable(dir *os.File, call func(func() error) error) func(*Dirent) bool {
	return func(e *Dirent) bool {
		return call(func() error {
			f, err := os.OpenFile(filepath.Join(dir.Name(), e.Base), openFlags, 0)
			if err == nil {
				err = f.Close()
			}
			return err
		}) == nil
	}
}

// ReadDir lists an opened directory, in the directory's own order.
// Each part is read by call. It is kept only if keeps says so; if not, the list is
// what came before.
func ReadDir(f *os.File, call func(func() error) error, keeps func(bytes int) error) ([]Dirent, error) {
	var list []Dirent
	for {
		var entries []fs.DirEntry
		err := call(func() (err error) {
			entries, err = f.ReadDir(1024)
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
			list = append(list, Dirent{e.Name(), e.Type()})
		}
	}
}

// Where file systems cannot be told apart, all of the tree is taken for one.
func isRemote(string) bool      { return false }
func device(fs.FileInfo) uint64 { return 0 }
