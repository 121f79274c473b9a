//go:build !linux

package site

import "os"

// readDir lists an opened directory, in the directory's own order.
func readDir(f *os.File) ([]dirent, error) {
	entries, err := f.ReadDir(-1)
	list := make([]dirent, 0, len(entries))
	for _, e := range entries {
		list = append(list, dirent{e.Name(), e.Type()})
	}
	return list, err
}
