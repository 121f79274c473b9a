package site_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gophd/gophd/site"
)

// The root is followed by its name, and nothing of an old one is kept, with events and without.
// While there is none, that is no reason to hurry.
func TestRootGoneAndBack(t *testing.T) {
	for _, conf := range []site.Config{{}, {Watch: site.WatchPoll, Poll: time.Hour}} {
		base := t.TempDir()
		dir := filepath.Join(base, "root")
		write(t, base, map[string]string{"root/d/x": "old", "next/d/x": "new",
			"next/d/.robots": "Disallow: /x\n"})
		s := start(t, dir, conf)
		must(t, os.Rename(dir, filepath.Join(base, "gone")))
		time.Sleep(50 * time.Millisecond)
		if got := content(s, "d/x"); got != "old" {
			t.Errorf("while the root is gone: %q", got)
		}
		must(t, os.Rename(filepath.Join(base, "next"), dir))
		soon(t, "the new root", func() bool { return content(s, "d/x") == "new" })
		soon(t, "its robots.txt", robotsHas(s, "Disallow: /d/x"))
	}
}

// A root that is exchanged before anything watches it is followed all the same.
func TestRootExchangedBeforeTheFirstScan(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"old/x.txt": "old", "new/x.txt": "new", "root": "-> old",
		"tmp": "-> new"})
	s, err := site.Open(filepath.Join(base, "root"), site.Config{})
	must(t, err)
	must(t, os.Rename(filepath.Join(base, "tmp"), filepath.Join(base, "root")))
	running(t, s)
	if got := content(s, "x.txt"); got != "new" {
		t.Errorf("served %q", got)
	}
}
