package site_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/gophd/gophd/site"
)

// TestReloadTellsWhatFails: Config.Reloaded is told when the root is
// gone, and when it is back.
func TestReloadTellsWhatFails(t *testing.T) {
	dir := t.TempDir() + "/root"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	told := make(chan site.Reload, 100)
	s, err := site.Open(dir, site.Config{Watch: site.WatchOff, Reloaded: func(r site.Reload) { told <- r }})
	if err != nil {
		t.Fatal(err)
	}
	if s.Ready(t.Context(), 0) {
		t.Error("ready before it runs")
	}
	go func() { _ = s.Run(t.Context()) }()
	if !s.Ready(t.Context(), time.Hour) {
		t.Error("never ready")
	}
	next := func() site.Reload {
		t.Helper()
		select {
		case r := <-told:
			return r
		case <-time.After(2 * time.Minute):
			t.Fatal("nobody is told")
			return site.Reload{}
		}
	}
	if r := next(); r.Err != nil || !r.Everything {
		t.Errorf("the first: %+v", r)
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if r := next(); !errors.Is(r.Err, fs.ErrNotExist) || !r.Everything {
		t.Errorf("with the root gone: %+v", r)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if r := next(); r.Err != nil || !r.Everything {
		t.Errorf("with the root back: %+v", r)
	}
}
