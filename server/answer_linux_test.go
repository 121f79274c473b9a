package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// lends is a Quick handler that answers with a file, which is locked as long as it
// is open.
type lends struct {
	path     string
	resident bool
	lent     atomic.Int64
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
	return Answer{File: lentFile{fd: fd, size: st.Size, resident: h.resident}}, true
}

// lentFile is a file of lends, or of keeps, which counts in got what it gets back.
type lentFile struct {
	fd               int
	size             int64
	resident, recent bool
	got              *atomic.Int64
}

func (f lentFile) Fd() uintptr            { return uintptr(f.fd) }
func (f lentFile) Size() int64            { return f.size }
func (f lentFile) Resident() (bool, bool) { return f.resident, f.recent }
func (f lentFile) OSFile() *os.File       { return os.NewFile(f.Fd(), "lent") }
func (f lentFile) Close() {
	if f.got != nil {
		f.got.Add(1)
	}
	_ = unix.Close(f.fd)
}

func (h *lends) ServeGopher(ResponseWriter, *Request) error { return ErrNotFound }

// returned reports whether all files that were lent are closed.
func (h *lends) returned() bool {
	f, err := os.Open(h.path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return h.lent.Load() > 0 && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

func newLends(t *testing.T, size int, resident bool) (*lends, []byte) {
	t.Helper()
	body := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	h := &lends{path: filepath.Join(t.TempDir(), "file"), resident: resident}
	if err := os.WriteFile(h.path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return h, body
}

// A file that is at hand arrives whole, wherever it was sent from, and is closed.
func TestFileAtHand(t *testing.T) {
	for name, test := range map[string]struct {
		size, many int
		resident   bool
	}{
		"resident":            {1 << 20, 64, true},
		"larger than sockets": {16 << 20, 64, true},
		"might block":         {1 << 20, 64, false},
		"many":                {1 << 20, -1, true},
	} {
		t.Run(name, func(t *testing.T) {
			many := manyConns
			t.Cleanup(func() { manyConns = many })
			manyConns = test.many
			h, body := newLends(t, test.size, test.resident)
			told := make(witness, 1)
			c := dialTCP(t, startTCP(t, &Server{Handler: h, LingerTimeout: 100 * time.Millisecond, Observer: told}))
			_, _ = io.WriteString(c, "/q\r\n")
			time.Sleep(10 * time.Millisecond)
			if got, err := io.ReadAll(c); !bytes.Equal(got, body) || err != nil {
				t.Errorf("got %d of %d bytes, %v", len(got), len(body), err)
			}
			if s := <-told; s.Bytes != int64(len(body)) || s.Err != nil {
				t.Errorf("told: %+v", s)
			}
			eventually(t, "a file is left open", h.returned)
		})
	}
}

// Who is over a cap when the rest of a reply is to be sent is told by a reset:
// an error message would stand in the middle of the reply.
func TestOverTheCapInTheMiddle(t *testing.T) {
	h, body := newLends(t, 16<<20, true)
	l, s := deferring(t), &Server{Handler: h, MaxConnsPerIP: 1, RequestTimeout: time.Hour}
	serveOn(t, s, l)
	_, _ = io.WriteString(dialTCP(t, l.Addr().String()), "/part of a request") // has the one place
	eventually(t, "nobody stays", func() bool { return s.Counts().Reading == 1 })
	c := dialTCP(t, l.Addr().String())
	_, _ = io.WriteString(c, "/q\r\n")
	eventually(t, "it is not refused", func() bool { return s.Counts().Refused[tooManyOfBlock.Error()] == 1 })
	if got, err := io.ReadAll(c); !bytes.HasPrefix(body, got) || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	eventually(t, "a file is left open", h.returned)
}

// keeps is a lends that wants its files back. Their offset is somewhere.
type keeps struct {
	*lends
	recent bool
	got    atomic.Int64
}

func (h *keeps) Quick(r *Request) (a Answer, ok bool) {
	if a, ok = h.lends.Quick(r); ok {
		f := a.File.(lentFile)
		_, err := unix.Seek(f.fd, 1000, io.SeekStart)
		f.recent, f.got = h.recent, &h.got
		a.File, ok = f, err == nil
	}
	return a, ok
}

// A file that was sent at once is given back; one of which a goroutine sends the rest
// is closed. Either arrives whole, wherever its offset was.
func TestFileIsGivenBack(t *testing.T) {
	for name, size := range map[string]int{"at once": 256 << 10, "in parts": 2 * 16 << 20} {
		for _, recent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, recent: %v", name, recent), func(t *testing.T) {
				lent, body := newLends(t, size, true)
				h := &keeps{lends: lent, recent: recent}
				addr := startTCP(t, &Server{Handler: h})
				ask := func() {
					c := dialTCP(t, addr)
					_, _ = io.WriteString(c, "/q\r\n")
					if got, err := io.ReadAll(c); !bytes.Equal(got, body) || err != nil {
						t.Errorf("got %d of %d bytes, %v", len(got), len(body), err)
					}
					eventually(t, "a file is left open", h.returned)
				}
				if ask(); name == "in parts" && h.got.Load() != 0 {
					t.Error("it was given back, and its offset moved")
				}
				if name == "at once" {
					eventually(t, "it is never given back", func() bool { ask(); return h.got.Load() > 0 })
				}
			})
		}
	}
}
