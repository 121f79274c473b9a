// Package treetest makes trees of files for tests, and what tests of trees share.
package treetest

import (
	"context"
	"flag"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Files have the modes that tests give them.
func init() { syscall.Umask(0o022) }

// Write makes files below dir: a value "-> x" is a link to x, a name that ends in a
// slash a directory.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, isLink := strings.CutPrefix(text, "-> ")
		switch {
		case isLink:
			Must(t, os.Symlink(target, path))
		case strings.HasSuffix(name, "/"):
			Must(t, os.MkdirAll(path, 0o755))
		default:
			Must(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Log is text that one goroutine reads while others write it.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Logger returns a logger that writes to l.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Timeout is how long anything may take before a test fails. It catches hangs and leaves
// room for a busy machine.
const Timeout = 2 * time.Minute

// Eventually tries until it is so, and reports whether that was within Timeout.
func Eventually(so func() bool) bool {
	for end := time.Now().Add(Timeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return false
}

// Until ends the test if what is not so within Timeout.
func Until(t testing.TB, what string, so func() bool) {
	t.Helper()
	if !Eventually(so) {
		t.Fatalf("not within %v: %s", Timeout, what)
	}
}

// Run calls functions until the test ends, and waits for them then.
func Run(t testing.TB, functions ...func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	for _, f := range functions {
		go func() { ended <- f(ctx) }()
	}
	n := len(functions) // a test may look what is left of them
	t.Cleanup(func() {
		stop()
		for range n {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// Serve serves a port of the loopback until the test ends, and returns its address.
func Serve(t testing.TB, serve func(context.Context, net.Listener) error) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	Run(t, func(ctx context.Context) error { return serve(ctx, l) })
	return l.Addr().String()
}

var seed = flag.Uint64("seed", 0, "of the random runs, to play one again; if 0 a fresh one")

// Dice returns random numbers; a test that fails logs the seed that repeats them.
func Dice(t testing.TB) *rand.Rand {
	seed := *seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to play it again: -run '^%s$' -args -seed %d", t.Name(), seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// Conns serves each connection to an address with handle, and closes it, until the test ends.
func Conns(t testing.TB, handle func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				handle(c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}
