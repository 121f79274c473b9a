//go:build !linux

package site

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

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
