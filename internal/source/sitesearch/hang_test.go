package sitesearch_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// A hangingFS is a tree in which some names do not answer while a channel is open.
type hangingFS struct {
	fstest.MapFS
	hangs func(name string) bool
	until atomic.Pointer[chan struct{}]
	waits atomic.Int32
}

func (h *hangingFS) Open(name string) (fs.File, error) {
	if until := h.until.Load(); until != nil && h.hangs(name) {
		h.waits.Add(1)
		<-*until
	}
	return h.MapFS.Open(name)
}

// TestHangingDirectoriesArePutOff: while hundreds of directories of a disk do not answer, from
// before the first index on, what is beside them can be found after a few seconds. The index does
// not count as complete until they answer. Then nothing is lost.
func TestHangingDirectoriesArePutOff(t *testing.T) {
	below := func(name string) bool { return strings.HasPrefix(name, "d/mnt/") }
	for what, hangs := range map[string]func(name string) bool{
		"a mount":               func(name string) bool { return name == "d/mnt" || below(name) },
		"directories of it":     below,
		"texts of it":           func(name string) bool { return below(name) && strings.HasSuffix(name, "x.txt") },
		"homes":                 func(name string) bool { return strings.HasPrefix(name, "~") },
		"files of homes":        func(name string) bool { return strings.HasPrefix(name, "~") && strings.Contains(name, "/") },
		"one text of a hundred": func(name string) bool { return name == "d/mnt/7/sub/x.txt" },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hangingFS{MapFS: fstest.MapFS{
					"gophermap": {Data: []byte("Welcome\n")}, // else the menu shows the tag of each home
					"a/x.txt":   {Data: []byte("alpha\n")},
					"ä/x.txt":   {Data: []byte("omega\n")},
				}, hangs: hangs}
				for i := range 150 {
					for _, name := range []string{"d/mnt/%d/x.txt", "d/mnt/%d/sub/x.txt", "~u%d/x.txt"} {
						h.MapFS[fmt.Sprintf(name, i)] = &fstest.MapFile{Data: []byte("kettle\n")}
					}
				}
				f := &fixture{t: t, Searcher: &sitesearch.Searcher{
					Site: site.FS(h, site.Config{FileTimeout: 10 * time.Second}),
				}}
				treetest.Must(t, f.Open(t.Context()))
				treetest.Run(t, f.Site.Run)
				_, err := f.Site.Snapshot(t.Context())
				treetest.Must(t, err)
				answers := make(chan struct{})
				h.until.Store(&answers)
				treetest.Run(t, f.Run)

				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := f.found("omega"); got != "0/ä/x.txt" {
					t.Errorf("after five seconds %q is found", got)
				}
				time.Sleep(time.Minute)
				if f.complete() {
					t.Error("the index counts as complete")
				}
				if n := h.waits.Load(); what == "a mount" && n > 4 {
					t.Errorf("%d wait for the mount, below what is known to hang", n)
				}
				if help := f.ask(""); !strings.Contains(help, "being built") {
					t.Errorf("the help says %q", help)
				}
				close(answers)
				time.Sleep(30 * time.Second)
				synctest.Wait()
				texts, left := f.Counts()
				if want := 2*2 + 3 + 6*150; texts != want || left != 0 || !f.complete() {
					t.Errorf("%d names of %d are found, %d left out; complete: %v", texts, want, left, f.complete())
				}
			})
		})
	}
}

// TestTextsOfAHangingDiskStay: what an earlier process has indexed stays, though the directory does
// not answer at the start; it is found again when the directory answers.
func TestTextsOfAHangingDiskStay(t *testing.T) {
	dir := t.TempDir()
	files := fstest.MapFS{
		"a.txt":         {Data: []byte("alpha\n")},
		"mnt/b.txt":     {Data: []byte("beta\n")},
		"mnt/sub/c.txt": {Data: []byte("gamma\n")},
	}
	for _, hang := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := &hangingFS{MapFS: files, hangs: func(name string) bool { return name == "mnt" }}
			answers := make(chan struct{})
			if hang {
				h.until.Store(&answers)
			}
			f := &fixture{t: t, Searcher: &sitesearch.Searcher{Site: site.FS(h, site.Config{})}}
			f.SearchDir, f.SearchAll = dir, true
			treetest.Must(t, f.Open(t.Context()))
			treetest.Run(t, f.Site.Run, f.Run)
			time.Sleep(time.Minute)
			synctest.Wait()
			defer close(answers)
			if texts, _ := f.Counts(); texts != 6 || f.complete() == hang {
				t.Errorf("hangs: %v; %d texts; complete: %v", hang, texts, f.complete())
			}
			for word, want := range map[string]string{"alpha": "0/a.txt", "gamma": "0/mnt/sub/c.txt"} {
				if hang && word != "alpha" {
					want = ""
				}
				if got := f.found(word); got != want {
					t.Errorf("hangs: %v; %s finds %q", hang, word, got)
				}
			}
		})
	}
}

// TestSlowDiskIsIndexed: a disk that always takes more than a moment, but does answer, is read
// after some vain attempts.
func TestSlowDiskIsIndexed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hangingFS{MapFS: fstest.MapFS{"slow/a.txt": {Data: []byte("alpha\n")}},
			hangs: func(name string) bool {
				if strings.HasPrefix(name, "slow") {
					time.Sleep(time.Second)
				}
				return false
			}}
		f := &fixture{t: t, Searcher: &sitesearch.Searcher{Site: site.FS(h, site.Config{})}}
		treetest.Must(t, f.Open(t.Context()))
		treetest.Run(t, f.Site.Run)
		_, err := f.Site.Snapshot(t.Context())
		treetest.Must(t, err)
		h.until.Store(new(chan struct{}))
		treetest.Run(t, f.Run)
		for range 5 * 60 {
			time.Sleep(time.Second)
			f.Reloaded() // something else may have changed
		}
		synctest.Wait()
		if texts, _ := f.Counts(); texts != 3 || !f.complete() {
			t.Errorf("%d texts; complete: %v", texts, f.complete())
		}
	})
}
