package site_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

// TestReloadTellsWhatFails: Config.Reloaded is told when the root is
// gone, and when it is back.
func TestReloadTellsWhatFails(t *testing.T) {
	dir := t.TempDir() + "/root"
	must(t, os.Mkdir(dir, 0o755))
	told := make(chan site.Reload, 100)
	s, err := site.Open(dir, site.Config{Watch: site.WatchOff, Reloaded: func(r site.Reload) { told <- r }})
	must(t, err)
	if s.Ready(t.Context(), 0) {
		t.Error("ready before it runs")
	}
	treetest.Run(t, s.Run)
	if !s.Ready(t.Context(), time.Hour) {
		t.Error("never ready")
	}
	away := dir + ".away"
	for _, step := range []struct {
		from, to string
		want     error
	}{{dir, dir, nil}, {dir, away, fs.ErrNotExist}, {away, dir, nil}} {
		if step.from != step.to {
			must(t, os.Rename(step.from, step.to))
			s.Reload()
		}
		if r := <-told; !errors.Is(r.Err, step.want) || !r.Everything {
			t.Errorf("%s to %s: %+v", step.from, step.to, r)
		}
	}
}

// TestReloadKeepsLinksOfMounts: when all of the root is read again, links in the mounts, which are
// not, lead where they did.
func TestReloadKeepsLinksOfMounts(t *testing.T) {
	pub, told := t.TempDir(), make(chan site.Reload, 100)
	write(t, pub, map[string]string{"phlog/x": "x", "blog": "-> phlog"})
	s, err := site.Open(t.TempDir(), site.Config{Mounts: map[string]string{"pub": pub},
		Reloaded: func(r site.Reload) { told <- r }})
	must(t, err)
	treetest.Run(t, s.Run)
	_, err = s.Snapshot(t.Context())
	must(t, err)
	for range 2 {
		for r := range told {
			if r.Everything {
				break
			}
		}
		if got := s.Now().Real("pub/blog/x"); got != "pub/phlog/x" {
			t.Errorf("it leads to %q", got)
		}
		s.Reload()
	}
}
