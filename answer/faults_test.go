package answer_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A file that is truncated while it is sent ends cleanly where it does now, with
// sendfile(2) or without, as a text without the last line; the log says why.
func TestFileThatShrinks(t *testing.T) {
	const size = 32 << 20
	dir := t.TempDir()
	path := filepath.Join(dir, "x.txt")
	must(t, os.WriteFile(path, []byte(strings.Repeat("0123456\n", size/8)), 0o600))
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	served := make(chan server.Served, 1)
	c := dial(t, listen(t, &server.Server{Handler: newFiles(s, 0), Observer: observer(served)}))
	_, _ = io.WriteString(c, "/x.txt\r\n")
	if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	must(t, os.Truncate(path, 1000))
	got, err := io.ReadAll(c)
	if err != nil || len(got) >= size-1000 {
		t.Errorf("got %d bytes more, the last %q, %v", len(got), got[max(len(got)-5, 0):], err)
	}
	if got := <-served; got.Selector != "/x.txt" || !errors.Is(got.Err, server.ErrShort) {
		t.Errorf("observed: %+v", got)
	}
}

// observer hands on what it is told.
type observer chan server.Served

func (o observer) Observe(s server.Served) { o <- s }

// listen serves until the test ends, and returns the address. A request may be late.
func listen(t testing.TB, s *server.Server) string {
	t.Helper()
	s.RequestTimeout = time.Hour
	return treetest.Serve(t, s.Serve)
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	return c
}
