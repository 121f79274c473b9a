package e2e_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/test/e2e/harness"
)

// TestLogInside: in the sandbox the access log may go where logs go.
func TestLogInside(t *testing.T) {
	if !sandbox.Available().Full() {
		t.Skip("this kernel's Landlock cannot forbid all")
	}
	file, err := os.Create(t.TempDir() + "/out")
	must(t, err)
	defer func() { _ = file.Close() }()
	r, w, err := os.Pipe()
	must(t, err)
	defer func() { _, _ = r.Close(), w.Close() }()
	for name, out := range map[string]*os.File{"file": file, "pipe": w} {
		cmd := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", "-root", t.TempDir(),
			"-sandbox", "require",
			"-access-log", "/dev/stdout")
		cmd.Stdout = out
		d := harness.StartCmd(t, cmd)
		d.Ask("/to-" + name)
		d.Signal(syscall.SIGHUP)
		d.Ask("/again")
		d.Stop()
		if strings.Contains(d.Log(), "access log") {
			t.Errorf("%s: %s", name, d.Tail())
		}
	}
	_ = w.Close()
	piped, err := io.ReadAll(r)
	if err != nil || strings.Count(string(piped), "\n") != 2 {
		t.Errorf("the pipe got %q, %v", piped, err)
	}
	if got, err := os.ReadFile(file.Name()); err != nil || strings.Count(string(got), "\n") != 2 {
		t.Errorf("the file got %q, %v", got, err)
	}
}
