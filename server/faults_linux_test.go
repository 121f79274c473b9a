package server

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/site"
)

// wantReset reads the rest of a reply, which must not look like all of it.
func wantReset(t *testing.T, c io.Reader, atMost int) {
	t.Helper()
	got, err := io.ReadAll(c)
	if !errors.Is(err, syscall.ECONNRESET) || len(got) >= atMost {
		t.Errorf("%d octets of %d, %v", len(got), atMost, err)
	}
}

// A handler that gets stuck, or fails, in the middle of a reply: the client can
// tell that this was not all.
func TestReplyThatBreaksOff(t *testing.T) {
	h := &stuck{begins: strings.Repeat("x", 2*bufferSize), free: make(chan struct{})}
	var log lines
	addr := startTCP(t, &Server{Handler: quickOnly{h}, StallTimeout: 200 * time.Millisecond, Log: log.logger()})
	c := dialTCP(t, addr)
	_, _ = io.WriteString(c, "/x\r\n")
	wantReset(t, c, 2*bufferSize+1)
	close(h.free)
	eventually(t, "not logged", func() bool { return strings.Contains(log.String(), "does not answer") })

	bad := HandlerFunc(func(w ResponseWriter, _ *Request) error {
		_, err := io.WriteString(w, h.begins)
		return errors.Join(err, syscall.EIO)
	})
	c = dialTCP(t, startTCP(t, &Server{Handler: quickOnly{bad}}))
	_, _ = io.WriteString(c, "/x\r\n")
	wantReset(t, c, 2*bufferSize+1)
}

// A file that is truncated while it is sent ends cleanly where it does now, with
// sendfile(2) or without, as a text without the last line; the log says why.
func TestFileThatShrinks(t *testing.T) {
	const size = 32 << 20
	for name, strict := range map[string]bool{"as it is": false, "as a text": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.txt")
			if err := os.WriteFile(path, []byte(strings.Repeat("0123456\n", size/8)), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := site.Open(dir, site.Config{})
			if err != nil {
				t.Fatal(err)
			}
			var log lines
			c := dialTCP(t, startTCP(t, &Server{Handler: &Tree{Site: s, StrictText: strict}, Log: log.logger()}))
			_, _ = io.WriteString(c, "/x.txt\r\n")
			if _, err := io.ReadFull(c, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 1000); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if err != nil || len(got) >= size-1000 || strict && strings.HasSuffix(string(got), "\r\n.\r\n") {
				t.Errorf("got %d octets more, the last %q, %v", len(got), got[max(len(got)-5, 0):], err)
			}
			eventually(t, "not logged", func() bool {
				return strings.Contains(log.String(), "selector=/x.txt") && strings.Contains(log.String(), "became shorter")
			})
		})
	}
}
