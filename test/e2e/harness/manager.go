package harness

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// A Manager is the end of NOTIFY_SOCKET that systemd has.
type Manager struct {
	t    testing.TB
	Conn *net.UnixConn
	Name string
}

// NewManager makes one, until the test ends.
func NewManager(t testing.TB) *Manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") // a socket's name must be short
	treetest.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	name := filepath.Join(dir, "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	treetest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &Manager{t, conn, name}
}

// Next returns the next message.
func (m *Manager) Next() string {
	m.t.Helper()
	if err := m.Conn.SetReadDeadline(time.Now().Add(Timeout)); err != nil {
		m.t.Fatal(err)
	}
	buf := make([]byte, 512)
	n, err := m.Conn.Read(buf)
	if err != nil {
		m.t.Fatalf("no message: %v", err)
	}
	return string(buf[:n])
}
