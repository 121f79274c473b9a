package site

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
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

// aged runs a test with a site that nothing watches, ten seconds after its files were written,
// so that none is young. The clock moves when the test sleeps.
func aged(t *testing.T, dir string, conf Config, f func(*testing.T, *Site)) {
	t.Helper()
	now := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now.Add(10 * time.Second)))
		s, err := Open(dir, conf)
		must(t, err)
		f(t, s)
	})
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
			if want := of < changed; stamp.Fresh() != want || made.Fresh() != want ||
				stamp.Outdated() == want {
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
	aged(t, dir, Config{}, func(t *testing.T, s *Site) {
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
	})
}

// A listing that shows an annotation which the policy does not know, or lacks one that it
// knows, is news, though no event and no round has found it yet.
func TestAnnotationOfWhatIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/b/x": "x", "c/x": "x", "known/.robots": "Disallow: /y\n",
		"known/y": "y", "gone/.robots": "Disallow: /z\n"})
	s, err := Open(dir, Config{Watch: WatchOff})
	must(t, err)
	running(t, s)
	write(t, dir, map[string]string{"a/b/.robots": "Disallow: /x\n", "c/y": "y"})
	must(t, os.Remove(filepath.Join(dir, "gone/.robots")))
	for name, want := range map[string]bool{"a": false, "a/b": true, "c": false, "known": false,
		"gone": true} {
		v := s.View(t.Context())
		_, err := v.ReadDir(name)
		must(t, err)
		_, err = os.Stat(filepath.Join(dir, name, noteName))
		if got := v.isNews(name, err == nil); got != want {
			t.Errorf("%s is news: %v", name, got)
		}
	}
}
