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
func (t *tree) readlinkBeneath(string) (string, error)   { return "", errors.ErrUnsupported }

// ready cannot be told here.
func (t *tree) ready(string, int64) (Ready, bool) { return Ready{}, false }

// readableIn returns what says whether an entry of an opened directory can be
// read by this process.
func readableIn(dir *os.File) func(*dirent) bool {
	return func(e *dirent) bool {
		f, err := os.OpenFile(filepath.Join(dir.Name(), e.name), openFlags, 0)
		return err == nil && f.Close() == nil
	}
}
