package site

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/policy"
)

// seam lets a test stand between a site and the file system: fault is called
// before a name is opened, and its error, if any, is what comes of it.
func seam(s *Site, fault func(name string) error) {
	s.served.Load().root.Main.Fault = fault
}

// blocks is a fault: what lies below a directory does not answer while it holds.
type blocks struct {
	mu   sync.RWMutex // held while nothing answers
	dir  string
	here atomic.Int32 // how many wait
}

func (b *blocks) fault(name string) error {
	if name == b.dir || strings.HasPrefix(name, b.dir+"/") {
		b.here.Add(1)
		defer b.here.Add(-1)
		b.mu.RLock()
		defer b.mu.RUnlock()
	}
	return nil
}

// A directory on a file system that blocks costs those who ask for it, a few of
// them, and nobody else: other files are served, other annotations heeded. When
// it answers again everything is as before.
func TestStalledDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"slow/x": "x", "slow/y": "y", "d/x": "x"})
	s, err := Open(dir, Config{FileTimeout: 100 * time.Millisecond})
	must(t, err)
	slow := &blocks{dir: "slow"}
	seam(s, slow.fault)
	Running(t, s)
	slow.mu.Lock()
	first := make(chan error)
	go func() { first <- CanOpen(s, "slow/x") }()
	soon(t, "a stall", func() bool { return slow.here.Load() > 0 })
	soon(t, "that it does not answer is known", func() bool {
		op, err := s.guard.Enter("slow/x")
		if err == nil {
			op.Leave()
		}
		return errors.Is(err, stall.Err)
	})
	if err := CanOpen(s, "slow/x"); !errors.Is(err, stall.Err) {
		t.Fatal(err)
	}
	// The time is so short that others may be taken not to answer, for a moment.
	soon(t, "another directory answers", func() bool { return CanOpen(s, "d/x") == nil })
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x\n"})
	soon(t, "another annotation", RobotsHas(s, "Disallow: /d/x"))
	s.Reload()
	soon(t, "denial of what does not answer", RobotsHas(s, "Disallow: /slow/"))
	write(t, dir, map[string]string{"d/.robots": "Disallow: /y\n", "d/y": ""})
	soon(t, "another annotation, meanwhile", RobotsHas(s, "Disallow: /d/y"))
	if n := slow.here.Load(); n > 4 {
		t.Errorf("%d wait for it", n)
	}
	slow.mu.Unlock()
	if err := <-first; err != nil && !errors.Is(err, stall.Err) { // it may ask the directory once more
		t.Error(err)
	}
	soon(t, "the old policy", RobotsLacks(s, "Disallow: /slow/"))
	soon(t, "it answers", func() bool { return CanOpen(s, "slow/y") == nil })
}

// silent is a file that does not answer until a channel is closed.
type silent struct {
	disk.File
	until chan struct{}
}

func (f silent) Read(p []byte) (int, error) {
	<-f.until
	return f.File.Read(p)
}

func (f silent) ReadAt(p []byte, off int64) (int, error) {
	<-f.until
	return f.File.ReadAt(p, off)
}

// A file system may cease to answer after a file was opened: whoever reads it, in either
// way, is left.
func TestReadsThatHang(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"Read": "x", "ReadAt": "x"})
	s, err := Open(dir, Config{FileTimeout: 100 * time.Millisecond})
	must(t, err)
	for name, read := range map[string]func(*Resource) (int, error){
		"Read":   func(f *Resource) (int, error) { return f.Read(make([]byte, 1)) },
		"ReadAt": func(f *Resource) (int, error) { return f.ReadAt(make([]byte, 1), 0) },
	} {
		until := make(chan struct{})
		release := sync.OnceFunc(func() { close(until) })
		time.AfterFunc(10*time.Second, release)
		_, err := TryFor(t.Context(), s, stall.Brief, func(v *View) (int, error) {
			f, err := v.Lookup(name)
			if err != nil {
				return 0, err
			}
			defer func() { _ = f.Close() }()
			f.File = silent{f.File, until}
			return read(f)
		})
		release()
		if !errors.Is(err, stall.ErrLeft) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A root that is exchanged is served together with its policy: until that is made,
// the old root is, and what was kept of it is no reply from then on.
func TestRootAndPolicyAreExchangedTogether(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "current")
	write(t, base, map[string]string{"1/x": "old", "2/x": "new", "2/slow/.robots": "Disallow: /\n",
		"2/slow/y": "y"})
	must(t, os.Symlink("1", dir))
	s, err := Open(dir, Config{FileTimeout: time.Hour})
	must(t, err)
	slow := &blocks{dir: "slow"}
	seam(s, slow.fault)
	Running(t, s)
	slow.mu.Lock()
	v := s.View(t.Context())
	if _, err := v.Stat("x"); err != nil || !v.Stamp().Fresh() {
		t.Fatalf("nothing can be kept: %v", err)
	}
	must(t, errors.Join(os.Symlink("2", dir+".next"), os.Rename(dir+".next", dir)))
	soon(t, "the new root is read", func() bool { return slow.here.Load() > 0 })
	if got, _ := s.View(t.Context()).ReadFile("x"); string(got) != "old" || !RobotsLacks(s, "Disallow: /slow/")() {
		t.Errorf("while the new root is read: %q, %s", got, s.Now().Robots)
	}
	kept := s.View(t.Context())
	if _, err := kept.Stat("x"); err != nil {
		t.Fatal(err)
	}
	stamp := kept.Stamp()
	slow.mu.Unlock()
	soon(t, "the new policy", RobotsHas(s, "Disallow: /slow/"))
	if got, _ := s.View(t.Context()).ReadFile("x"); string(got) != "new" || stamp != nil && stamp.Fresh() || v.Stamp().Fresh() {
		t.Errorf("beside the new policy: %q", got)
	}
}

// TestRootBesideStalledMount: a mount that hangs delays nothing that is in the root, though
// everything is read again. What the mount's annotations deny stays denied.
func TestRootBesideStalledMount(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "current")
	write(t, base, map[string]string{"1/x": "old", "2/x": "new", "2/.robots": "Disallow: /y\n",
		"pub/sub/.robots": "Disallow: /\n"})
	must(t, os.Symlink("1", dir))
	s, err := Open(dir, Config{FileTimeout: time.Minute,
		Mounts: map[string]string{"pub": filepath.Join(base, "pub")}})
	must(t, err)
	slow := &blocks{dir: "."}
	Running(t, s)
	soon(t, "the policy", RobotsHas(s, "Disallow: /pub/sub/"))
	s.served.Load().root.Trees["pub"].Fault = slow.fault
	slow.mu.Lock()
	defer slow.mu.Unlock()
	must(t, errors.Join(os.Symlink("2", dir+".next"), os.Rename(dir+".next", dir)))
	soon(t, "the new root", func() bool {
		got, _ := s.View(t.Context()).ReadFile("x")
		return string(got) == "new"
	})
	if !RobotsHas(s, "Disallow: /y")() || !RobotsHas(s, "Disallow: /pub/sub/")() {
		t.Errorf("with the new root:\n%s", s.Now().Robots)
	}

	// Nor does it delay later changes: the mount keeps its record, long before it counts as hanging.
	write(t, base, map[string]string{"pub/z": "z", "pub/sub/z": "z", "2/.robots": "Disallow: /z\n"})
	soon(t, "another annotation", RobotsHas(s, "Disallow: /z"))
	op, err := s.guard.Enter("pub")
	if op.Leave(); err != nil {
		t.Error("it has waited until the mount hangs")
	}
	if !RobotsHas(s, "Disallow: /pub/sub/")() {
		t.Errorf("meanwhile:\n%s", s.Now().Robots)
	}
}

// A file that is not proven is not served, and the old one, which says nothing of
// the new tree, is not served in its place: all is denied until there is a proof.
func TestUnprovenIsClosed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x": "x", ".robots": "Disallow: /a/\n"})
	s := Start(t, dir, Config{Files: true})
	closed := func() bool { return string(s.Now().Robots) == string(policy.DenyAll()) }
	next := *s.Now()
	next.proven([]policy.Leak{{}})
	if closed() {
		t.Fatal("the served snapshot was changed")
	}
	s.exchange(&next, s.served.Load().root)
	if !closed() || next.leak == nil {
		t.Errorf("not proven:\n%s", s.Now().Robots)
	}
	write(t, dir, map[string]string{"y": "y"})
	soon(t, "another file", func() bool { return s.Now().Has("y", false) })
	if !closed() {
		t.Errorf("after a change that leaves the policy as it is:\n%s", s.Now().Robots)
	}
	write(t, dir, map[string]string{".robots": "Disallow: /d/\n"})
	soon(t, "a file that is proven", RobotsHas(s, "Disallow: /d/"))
}

// A root that blocks leaves the policy as it is, and does not keep Run from
// ending. The reload that this cuts short is no error.
func TestStalledRoot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x\n", "d/x": "x"})
	var log bytes.Buffer
	s, err := Open(dir, Config{FileTimeout: time.Hour, Log: slog.New(slog.NewTextHandler(&log,
		&slog.HandlerOptions{Level: slog.LevelWarn}))})
	must(t, err)
	slow := &blocks{dir: "."}
	seam(s, slow.fault)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	_, err = s.Snapshot(ctx)
	must(t, err)
	before := s.Now()
	slow.mu.Lock()
	defer slow.mu.Unlock()
	s.Reload()
	soon(t, "a stall", func() bool { return slow.here.Load() > 0 })
	stop()
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(2 * time.Minute):
		t.Fatal("Run does not end")
	}
	if s.Now() != before || log.Len() > 0 {
		t.Errorf("another policy:\n%s\nor a complaint:\n%s", s.Now().Robots, &log)
	}
}

// From the lack of descriptors nothing is concluded: the policy stays until the
// tree can be read, and what is made from it meanwhile is not whole.
func TestOutOfFilesSaysNothingOfTheTree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/.robots": "Disallow: /x\n", "d/x": "x",
		"e/gophermap": "0a\tx\n"})
	s, err := Open(dir, Config{})
	must(t, err)
	var out atomic.Bool
	seam(s, func(name string) error {
		if out.Load() && name != "." && name != "e" {
			return syscall.EMFILE
		}
		return nil
	})
	Running(t, s)
	before := s.Now()
	out.Store(true)
	write(t, dir, map[string]string{"d/.robots": "Disallow: /\n"})
	v := s.View(t.Context())
	if _, err := v.ReadFile("e/gophermap"); !errors.Is(err, syscall.EMFILE) ||
		!errors.Is(v.Err(), syscall.EMFILE) || v.Stamp() != nil {
		t.Errorf("%v, %v", err, v.Err())
	}
	time.Sleep(300 * time.Millisecond)
	if s.Now() != before {
		t.Errorf("a policy was made of what could not be read:\n%s", s.Now().Robots)
	}
	out.Store(false)
	soon(t, "the policy that is written", RobotsHas(s, "Disallow: /d/"))
}
