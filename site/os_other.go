//go:build !linux

package site

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// There is no openat2(2) here.
func (t *tree) openBeneath() bool                        { return false }
func (t *tree) closeBeneath()                            {}
func (t *tree) lstatBeneath(string) (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

func (w *walk) lookBeneath(*tree, string, string) (string, error) { return "", errors.ErrUnsupported }
func (w *walk) leave()                                            {}

// ready cannot be told here.
func (t *tree) ready(string, int64) (Ready, bool) { return Ready{}, false }

// readableIn returns a function that reports whether this process can read an entry
// of an opened directory.
func readableIn(dir *os.File, call func(func() error) error) func(*dirent) bool {
	return func(e *dirent) bool {
		return call(func() error {
			f, err := os.OpenFile(filepath.Join(dir.Name(), e.name), openFlags, 0)
			if err == nil {
				err = f.Close()
			}
			return err
		}) == nil
	}
}

// readDir lists an opened directory, in the directory's own order.
// Each part is read by call. It is kept only if keeps says so; if not, the list is
// what came before.
func readDir(f *os.File, call func(func() error) error, keeps func(bytes int) error) ([]dirent, error) {
	var list []dirent
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
			list = append(list, dirent{e.Name(), e.Type()})
		}
	}
}

// Where file systems cannot be told apart, all of the tree is taken for one.
func isRemote(string) bool      { return false }
func device(fs.FileInfo) uint64 { return 0 }
