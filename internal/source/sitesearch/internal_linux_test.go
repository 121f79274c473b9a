package sitesearch

import (
	"context"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/search"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// TestFailedBatch: edits that the index cannot take, since its disk is full, are found later,
// though nothing changes again.
func TestFailedBatch(t *testing.T) {
	was := again
	t.Cleanup(func() { again = was })
	again = 10 * time.Millisecond
	var failures failureCount
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{"a.txt": "kettle\n"})
	f := &Searcher{Log: slog.New(&failures)}
	f.SearchDir = t.TempDir()
	s, err := site.Open(dir, site.Config{Files: true, Reloaded: func(site.Reload) { f.Reloaded() }})
	treetest.Must(t, err)
	f.Site = s
	treetest.Must(t, f.Open(t.Context()))
	treetest.Run(t, s.Run, f.Run)
	finds := func(word string) {
		treetest.Until(t, word, func() bool {
			r, err := f.index.Search(t.Context(), search.Query{Text: word})
			return err == nil && r.Total == 1
		})
	}
	finds("kettle")

	// No file becomes larger than this, as on a disk without room.
	var limit syscall.Rlimit
	treetest.Must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	small := syscall.Rlimit{Cur: 4096, Max: limit.Max}
	treetest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small))
	treetest.Write(t, dir, map[string]string{"one/a.txt": "a wombat\n", "two/b.txt": "a walrus\n"})
	treetest.Until(t, "they are refused", func() bool { return failures.Load() > 3 })
	treetest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	finds("wombat")
	finds("walrus")
	n := failures.Load()
	treetest.Write(t, dir, map[string]string{"three/c.txt": "a yak\n"})
	finds("yak")
	if texts, left := f.Counts(); texts != 8 || left != 0 || failures.Load() > n+1 {
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
