package sitesearch_test

import (
	"os"
	"path/filepath"
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
