//go:build !linux

package site

import (
	"errors"
	"io"
	"os"
)

// readDir lists an opened directory, in the directory's own order.
// Each part is kept only if keeps says so; if not, the list is what came before.
func readDir(f *os.File, keeps func(bytes int) error) ([]dirent, error) {
	var list []dirent
	for {
		entries, err := f.ReadDir(1024)
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
