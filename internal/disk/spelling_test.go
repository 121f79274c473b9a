package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

// A directory that is said to fold case is listed for each name; to find out whether it
// does, both spellings have to be of one entry. Real ones: test/e2e/hostile.
func TestSpelledAsListed(t *testing.T) {
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{"a/x.txt": "x", "a/X.TXT": "another", "b/1.2": "",
		"É/y.txt": ""})
	treetest.Must(t, os.Symlink("a/x.txt", filepath.Join(dir, "link")))
	for _, open := range []func(string) (*Root, error){Caller(Direct).OpenRoot, OpenWalking} {
		r, err := open(dir)
		treetest.Must(t, err)
		for _, name := range []string{"a/x.txt", "a/X.TXT", "b/1.2", "É/y.txt", "link"} {
			if f, err := r.Open(Direct, name); err != nil {
				t.Errorf("%s: %v", name, err)
			} else {
				_ = f.Close()
			}
		}
		if folds, known := r.Main.foldings.get("a"); folds || !known {
			t.Errorf("a directory with both spellings: it folds: %t, known: %t", folds, known)
		}
		r.Main.foldings.set(".", true)
		for elem, want := range map[string]error{"a": nil, "A": fs.ErrNotExist, "É": nil,
			"é": fs.ErrNotExist, "link": nil, "1": nil} {
			if err := r.Main.spelledIn(".", elem); !errors.Is(err, want) {
				t.Errorf("%q in a directory that folds: %v, want %v", elem, err, want)
			}
		}
		if r.Main.spelledSurely("a/x.txt") {
			t.Error("a name in a directory that folds is sure")
		}
		r.Close()
	}
}
