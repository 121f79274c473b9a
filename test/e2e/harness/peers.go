package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// Cache returns the directory where test/deps keeps its downloads. Any user may read
// root's: tests start programs as other users.
func Cache() string {
	if os.Getuid() == 0 {
		return "/var/cache/gophd"
	}
	dir, _ := os.UserCacheDir()
	return filepath.Join(dir, "gophd")
}

// Tool finds a program that a test needs besides gophd. If it is missing, the test is
// skipped, or fails if TEST_GOPHD_ALL is set.
func Tool(t testing.TB, name string) string {
	t.Helper()
	for _, path := range []string{name, filepath.Join(Cache(), "programs/bin", name),
		"/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	if os.Getenv("TEST_GOPHD_ALL") != "" {
		t.Fatalf("%s is not installed: make test-deps gets it", name)
	}
	t.Skipf("%s is not installed (make test-deps)", name)
	return ""
}

// HAProxy runs haproxy until the test ends and returns n addresses. It inherits n
// sockets that listen already, so there is no port to guess: conf binds to fd@3, fd@4
// and so on.
func HAProxy(t testing.TB, n int, conf []byte) []string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "haproxy.cfg")
	treetest.Must(t, os.WriteFile(name, conf, 0o600))
	cmd := exec.Command(Tool(t, "haproxy"), "-q", "-db", "-f", name)
	cmd.Stderr = os.Stderr
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		treetest.Must(t, err)
		f, err := l.(*net.TCPListener).File()
		treetest.Must(t, err)
		addrs = append(addrs, l.Addr().String())
		_ = l.Close()
		defer func() { _ = f.Close() }()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	treetest.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return addrs
}

// Nginx runs nginx until the test ends. conf makes the inside of its http block,
// which listens on each of the n addresses.
func Nginx(t testing.TB, n int, conf func(addrs []string) string) []string {
	t.Helper()
	dir, addrs := t.TempDir(), FreeAddrs(t, n)
	text := "daemon off; master_process off; pid nginx.pid; error_log stderr; events {}\nhttp {\naccess_log off;\n" +
		"client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\n" + conf(addrs) + "}\n"
	treetest.Must(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(text), 0o600))
	cmd := exec.Command(Tool(t, "nginx"), "-p", dir, "-e", "stderr", "-c", "nginx.conf")
	Listens(t, cmd, "tcp", addrs[n-1])
	return addrs
}

// Listens starts a server, with all its children, until the test ends, and waits until it
// listens at an address.
func Listens(t testing.TB, cmd *exec.Cmd, network, addr string) {
	t.Helper()
	cmd.Stderr = os.Stderr
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	treetest.Must(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	treetest.Until(t, cmd.Path+" listens at "+addr, func() bool {
		conn, err := net.Dial(network, addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// FreeAddrs reserves n addresses on loopback until the test ends.
func FreeAddrs(t testing.TB, n int) (addrs []string) {
	t.Helper()
	for range n {
		addr, release, err := Reserve("127.0.0.1")
		treetest.Must(t, err)
		t.Cleanup(release)
		addrs = append(addrs, addr)
	}
	return addrs
}

// Reserve returns an address of a host with a port that the kernel assigns to no other
// socket until it is released. A server that sets SO_REUSEADDR may listen there, because
// the reserving socket does not listen.
func Reserve(host string) (addr string, release func(), err error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return "", nil, err
	}
	bound, err := syscall.Sockaddr(nil), syscall.Bind(fd, &syscall.SockaddrInet4{})
	if err == nil { // not before: the port was free
		err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	}
	if err == nil {
		bound, err = syscall.Getsockname(fd)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return "", nil, err
	}
	port := strconv.Itoa(bound.(*syscall.SockaddrInet4).Port)
	return net.JoinHostPort(host, port), func() { _ = syscall.Close(fd) }, nil
}

// Certificate makes a self-signed certificate for a name, which is valid until a time.
func Certificate(t testing.TB, name string, until time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	treetest.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		DNSNames:     []string{name},
		NotBefore:    until.AddDate(-1, 0, 0),
		NotAfter:     until,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	treetest.Must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
