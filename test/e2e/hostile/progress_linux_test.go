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
// the search index. They lie on a disk that takes its time, so that each takes
// seconds on any machine.
func TestProgress(t *testing.T) {
	harness.Slow(t, "make test-all")
	root, slow := tree(t), filepath.Join(t.TempDir(), "slow")
	files := map[string][]byte{}
	for i := range 60 {
		files[fmt.Sprintf("one/%d/a.txt", i)] = []byte("Some words.\n")
		files[fmt.Sprintf("two/%d/a.txt", i)] = []byte("Some words.\n")
	}
	mountDisk(t, slow, files).delay = 10 * time.Millisecond
	cmd := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", "-search", "-mount", "one="+slow+"/one", "-vhost", "two.example="+slow+"/two", root)
	cmd.Env = append(os.Environ(), "TERM=dumb")
	s := harness.OnScreen(t, cmd)
	for _, text := range []string{"reading " + root + ": ", "reading " + slow + "/two: ", " directories so far", "scanned 61 directories", "scanned 62 directories", "building the search index: ", " of 62 directories"} {
		for end := time.Now().Add(10 * harness.Timeout); !strings.Contains(s.String(), text); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("no %q on the screen:\n%s", text, s)
			}
		}
	}
}
