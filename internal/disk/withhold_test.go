package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gophd/gophd/internal/disk"
)

// TestWithheld: a file of the process is in no tree, under whatever name; the file that
// had its name before is served again.
func TestWithheld(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "key")
	write(t, dir, map[string]string{"a": "a", "sub/b": "b", "link": "-> hard", "renewed": "new"})
	must(t, os.WriteFile(outside, []byte("secret"), 0o644))
	must(t, os.Link(outside, filepath.Join(dir, "hard")))
	must(t, os.Link(outside, filepath.Join(dir, "sub/hard")))
	withhold := func(name string) {
		info, err := os.Stat(name)
		must(t, err)
		disk.Withhold(outside, info)
	}
	roots(t, dir, func(t *testing.T, r *disk.Root) {
		served := func(name string) bool {
			t.Helper()
			f, err := r.Open(disk.Direct, name)
			if err == nil {
				_ = f.Close()
			} else if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
			fd, _, cached := r.Main.Cached(name, 0)
			if cached {
				must(t, syscall.Close(fd))
			}
			_, infoErr := r.Lstat(disk.Direct, name)
			if cached && err != nil || infoErr == nil && err != nil && name != "link" {
				t.Errorf("%s: open: %v, cached: %t, info: %v", name, err, cached, infoErr)
			}
			return err == nil
		}
		listed := func(dir string) (names []string) {
			f, err := r.Open(disk.Direct, dir)
			must(t, err)
			defer func() { _ = f.Close() }()
			list, err := f.ReadDir(disk.Direct, func([]disk.Dirent) error { return nil })
			must(t, err)
			for _, e := range list {
				names = append(names, e.Base)
			}
			return names
		}

		withhold(outside)
		for name, want := range map[string]bool{"a": true, "sub/b": true, "renewed": true,
			"hard": false, "link": false, "sub/hard": false} {
			if got := served(name); got != want {
				t.Errorf("%s is served: %t", name, got)
			}
		}
		if got := listed("."); len(got) != 4 { // a, link, renewed, sub
			t.Errorf("listed: %q", got)
		}
		if got := listed("sub"); len(got) != 1 {
			t.Errorf("listed in sub: %q", got)
		}

		withhold(filepath.Join(dir, "renewed"))
		if !served("hard") || served("renewed") {
			t.Error("the file that was withheld before, or its successor")
		}
	})
}
