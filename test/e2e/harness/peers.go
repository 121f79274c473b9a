package harness

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Tool finds a program that a test wants beside gophd. Without it the test is
// skipped, or fails where all of them have to be there.
func Tool(t testing.TB, name string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	if os.Getenv("GOPHD_ACCEPTANCE") != "" {
		t.Fatalf("%s is not installed: make deps", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// HAProxy runs haproxy until the test ends. It is handed n sockets that listen
// already, so no port has to be guessed: conf binds to fd@3, fd@4 and so on.
// Returned are their addresses.
func HAProxy(t testing.TB, n int, conf []byte) []string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(name, conf, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Tool(t, "haproxy"), "-q", "-db", "-f", name)
	cmd.Stderr = os.Stderr
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, l.Addr().String())
		_ = l.Close()
		defer func() { _ = f.Close() }()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return addrs
}
