package answer

import (
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/gophd/gophd/server"
)

// peak is the most memory that this process has had since the last call, in bytes.
func peak(t *testing.T) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscanf(rest, "%d kB", &bytes)
	must(t, err)
	must(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
	return bytes << 10
}

// A hundred requests at once for the menu of a directory of 200,000 names, 16 MiB, cost
// little more memory than one: no more than the bound on large menus, those that the
// collector has not come to, and two in the making. All are answered. With the race detector, which
// needs memory of its own, there are 10,000 names and no limit.
func TestAbuseStormOfLargeMenus(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 200,000 files")
	}
	names, atMost := 200_000, int64(3*maxHeld)
	if raceEnabled {
		names, atMost = 10_000, math.MaxInt64
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"large/first": ""})
	for i := range names - 1 {
		must(t, os.Link(filepath.Join(dir, "large/first"), filepath.Join(dir, fmt.Sprintf("large/a file with a name %06d.txt", i))))
		if i%60_000 == 59_999 { // a file has room for so many links
			must(t, os.Remove(filepath.Join(dir, "large/first")))
			write(t, dir, map[string]string{"large/first": ""})
		}
	}
	for _, test := range []struct {
		name  string
		cache int64
		dial  func(testing.TB, string) net.Conn
	}{
		{"plain, nothing kept", 0, dial},
		{"plain", 64 << 20, dial},
		{"TLS", 64 << 20, dialTLS},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := listen(t, &server.Server{Handler: newFiles(run(t, dir), test.cache), MaxConnsPerIP: -1, TLS: certificate(t)})
			debug.FreeOSMemory()
			_ = peak(t)
			before := peak(t)
			clients := make([]net.Conn, 100)
			for i := range clients {
				clients[i] = test.dial(t, addr)
			}
			var all sync.WaitGroup
			for _, c := range clients {
				all.Go(func() {
					defer func() { _ = c.Close() }()
					_, _ = io.WriteString(c, "/large\r\n")
					end := make([]byte, 3)
					n, err := io.Copy(&tail{end}, c)
					if err != nil || n < int64(27*names) || string(end) != ".\r\n" {
						t.Errorf("got %d bytes, the last %q, %v", n, end, err)
					}
				})
			}
			all.Wait()
			more := peak(t) - before
			t.Logf("%d MiB more", more>>20)
			if more > atMost {
				t.Errorf("%d MiB more memory", more>>20)
			}
		})
	}
}

// tail keeps the last bytes that are written to it.
type tail struct{ last []byte }

func (w *tail) Write(p []byte) (int, error) {
	both := append(append([]byte(nil), w.last...), p[max(0, len(p)-len(w.last)):]...)
	copy(w.last, both[len(both)-len(w.last):])
	return len(p), nil
}
