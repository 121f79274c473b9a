package accesslog

import (
	"log/slog"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/server"
)

// TestLostAreCounted: a disk that fills in the middle of a line, again and again.
func TestLostAreCounted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "access.log")
	l, err := Open(name, Full, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	finish(l)
	if l.file, err = open(name); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.file.Close() }()
	batch := []queued{{server.Served{Selector: "/a"}, time.Now()}, {server.Served{Selector: "/b"}, time.Now()}, {server.Served{Selector: "/c"}, time.Now()}}
	line := len(batch[0].appendTo(nil, Full))
	written := int64(0)
	for i, room := range []int{0, line / 2, 0, line + 10, 1, 10 * line, 2*line - 1} {
		info, err := l.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		lost := l.Lost()
		limitFile(t, info.Size()+int64(room), func() { l.write(batch) })
		written += 3 - (l.Lost() - lost)
		if got := int64(len(complete.FindAllString(read(t, name), -1))); got != written {
			t.Errorf("write %d: %d whole lines, but %d were not counted as lost:\n%s", i, got, written, read(t, name))
		}
	}
}

var complete = regexp.MustCompile(`(?m)^-:0 - - - \[.*"-" "-"$`)

// limitFile does something while no file may grow beyond a size.
func limitFile(t *testing.T, size int64, do func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(size), Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) }()
	do()
}
