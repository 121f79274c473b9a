package fileserver

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

var seedFlag = flag.Uint64("seed", 0, "of the random runs, to play one again; if 0 a fresh one")

// dice returns random numbers; a test that fails tells how to have them again.
func dice(t *testing.T) *rand.Rand {
	seed := *seedFlag
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes files below dir; a value "-> x" is a link.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			must(t, os.Symlink(target, path))
		} else {
			must(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

// run opens a site and keeps it until the test ends.
func run(t testing.TB, dir string) *site.Site {
	t.Helper()
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { _ = s.Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	_, err = s.Snapshot(ctx)
	must(t, err)
	return s
}

// eventually waits until f is true, at most 5 s.
func eventually(f func() bool) bool {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return true
		}
	}
	return f()
}

// request is one for a selector, which may have a TAB and a query.
func request(t testing.TB, line string) *server.Request {
	t.Helper()
	parsed, err := selector.Parse([]byte(line))
	must(t, err)
	return &server.Request{Request: parsed, Host: "h", Port: 70}
}

// get returns the reply to a request line, of whatever it was made.
func get(t testing.TB, h server.Handler, line string) (string, error) {
	t.Helper()
	var r reply
	err := h.ServeGopher(&r, request(t, line))
	return r.String(), err
}

// reply collects what a handler writes.
type reply struct{ bytes.Buffer }

func (r *reply) WriteItem(it menu.Item) error {
	_, err := r.Write(it.AppendTo(nil))
	return err
}
