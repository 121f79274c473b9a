package site

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A directory where an annotation should be denies what it was meant for.
func TestAnnotationThatIsADirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/.robots/": "", "a/x.txt": "x", "b/x.txt": "x"})
	snap, err := Load(dir)
	must(t, err)
	if !strings.Contains(string(snap.Robots), "Disallow: /a/\n") ||
		strings.Contains(string(snap.Robots), "/b") {
		t.Errorf("robots.txt: %s", snap.Robots)
	}
	reports := snap.Compiled.Reports()
	if len(reports) == 0 || reports[0].File != "a/.robots" {
		t.Errorf("reports: %+v", reports)
	}
}

// A root that is exchanged is followed, though no event tells and trees are compared seldom. That
// there is none for a while is no reason to hurry.
func TestRootExchangedWithoutEvents(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"root/x.txt": "old", "new/x.txt": "new"})
	dir := filepath.Join(base, "root")
	s := start(t, dir, Config{Watch: WatchPoll, Poll: time.Hour})
	must(t, os.Rename(dir, dir+".old"))
	time.Sleep(50 * time.Millisecond)
	must(t, os.Rename(filepath.Join(base, "new"), dir))
	soon(t, "the other root is served", func() bool { return content(s, "x.txt") == "new" })
}

// A root that is exchanged before anything watches it is followed all the same.
func TestRootExchangedBeforeTheFirstScan(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"old/x.txt": "old", "new/x.txt": "new", "root": "-> old"})
	s, err := Open(filepath.Join(base, "root"), Config{})
	must(t, err)
	must(t, os.Symlink("new", filepath.Join(base, "tmp")))
	must(t, os.Rename(filepath.Join(base, "tmp"), filepath.Join(base, "root")))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	_, err = s.Snapshot(ctx)
	must(t, err)
	f, err := lookup(s, "x.txt")
	must(t, err)
	got, err := io.ReadAll(f)
	must(t, err)
	_ = f.Close()
	if string(got) != "new" {
		t.Errorf("served %q", got)
	}
	stop()
	must(t, <-ended)
}
