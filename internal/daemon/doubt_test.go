package daemon

import (
	"path/filepath"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

// A root is doubtful if it is all of the machine, or empty; one that cannot be listed is
// not called empty.
func TestDoubt(t *testing.T) {
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{"empty/": "", "full/a.txt": "a", "file": "x"})
	for root, want := range map[string]string{
		"/":                         "-root is /: every file that gophd can read would be served",
		filepath.Join(dir, "empty"): "the root is empty",
		filepath.Join(dir, "full"):  "",
		filepath.Join(dir, "file"):  "",
		filepath.Join(dir, "none"):  "",
	} {
		if err := Doubt(root); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", root, err, want)
		}
	}
}
