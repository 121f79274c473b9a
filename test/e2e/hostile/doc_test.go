//go:build linux

package hostile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

var must = treetest.Must

// large is a file that no socket takes at once.
var large = bytes.Repeat([]byte("0123456789abcde\n"), 1<<20)

func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"a.txt": []byte("alpha\n"), "large.bin": large} {
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	return dir
}
