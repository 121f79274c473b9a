package sitesearch

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// A text that somebody had a lease on when it was to be indexed is found later, though
// nothing in the tree has changed.
func TestLeasedText(t *testing.T) {
	f := open(t, tree, nil)
	leased := filepath.Join(f.dir, "phlog/one.txt")
	free := treetest.Lease(t, leased)
	f.write("phlog/two.txt", "a wombat\n")
	treetest.Must(t, os.Chtimes(leased, time.Time{}, time.Unix(1, 0)))
	f.until("what is beside it is found", func() bool {
		return f.found("wombat") == "0/phlog/two.txt"
	})
	f.until("it cannot be read", func() bool { return f.found("boiled") == "" })
	time.Sleep(3 * time.Second) // until the directory is looked at no more, since its times are no longer young
	free()
	f.until("it is found", func() bool { return f.found("boiled") == "0/phlog/one.txt" })
}

// TestFailedBatch: edits that the index cannot take, since its disk is full, are found later,
// though nothing changes again.
func TestFailedBatch(t *testing.T) {
	was := again
	t.Cleanup(func() { again = was })
	again = 10 * time.Millisecond
	var failures failureCount
	dir := t.TempDir()
	f := open(t, tree, func(s *Searcher) { s.SearchDir, s.Log = dir, slog.New(&failures) })

	// No file becomes larger than this, as on a disk without room.
	var limit syscall.Rlimit
	treetest.Must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	small := syscall.Rlimit{Cur: 4096, Max: limit.Max}
	treetest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small))
	f.write("one/a.txt", "a wombat\n")
	f.write("two/b.txt", "a walrus\n")
	f.until("they are refused", func() bool { return failures.Load() > 3 })
	treetest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	f.until("both are found", func() bool {
		return f.found("wombat") == "0/one/a.txt" && f.found("walrus") == "0/two/b.txt"
	})
	n := failures.Load()
	f.write("three/c.txt", "a yak\n")
	f.until("the next is found", func() bool { return f.found("yak") == "0/three/c.txt" })
	if texts, left := f.Counts(); texts != 15 || left != 0 || failures.Load() > n+1 {
		t.Errorf("%d texts, %d left out, %d failures more", texts, left, failures.Load()-n)
	}
}

// failureCount is a slog.Handler that counts errors.
type failureCount struct{ atomic.Int64 }

func (c *failureCount) Enabled(_ context.Context, l slog.Level) bool {
	return l >= slog.LevelError
}
func (c *failureCount) Handle(context.Context, slog.Record) error {
	c.Add(1)
	return nil
}
func (c *failureCount) WithAttrs([]slog.Attr) slog.Handler {
	return c
}
func (c *failureCount) WithGroup(string) slog.Handler {
	return c
}
