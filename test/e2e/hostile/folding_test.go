//go:build linux

package hostile

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestFoldingDisk serves a file system that opens a file under other capitals, too: the
// robots file denies the name that the directory lists, and no other name is served.
func TestFoldingDisk(t *testing.T) {
	root := t.TempDir()
	d := mountDisk(t, root, map[string][]byte{
		".robots": []byte("Disallow: /private/\n"), "private/x.txt": []byte("secret\n"),
		"open/y.txt": []byte("open\n"), "É.txt": []byte("accent\n"),
	})
	d.folds = true
	g := harness.Start(t, "-root", root)
	if robots := g.Ask("robots.txt"); !strings.Contains(robots, "\nDisallow: /private/\n") {
		t.Fatalf("robots.txt:\n%s", robots)
	}
	for range 2 { // the second time some of it is kept
		for sel, want := range map[string]string{
			"/private/x.txt": "secret\n", "/open/y.txt": "open\n", "/É.txt": "accent\n",
			"/PRIVATE/x.txt": "3Not found", "/Private/": "3Not found",
			"/private/X.txt": "3Not found", "/open/Y.txt": "3Not found", "/é.txt": "3Not found",
			"/.ROBOTS": "3Not found",
		} {
			if got := g.Ask(sel); !strings.HasPrefix(got, want) {
				t.Errorf("%s: got %q, want %q", sel, got, want)
			}
		}
	}
}
