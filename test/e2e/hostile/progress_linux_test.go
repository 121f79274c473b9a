package hostile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestProgress: on a terminal gophd tells how far it is, of each tree and then of
// the search index. They lie on a disk that takes its time until that was seen.
func TestProgress(t *testing.T) {
	harness.Slow(t, "make test-all")
	root, slow := tree(t), filepath.Join(t.TempDir(), "slow")
	files := map[string][]byte{}
	for i := range 60 {
		files[fmt.Sprintf("one/%d/a.txt", i)] = []byte("Some words.\n")
		files[fmt.Sprintf("two/%d/a.txt", i)] = []byte("Some words.\n")
	}
	d := mountDisk(t, slow, files)
	d.slowDirs, d.slowFiles = make(chan struct{}), make(chan struct{})
	cmd := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", "-search", "-mount",
		"one="+slow+"/one", "-vhost", "two.example="+slow+"/two", root)
	cmd.Env = append(os.Environ(), "TERM=dumb")
	s := harness.OnScreen(t, cmd)
	t.Cleanup(func() { close(d.slowFiles) }) // else it cannot be killed at once
	show := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			for end := time.Now().Add(10 * harness.Timeout); !strings.Contains(s.String(),
				text); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("no %q on the screen:\n%s", text, s)
				}
			}
		}
	}
	show("reading "+root+": ", "reading "+slow+"/two: ", " directories so far")
	close(d.slowDirs)
	show("scanned 61 directories", "scanned 62 directories", "building the search index: ")
}
