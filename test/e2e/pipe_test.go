package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// logsInto starts a gophd that serves oneFile and logs requests into a pipe.
func logsInto(t *testing.T, w *os.File) (cmd *exec.Cmd, addr string) {
	t.Helper()
	sock, addr := socket(t)
	cmd = activate(t, harness.LogEnv, []*os.File{sock}, "-root", oneFile(t))
	cmd.Stderr = w
	must(t, cmd.Start())
	_ = w.Close()
	return cmd, addr
}

// stops ends a gophd that has answered, as it should end.
func stops(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	hangs := time.AfterFunc(harness.Timeout, func() { _ = cmd.Process.Kill() })
	defer hangs.Stop()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it has ended with %v", err)
	}
}

// A log that nobody reads any more must not end the daemon.
func TestLogReaderGoesAway(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	_ = r.Close()
	cmd, addr := logsInto(t, w)
	if got, err := harness.Ask(addr, "/file.txt"); got != "a file\n" {
		t.Errorf("answered %q, %v", got, err)
	}
	stops(t, cmd) // when it has logged everything
}

// A log whose reader takes nothing costs log lines, and no reply.
func TestLogReaderIsStuck(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer func() { _ = r.Close() }()
	cmd, addr := logsInto(t, w)
	name := "/" + strings.Repeat("x", 4000)
	for range 50 { // more than a pipe takes, which is 64 KiB
		if got, err := harness.Ask(addr, name); !strings.HasPrefix(got, "3Not found") {
			t.Errorf("answered %q, %v", got, err)
			break
		}
	}
	stops(t, cmd)
}
