// Package treetest makes trees of files for tests.
package treetest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Files have the modes that tests give them.
func init() { syscall.Umask(0o022) }

// Write makes files below dir: a value "-> x" is a link to x, a name that ends in a
// slash a directory.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, isLink := strings.CutPrefix(text, "-> ")
		switch {
		case isLink:
			Must(t, os.Symlink(target, path))
		case strings.HasSuffix(name, "/"):
			Must(t, os.MkdirAll(path, 0o755))
		default:
			Must(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
