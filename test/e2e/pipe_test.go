package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// A log that nobody reads any more must not end the daemon.
func TestLogReaderGoesAway(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.txt"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(harness.Program(t), "-root", dir, "-listen", addr)
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	_ = w.Close()
	_, _ = r.Read(make([]byte, 1)) // it is up
	_ = r.Close()
	for range 5 { // each request writes a line into the closed pipe
		if got, err := harness.Ask(addr, "/x.txt"); got != "x\n" {
			t.Fatalf("answered %q, %v", got, err)
		}
		time.Sleep(150 * time.Millisecond)
	}
}

// A log whose reader takes nothing costs log lines, and no reply.
func TestLogReaderIsStuck(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(harness.Program(t), "-root", t.TempDir(), "-listen", addr)
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	_ = w.Close()
	_, _ = r.Read(make([]byte, 1)) // it is up
	name := "/" + strings.Repeat("x", 4000)
	for range 50 { // more than a pipe takes, which is 64 KiB
		if got, err := harness.Ask(addr, name); !strings.HasPrefix(got, "3Not found") {
			t.Fatalf("answered %q, %v", got, err)
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(harness.Timeout):
		t.Error("it does not end")
	}
}
