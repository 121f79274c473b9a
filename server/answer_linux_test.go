package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"

	"golang.org/x/sys/unix"
)

// lends is a Quick handler that answers with a file, which it locks until it is closed.
type lends struct {
	path string
	lent atomic.Int64
}

func (h *lends) Quick(*Request) (a Answer, ok bool) {
	fd, err := unix.Open(h.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return a, false
	}
	var st unix.Stat_t
	if errors.Join(unix.Flock(fd, unix.LOCK_SH), unix.Fstat(fd, &st)) != nil {
		return a, false
	}
	h.lent.Add(1)
	return Answer{File: os.NewFile(uintptr(fd), "lent"), Size: st.Size}, true
}

func (h *lends) ServeGopher(ResponseWriter, *Request) error {
	return ErrNotFound
}

// awaitReturned waits until all files of the answers are closed.
func (h *lends) awaitReturned(t *testing.T) {
	t.Helper()
	f, err := os.Open(h.path)
	must(t, err)
	defer func() { _ = f.Close() }()
	treetest.Until(t, "the file is closed", func() bool {
		return h.lent.Load() > 0 && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	})
}

func newLends(t *testing.T, size int) (*lends, []byte) {
	t.Helper()
	body := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	h := &lends{path: filepath.Join(t.TempDir(), "file")}
	must(t, os.WriteFile(h.path, body, 0o600))
	return h, body
}

// A file arrives whole, whether the loop or a goroutine sends it, and is closed.
func TestFileAtHand(t *testing.T) {
	many := manyConns
	t.Cleanup(func() { manyConns = many })
	for _, test := range []struct{ size, many int }{
		{1 << 20, 64},
		{16 << 20, 64}, // larger than sockets
		{1 << 20, -1},  // many are connected
	} {
		manyConns = test.many
		h, body := newLends(t, test.size)
		told := make(witness, 1)
		l := listenTCP(t)
		stop := serving(t, &Server{Handler: h, LingerTimeout: 100 * time.Millisecond,
			Observer: told}, l, nil)
		c := dialTCP(t, l.Addr().String())
		send(c, "/q\r\n")
		time.Sleep(10 * time.Millisecond)
		if got, err := io.ReadAll(c); !bytes.Equal(got, body) || err != nil {
			t.Errorf("%+v: got %d of %d bytes, %v", test, len(got), len(body), err)
		}
		if s := <-told; s.Bytes != int64(len(body)) || s.Err != nil {
			t.Errorf("%+v: told: %+v", test, s)
		}
		h.awaitReturned(t)
		stop()
	}
}

// A client that exceeds a limit when the rest of its reply is to be sent gets a reset: an error
// message would be in the middle of the reply.
func TestOverTheCapInTheMiddle(t *testing.T) {
	h, body := newLends(t, 16<<20)
	l, s := deferring(t), &Server{Handler: h, MaxConnsPerIP: 1, RequestTimeout: time.Hour}
	t.Cleanup(serving(t, s, l, nil))
	send(dialTCP(t, l.Addr().String()), "/part of a request") // has the one place
	awaitSilent(t, s, 1)
	c := dialTCP(t, l.Addr().String())
	send(c, "/q\r\n")
	treetest.Until(t, "it is refused", func() bool {
		return s.Counts().Refused[tooManyOfBlock.Error()] == 1
	})
	if got, err := io.ReadAll(c); !bytes.HasPrefix(body, got) ||
		!errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	h.awaitReturned(t)
}
