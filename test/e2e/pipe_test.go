package e2e_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestLogReaderIsStuck: a log whose reader takes nothing, or has gone away, costs log lines,
// and no reply.
func TestLogReaderIsStuck(t *testing.T) {
	for _, gone := range []bool{false, true} {
		r, w, err := os.Pipe()
		must(t, err)
		defer func() { _ = r.Close() }()
		if gone {
			_ = r.Close()
		}
		sock, addr := socket(t)
		cmd := activate(t, harness.LogEnv, []*os.File{sock}, "-root", oneFile(t))
		cmd.Stderr = w
		must(t, cmd.Start())
		_ = w.Close()
		hangs := time.AfterFunc(harness.Timeout, func() { _ = cmd.Process.Kill() })
		defer hangs.Stop()

		name := "/" + strings.Repeat("x", 4000)
		for range 50 { // more than a pipe takes, which is 64 KiB
			if got, err := harness.Ask(addr, name); !strings.HasPrefix(got, "3Not found") {
				t.Errorf("reader gone: %t: answered %q, %v", gone, got, err)
				break
			}
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("reader gone: %t: it has ended with %v", gone, err)
		}
	}
}
