//go:build !linux

package site

import (
	"errors"
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

// readableIn returns what says whether an entry of an opened directory can be
// read by this process.
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
