package harness

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
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
		t.Fatalf("%s is not installed: test/deps gets it", name)
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

// Nginx runs nginx until the test ends. conf makes the inside of its http block,
// which listens on each of the n addresses. Unlike haproxy it cannot be handed
// sockets, so the ports are ones that were free a moment ago.
func Nginx(t testing.TB, n int, conf func(addrs []string) string) []string {
	t.Helper()
	dir, addrs := t.TempDir(), FreeAddrs(t, n)
	text := "daemon off; master_process off; pid nginx.pid; error_log stderr; events {}\nhttp {\naccess_log off;\n" +
		"client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\n" + conf(addrs) + "}\n"
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Tool(t, "nginx"), "-p", dir, "-e", "stderr", "-c", "nginx.conf")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(Timeout); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addrs[n-1])
		if err == nil {
			_ = conn.Close()
			return addrs
		}
		if time.Now().After(end) {
			t.Fatalf("nginx does not listen: %v", err)
		}
	}
}

// FreeAddrs returns n addresses on loopback that nobody listens on.
func FreeAddrs(t testing.TB, n int) (addrs []string) {
	t.Helper()
	for range n {
		addr, err := FreeAddr("127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, addr)
	}
	return addrs
}

// FreeAddr returns an address of a host with a port that nobody listens on, and that
// the kernel gives to no client (it is below ip_local_port_range, ip(7)): so it is
// still free when somebody comes to listen there.
func FreeAddr(host string) (addr string, err error) {
	for range 100 {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		var l net.Listener
		if l, err = net.Listen("tcp", ":"+port); err == nil {
			return net.JoinHostPort(host, port), l.Close()
		}
	}
	return "", err
}
