package systemd

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

func TestNotify(t *testing.T) {
	m := harness.NewManager(t)
	t.Setenv("NOTIFY_SOCKET", m.Name)
	n, err := NewNotifier()
	if err != nil || n == nil {
		t.Fatalf("NewNotifier: %v, %v", n, err)
	}
	if v, ok := os.LookupEnv("NOTIFY_SOCKET"); ok {
		t.Errorf("NOTIFY_SOCKET is still %q", v)
	}
	before := monotonic()
	n.Reloading()
	state, usec, _ := strings.Cut(m.Next(), "\nMONOTONIC_USEC=")
	at, err := strconv.ParseInt(usec, 10, 64)
	if state != "RELOADING=1" || err != nil || at < before.Microseconds() ||
		at > monotonic().Microseconds() {
		t.Errorf("got %q at %q, %v", state, usec, err)
	}
	n.Watch(t.Context(), nil) // nobody waits: it must return and not ask
}

func TestWatchdog(t *testing.T) {
	m := harness.NewManager(t)
	t.Setenv("NOTIFY_SOCKET", m.Name)
	t.Setenv("WATCHDOG_USEC", "2000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	n, err := NewNotifier()
	treetest.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	calls := 0
	n.Watch(ctx, func(due context.Context) bool {
		if end, ok := due.Deadline(); !ok || time.Until(end) > time.Millisecond {
			t.Errorf("the sign is due at %v", end)
		}
		if calls++; calls == 4 {
			stop()
		}
		return calls == 2 // alive once only
	})
	if got := m.Next(); got != "WATCHDOG=1" {
		t.Errorf("got %q", got)
	}
	n.Stopping()
	if got := m.Next(); got != "STOPPING=1" {
		t.Errorf("%q when not alive", got)
	}
}

func TestMistakes(t *testing.T) {
	t.Setenv("LISTEN_FDS", "1")
	t.Setenv("LISTEN_PID", "1")
	if l, err := Listeners(); l != nil || err != nil {
		t.Errorf("another's sockets: %v, %v", l, err)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	if n, err := NewNotifier(); n != nil || err == nil ||
		!strings.Contains(err.Error(), "connecting to NOTIFY_SOCKET: ") {
		t.Errorf("no socket there: %v, %v", n, err)
	}
	m := harness.NewManager(t)
	for _, usec := range []string{"0", "-1", "soon", "99999999999999999999", "1000"} {
		t.Setenv("NOTIFY_SOCKET", m.Name)
		t.Setenv("WATCHDOG_USEC", usec)
		if usec == "1000" {
			t.Setenv("WATCHDOG_PID", "1") // another's
		}
		if n, err := NewNotifier(); err != nil || n.watchdog != 0 {
			t.Errorf("WATCHDOG_USEC %q is taken: %v, %v", usec, n, err)
		}
	}
}
