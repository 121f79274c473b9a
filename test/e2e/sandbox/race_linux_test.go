//go:build race

package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/test/e2e/harness"
)

// TestRaceIsReported: the sandbox does not hold back what the race detector reports.
func TestRaceIsReported(t *testing.T) {
	if os.Getenv("RACE_INSIDE") != "" {
		if _, err := sandbox.Enter(sandbox.Paths{}); err != nil {
			t.Skip(err)
		}
		shared := 0
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { shared++ })
		}
		both.Wait()
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestRaceIsReported$")
	cmd.Env = append(os.Environ(), "RACE_INSIDE=yes", "GORACE="+harness.RaceOptions)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "WARNING: DATA RACE") {
		t.Errorf("%v:\n%s", err, out)
	}
}
