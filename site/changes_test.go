package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// started runs a site until the test ends, and waits until it watches.
func started(t *testing.T, dir string, conf Config) *Site {
	t.Helper()
	s, err := Open(dir, conf)
	must(t, err)
	running(t, s)
	return s
}

// running runs an opened site.
func running(t *testing.T, s *Site) {
	t.Helper()
	treetest.Run(t, s.Run)
	_, err := s.Snapshot(t.Context())
	must(t, err)
}

// soon waits until f is true, at most two minutes.
func soon(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// A stamp holds until a directory that was seen is touched, while something was
// made or later.
func TestStamp(t *testing.T) {
	tests := map[string]struct {
		dirs                  []string
		before, during, after string // what is touched when; "-" is nothing
		fresh                 bool
	}{
		"nothing happens":   {[]string{"a"}, "-", "-", "-", true},
		"before":            {[]string{"a"}, "a", "-", "-", true},
		"while it is made":  {[]string{"a"}, "-", "a", "-", false},
		"all, meanwhile":    {[]string{"a"}, "-", "", "-", false},
		"afterwards":        {[]string{"a", "b"}, "-", "-", "b", false},
		"all, afterwards":   {[]string{"a"}, "-", "-", "", false},
		"another directory": {[]string{"a"}, "-", "-", "other", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newChanges()
			for c.slot("other") == c.slot("a") || c.slot("other") == c.slot("b") {
				c = newChanges()
			}
			touch := func(dir string) {
				if dir != "-" {
					c.touch(dir)
				}
			}
			touch(test.before)
			v := &View{site: &Site{changes: c, clock: time.Now}, began: c.seq.Load()}
			touch(test.during)
			for _, dir := range test.dirs {
				v.note(c.slot(dir))
			}
			stamp := v.Stamp()
			touch(test.after)
			for range 2 {
				if stamp.Fresh() != test.fresh {
					t.Errorf("fresh: %v", !test.fresh)
				}
			}
		})
	}
}

// What is made from what another view has seen holds no longer than that.
func TestDependOn(t *testing.T) {
	c := newChanges()
	s := &Site{changes: c, clock: time.Now}
	early := &View{site: s, began: c.seq.Load()}
	early.note(c.slot("a"))
	c.touch("a")
	late := &View{site: s, began: c.seq.Load()}
	if !late.Stamp().Fresh() {
		t.Error("the late one is stale")
	}
	if late.DependOn(early.Stamp()); late.Stamp().Fresh() {
		t.Error("fresh, though what it depends on has changed")
	}
	if late.DependOn(nil); late.Stamp() != nil {
		t.Error("a stamp for what nobody can vouch for")
	}
}

// A listing that shows an annotation which the policy does not know, or lacks one that it
// knows, has its directory read again, though no event and no round has found it yet.
func TestAnnotationOfWhatIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/b/x": "x", "c/x": "x", "known/.robots": "Disallow: /y\n", "known/y": "y", "gone/.robots": "Disallow: /z\n"})
	s, err := Open(dir, Config{Watch: WatchOff})
	must(t, err)
	var asked []string
	s.look = func(dir string) { asked = append(asked, dir) }
	running(t, s)
	write(t, dir, map[string]string{"a/b/.robots": "Disallow: /x\n", "c/y": "y"})
	must(t, os.Remove(filepath.Join(dir, "gone/.robots")))
	for _, name := range []string{"a", "a/b", "c", "known", "gone"} {
		_, err := s.View(t.Context()).ReadDir(name)
		must(t, err)
	}
	if got := strings.Join(asked, " "); got != "a/b gone" {
		t.Errorf("read again: %q", got)
	}
}
