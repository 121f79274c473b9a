package site

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// seam lets a test stand between a site and the file system: fault is called
// before a name is opened, and its error, if any, is what comes of it.
func seam(s *Site, fault func(name string) error) {
	r := s.root.Load()
	plain := r.plain
	r.plain = func(name string) (*os.File, error) {
		if err := fault(name); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return plain(name)
	}
}

// From the lack of descriptors nothing is concluded: the policy stays until the
// tree can be read, and a menu that is not whole is none.
func TestOutOfFilesSaysNothingOfTheTree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x\n", "d/x": "x", "e/gophermap": "0a\tx\n"})
	s, err := Open(dir, Config{Cache: 1 << 20})
	must(t, err)
	var out atomic.Bool
	seam(s, func(name string) error {
		if out.Load() && name != "." && name != "e" {
			return syscall.EMFILE
		}
		return nil
	})
	running(t, s)
	before := s.Now()
	out.Store(true)
	write(t, dir, map[string]string{"d/.robots": "Disallow: /\n"})
	if m, err := s.Menu("e", "h", 70); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("%d items, %v", len(m.Items), err)
	}
	time.Sleep(300 * time.Millisecond)
	if s.Now() != before {
		t.Errorf("a policy was made of what could not be read:\n%s", s.Now().Robots)
	}
	out.Store(false)
	soon(t, "the policy that is written", robotsHas(s, "Disallow: /d"))
}
