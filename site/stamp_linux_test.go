package site_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// What was kept is trusted for a second, whatever happens, and for one more after each
// look that finds all as it was. No event is needed to see what is no more.
func TestLook(t *testing.T) {
	var base string
	at := func(name string) string { return filepath.Join(base, name) }
	file := func(name string) func(*site.View) error {
		return func(v *site.View) error { _, err := v.ReadFile(name); return err }
	}
	mount := func(t *testing.T, from, to string) error {
		if os.Geteuid() != 0 {
			return errors.ErrUnsupported
		}
		err := unix.Mount(at(from), at(to), "", unix.MS_BIND, "")
		if err == nil {
			t.Cleanup(func() { _ = unix.Unmount(at(to), unix.MNT_DETACH) })
		}
		return err
	}
	older := time.Now().Add(-time.Hour)
	tests := map[string]struct {
		see    func(*site.View) error
		change func(*testing.T) error
		slow   bool // only a look that may wait can tell that nothing has changed
	}{
		"nothing":            {see: file("d/x")},
		"nothing, by a link": {see: file("link/x"), slow: true},
		"nothing there":      {see: file("d/none")},
		"nothing at a link":  {see: file("dead"), slow: true},
		"rewritten": {see: file("d/x"), change: func(t *testing.T) error {
			return os.WriteFile(at("root/d/x"), []byte("y"), 0o600)
		}},
		"an older one": {see: file("d/x"), change: func(t *testing.T) error {
			return os.Rename(at("older"), at("root/d/x"))
		}},
		"mode": {see: file("d/x"), change: func(t *testing.T) error {
			return os.Chmod(at("root/d/x"), 0o604)
		}},
		"times set back": {see: file("d/x"), change: func(t *testing.T) error {
			return errors.Join(os.WriteFile(at("root/d/x"), []byte("z"), 0o600),
				os.Chtimes(at("root/d/x"), older, older))
		}},
		"hard link": {see: file("d/x"), change: func(t *testing.T) error {
			return os.WriteFile(at("hard"), []byte("y"), 0o600)
		}},
		"gone": {see: file("d/x"), change: func(t *testing.T) error {
			return os.Remove(at("root/d/x"))
		}},
		"its directory": {see: file("d/x"), change: func(t *testing.T) error {
			return os.Rename(at("root/d"), at("root/e"))
		}},
		"a link instead": {see: file("d/x"), change: func(t *testing.T) error {
			return errors.Join(os.Rename(at("root/d"), at("out")),
				os.Symlink("../out", at("root/d")))
		}},
		"mounted over it": {see: file("d/x"), change: func(t *testing.T) error {
			return mount(t, "older", "root/d/x")
		}},
		"mounted over above": {see: file("d/x"), change: func(t *testing.T) error {
			return mount(t, "other", "root/d")
		}},
		"link turned": {see: file("link/x"), change: func(t *testing.T) error {
			return errors.Join(os.Remove(at("root/link")), os.Symlink("d2", at("root/link")))
		}},
		"end of the link": {see: file("link/x"), change: func(t *testing.T) error {
			return os.WriteFile(at("root/d/x"), []byte("yy"), 0o600)
		}},
		"appears": {see: file("d/none"), change: func(t *testing.T) error {
			return os.WriteFile(at("root/d/none"), nil, 0o600)
		}},
		"appears at a link": {see: file("dead"), change: func(t *testing.T) error {
			return os.WriteFile(at("root/nothing"), nil, 0o600)
		}},
		"listed": {see: func(v *site.View) error {
			_, err := v.ReadDir("d")
			return err
		}, change: func(t *testing.T) error {
			return os.Remove(at("root/d/z"))
		}},
		"nothing, in a long listing": {slow: true, see: func(v *site.View) error {
			list, err := v.ReadDir("many")
			for _, e := range list {
				_, err2 := v.Stat("many/" + e.Name())
				err = errors.Join(err, err2)
			}
			return err
		}},
		"date in a listing": {see: func(v *site.View) error {
			_, err := v.ReadDir("d")
			_, err2 := v.Stat("d/x")
			return errors.Join(err, err2)
		}, change: func(t *testing.T) error { return os.Chmod(at("root/d/x"), 0o604) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			base = t.TempDir()
			treetest.Write(t, base, map[string]string{"older": "o", "other/x": "m", "root/d/x": "x",
				"root/d/z": "z", "root/d2/x": "x",
				"root/link": "-> d", "root/dead": "-> nothing"})
			for i := range 32 {
				treetest.Write(t, base, map[string]string{fmt.Sprint("root/many/x", i): ""})
			}
			must(t, errors.Join(os.Chtimes(at("older"), older, older),
				os.Link(at("root/d/x"), at("hard"))))
			aged(t, at("root"), site.Config{}, func(t *testing.T, s *site.Site) {
				v := s.View(t.Context())
				if err := test.see(v); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				stamp := v.Stamp()
				if test.change != nil {
					if err := test.change(t); errors.Is(err, errors.ErrUnsupported) ||
						errors.Is(err, unix.EPERM) {
						t.Skip(err)
					} else if err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if !stamp.Fresh() {
						t.Fatal("not trusted for a second")
					}
					time.Sleep(time.Second)
					if got := stamp.Fresh(); got != (test.change == nil && !test.slow) {
						t.Fatalf("a second later: fresh is %v", got)
					}
					if got := stamp.Look(t.Context()); got != (test.change == nil) {
						t.Fatalf("looked at: %v", got)
					}
					if test.change != nil {
						return
					}
				}
			})
		})
	}
}

// What was read right after it had changed may change again without another stamp: it
// is read again, once.
func TestYoungFilesAreNotRenewed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x": "x"})
	now := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		s, err := site.Open(dir, site.Config{})
		must(t, err)
		for _, want := range []bool{false, true} {
			v := s.View(t.Context())
			_, err := v.ReadFile("x")
			must(t, err)
			time.Sleep(3 * time.Second)
			if got := v.Stamp().Look(t.Context()); got != want {
				t.Errorf("renewed: %v", got)
			}
		}
	})
}

// TestListingOfWhatMayBeRead: a listing shows what this process may read, and is made again
// once it may read more of it.
func TestListingOfWhatMayBeRead(t *testing.T) {
	unprivileged(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x", "d/y": "y", "d/z": "z"})
	y := filepath.Join(dir, "d/y")
	must(t, os.Chmod(y, 0))
	aged(t, dir, site.Config{}, func(t *testing.T, s *site.Site) {
		listed := func() (int, *site.Stamp) {
			v := s.View(t.Context())
			list, err := v.ReadDir("d")
			must(t, err)
			return len(list), v.Stamp()
		}
		n, stamp := listed()
		if n != 2 || !stamp.Look(t.Context()) {
			t.Errorf("%d names", n)
		}
		must(t, os.Chmod(y, 0o644))
		time.Sleep(time.Second)
		if stamp.Look(t.Context()) {
			t.Error("it holds although there is more to list")
		}
		if n, _ := listed(); n != 3 {
			t.Errorf("%d names", n)
		}
	})
}
