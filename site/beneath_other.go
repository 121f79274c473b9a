//go:build !linux

package site

import (
	"os"
	"path/filepath"
)

func (r *root) openBeneath()  {}
func (r *root) closeBeneath() {}

// ready cannot be told here.
func (r *root) ready(string, int64) (Ready, bool) { return Ready{}, false }

// readableIn returns what says whether an entry of an opened directory can be
// read by this process.
func readableIn(dir *os.File) func(*dirent) bool {
	return func(e *dirent) bool {
		f, err := os.OpenFile(filepath.Join(dir.Name(), e.name), openFlags, 0)
		return err == nil && f.Close() == nil
	}
}
