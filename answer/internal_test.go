package answer

import (
	"io"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/site"
)

var write, must, eventually = treetest.Write, treetest.Must, treetest.Eventually

// run opens a site and keeps it until the test ends.
func run(t testing.TB, dir string) *site.Site {
	t.Helper()
	s, err := site.Open(dir, site.Config{})
	must(t, err)
	treetest.Run(t, s.Run)
	_, err = s.Snapshot(t.Context())
	must(t, err)
	return s
}

// A file whose beginning cannot be read, as on a broken disk, is not converted, and
// nothing panics: Quick is asked where a panic would be that of all connections.
func TestBrokenFile(t *testing.T) {
	h := &Host{}
	if h.charsetOf("notes.txt", unreadable{}, smallFile) != menu.CharsetUTF8 {
		t.Error("it is converted")
	}
}

type unreadable struct{}

func (unreadable) ReadAt([]byte, int64) (int, error) {
	return 0, io.ErrUnexpectedEOF
}
