package layout

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// walk calls f for each file of the repository.
func walk(t *testing.T, f func(name string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		name = filepath.ToSlash(strings.TrimPrefix(name, "../../"))
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || name == "bin" || name == "content/attic"):
			return fs.SkipDir
		case e.Type().IsRegular():
			f(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
