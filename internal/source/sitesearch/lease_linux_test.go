package sitesearch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/treetest"
)

// A text that somebody had a lease on when it was to be indexed is found later, though
// nothing in the tree has changed.
func TestLeasedText(t *testing.T) {
	was := again
	t.Cleanup(func() { again = was })
	again = 10 * time.Millisecond
	f := open(t, tree, nil)
	leased, err := os.OpenFile(filepath.Join(f.dir, "phlog/one.txt"), os.O_RDWR, 0)
	treetest.Must(t, err)
	defer func() { _ = leased.Close() }()
	if _, err := unix.FcntlInt(leased.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("no leases here: ", err)
	}
	f.write("phlog/two.txt", "a wombat\n")
	treetest.Must(t, os.Chtimes(leased.Name(), time.Time{}, time.Unix(1, 0)))
	f.until("what is beside it is found", func() bool { return f.found("wombat") == "0/phlog/two.txt" })
	f.until("it cannot be read", func() bool { return f.found("boiled") == "" })
	time.Sleep(3 * time.Second) // until the directory is looked at no more, since its times are no longer young
	_, err = unix.FcntlInt(leased.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	treetest.Must(t, err)
	f.until("it is found", func() bool { return f.found("boiled") == "0/phlog/one.txt" })
}
