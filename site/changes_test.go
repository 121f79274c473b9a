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

// aged opens a site that nothing watches, whose clock runs ahead by what is returned.
func aged(t *testing.T, dir string, conf Config) (*Site, *time.Duration) {
	t.Helper()
	s, err := Open(dir, conf)
	must(t, err)
	ahead := 10 * time.Second // so that the files are not young
	s.clock = func() time.Time { return time.Now().Add(ahead) }
	return s, &ahead
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

// TestScopes: a reply is stale once something in its scope has changed, and one that is made
// of it, too.
func TestScopes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x"})
	s := started(t, dir, Config{})
	for of := range scopes {
		for changed := range scopes {
			v := s.View(t.Context())
			v.scope = of
			of2 := s.View(t.Context())
			of2.DependOn(v.Stamp())
			stamp, made := v.Stamp(), of2.Stamp()
			s.serve(func(now *served) { now.changed(changed) })
			if want := of < changed; stamp.Fresh() != want || made.Fresh() != want || stamp.Outdated() == want {
				t.Errorf("of %d, when %d changes: %v %v", of, changed, stamp.Fresh(), made.Fresh())
			}
			late := s.View(t.Context())
			if late.DependOn(stamp); of >= changed && late.Stamp() != nil {
				t.Errorf("of %d, after %d: made of what is stale", of, changed)
			}
		}
	}
	v := s.View(t.Context())
	if v.DependOn(nil); v.Stamp() != nil {
		t.Error("a stamp for what nobody can vouch for")
	}
}

// TestEventIsLookedAt: after any event each reply is looked at once more, however short ago
// that was; one of very many files a second later.
func TestEventIsLookedAt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x": "x", "other/y": "y"})
	s, _ := aged(t, dir, Config{})
	v := s.View(t.Context())
	_, err := v.ReadFile("x")
	must(t, err)
	small := v.Stamp()
	for range maxLooks {
		v.add(v.seen[0])
	}
	large := v.Stamp()
	write(t, dir, map[string]string{"x": "xx"})
	if !small.Fresh() || !large.Fresh() {
		t.Error("not trusted for a second")
	}
	s.events.Add(1)
	if small.Fresh() || small.Look(t.Context()) || !large.Fresh() {
		t.Error("after an event")
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
