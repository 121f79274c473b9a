package sitesearch_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// TestFailedBatch: texts that the index cannot take, since its disk is full, are found later,
// though nothing changes. Until then the index does not count as complete.
func TestFailedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log treetest.Log
		f := &fixture{t: t, Searcher: &sitesearch.Searcher{
			Log: log.Logger(),
			Site: site.FS(fstest.MapFS{
				"one/a.txt": {Data: []byte("a wombat\n")},
				"two/b.txt": {Data: []byte("a walrus\n")},
			}, site.Config{}),
		}}
		f.SearchDir = t.TempDir()
		treetest.Must(t, f.Open(t.Context()))

		// No file becomes larger than this, as on a disk without room.
		var limit syscall.Rlimit
		treetest.Must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
		small := syscall.Rlimit{Cur: 4096, Max: limit.Max}
		treetest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small))
		treetest.Run(t, f.Site.Run, f.Run)
		time.Sleep(150 * time.Second)
		synctest.Wait()
		treetest.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
		if texts, _ := f.Counts(); texts != 0 || f.complete() {
			t.Errorf("without room there are %d texts; complete: %v", texts, f.complete())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := f.found("wombat") + f.found("walrus"); got != "0/one/a.txt0/two/b.txt" {
			t.Errorf("found %q", got)
		}
		texts, left := f.Counts()
		if n := strings.Count(log.String(), "level=ERROR"); texts != 5 || left != 0 || n != 3 || !f.complete() {
			t.Errorf("%d texts, %d left out, %d failures; complete: %v", texts, left, n, f.complete())
		}
	})
}

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
