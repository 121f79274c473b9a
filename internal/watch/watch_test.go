package watch

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// makeTree makes a root with directories and returns its name.
func makeTree(t testing.TB, dirs ...string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	for _, dir := range append(dirs, ".") {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var must = treetest.Must

func write(t testing.TB, name, content string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(content), 0o644))
}

// touches counts calls of Touch.
type touches struct{ atomic.Int64 }

func (c *touches) touch() { c.Add(1) }

// after does something, and waits until Touch was called.
func (c *touches) after(t *testing.T, what string, f func() error) {
	t.Helper()
	before := c.Load()
	must(t, f())
	treetest.Until(t, what+" touches", func() bool { return c.Load() > before })
}

func init() { syscall.Umask(0o022) } // a test sets other modes than these

// TestBatches: after each change a batch names the directories in which there may be something
// new, and no others; Touch was called.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(root string) error
		want Batch
	}{
		{"write", func(root string) error {
			return os.WriteFile(filepath.Join(root, "a", "f"), []byte("2"), 0o644)
		}, Batch{Dirs: []string{"a"}}},
		{"new file", func(root string) error {
			return os.WriteFile(filepath.Join(root, "a", "b", ".robots"), nil, 0o644)
		}, Batch{Dirs: []string{"a/b"}}},
		{"remove", func(root string) error {
			return os.Remove(filepath.Join(root, "a", "f"))
		}, Batch{Dirs: []string{"a"}}},
		{"rename a file", func(root string) error {
			return os.Rename(filepath.Join(root, "a", "f"), filepath.Join(root, "g"))
		}, Batch{Dirs: []string{".", "a"}}},
		{"new directories", func(root string) error {
			return os.MkdirAll(filepath.Join(root, "x", "y", "z"), 0o755)
		}, Batch{Dirs: []string{".", "x", "x/y", "x/y/z"}}},
		{"moved in", func(root string) error {
			return os.Rename(filepath.Join(root, "..", "out"), filepath.Join(root, "a", "in"))
		}, Batch{Dirs: []string{"a", "a/in", "a/in/deep"}}},
		{"hidden directory moved in", func(root string) error {
			return os.Rename(filepath.Join(root, "..", "out"), filepath.Join(root, "a", ".in"))
		}, Batch{Dirs: []string{"a"}}},
		{"link", func(root string) error {
			return os.Symlink("a", filepath.Join(root, "link"))
		}, Batch{Dirs: []string{"."}}},
		{"new times of a directory", func(root string) error {
			return os.Chtimes(filepath.Join(root, "a"), time.Now(), time.Unix(1, 0))
		}, Batch{Dirs: []string{".", "a"}}},
		{"new mode of a directory", func(root string) error {
			return os.Chmod(filepath.Join(root, "a"), 0o700)
		}, Batch{Dirs: []string{".", "a", "a/b"}}},
		{"rename a directory", func(root string) error {
			return os.Rename(filepath.Join(root, "a"), filepath.Join(root, "c"))
		}, Batch{Dirs: []string{".", "a", "c", "c/b"}}},
		{"another root", func(root string) error {
			_ = os.Rename(root, root+".old")
			return os.Rename(filepath.Join(root, "..", "out"), root)
		}, Batch{All: true}},
		{"root gone", func(root string) error {
			return os.Rename(root, root+".old")
		}, Batch{All: true}},
		{"root removed", os.RemoveAll, Batch{All: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := makeTree(t, "a/b", "../out/deep", ".git/refs")
			write(t, filepath.Join(root, "a", "f"), "1")
			m := newMirror(root)
			var seen touches
			run(t, &Watcher{Root: root, Poll: -1, Touch: seen.touch}, m)
			seen.after(t, c.name, func() error { return c.do(root) })
			treetest.Until(t, fmt.Sprintf("%+v", c.want), func() bool {
				return alike(union(m.batches()[1:]), c.want)
			})
		})
	}
}

// union returns one batch for all of bs: where the machine is slow, changes of
// one step may come in two.
func union(bs []Batch) Batch {
	var u Batch
	for _, b := range bs {
		u.All = u.All || b.All
		u.Dirs = append(u.Dirs, b.Dirs...)
	}
	if u.All {
		u.Dirs = nil
	}
	slices.Sort(u.Dirs)
	u.Dirs = slices.Compact(u.Dirs)
	return u
}

func alike(a, b Batch) bool {
	return a.All == b.All && slices.Equal(a.Dirs, b.Dirs)
}

// TestFiles: a batch names the files that have changed in a directory, unless more of it may
// have: a map, or a directory.
func TestFiles(t *testing.T) {
	root := makeTree(t, "a/b")
	write(t, filepath.Join(root, "a", "old"), "1")
	batches := make(chan Batch, 100)
	w := &Watcher{Root: root, Poll: -1, quick: -1, open: patient, Changed: func(b Batch) {
		batches <- b
	}}
	go func() { _ = w.Run(t.Context()) }()
	<-batches
	at := func(name string) string { return filepath.Join(root, "a", name) }
	for _, step := range []struct {
		change func() error
		want   []string
	}{
		{func() error { return os.WriteFile(at("new"), nil, 0o644) }, []string{"new"}},
		{func() error { return os.WriteFile(at("old"), []byte("2"), 0o644) }, []string{"old"}},
		{func() error { return os.WriteFile(at(".robots"), nil, 0o644) }, []string{".robots"}},
		{func() error { return os.WriteFile(at("gophermap"), nil, 0o644) }, nil},
		{func() error { return os.Remove(at(".robots")) }, []string{".robots"}},
		{func() error { return os.Remove(at("new")) }, []string{"new"}},
		{func() error { return os.Remove(at("b")) }, nil},
	} {
		must(t, step.change())
		end := time.After(2 * time.Minute)
		for found := false; !found; {
			select {
			case b := <-batches:
				found = slices.Contains(b.Dirs, "a") && slices.Equal(b.Files["a"], step.want)
			case <-end:
				t.Fatalf("no batch with %q", step.want)
			}
		}
	}
}

// TestTouchAtOnce changes a file while Changed is busy: Touch does not wait.
func TestTouchAtOnce(t *testing.T) {
	root := makeTree(t, "a")
	var seen touches
	busy, release := make(chan bool, 100), make(chan bool)
	w := &Watcher{Root: root, Touch: seen.touch, Changed: func(Batch) { busy <- true; <-release }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	<-busy
	seen.after(t, "a file", func() error {
		return os.WriteFile(filepath.Join(root, "a", "f"), nil, 0o644)
	})
	seen.after(t, "the rename of a directory", func() error {
		return os.Rename(filepath.Join(root, "a"), filepath.Join(root, "b"))
	})
	treetest.Until(t, "its old name is not watched", func() bool { return !w.watched("a") })
	if w.watched("b") || !w.watched(".") {
		t.Error("after the rename of a directory others must stay watched, and it must not be before it was added")
	}
	cancel()
	close(release)
	must(t, <-ended)
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ root, name, want string }{
		{"/srv/gopher", "/srv/gopher", "."},
		{"/srv/gopher", "/srv/gopher/a/b", "a/b"},
		{"/srv/gopher", "/srv/gopher/..a", "..a"},
		{"/srv/gopher", "/srv/gopher2", ""},
		{"/srv/gopher", "/srv", ""},
		{"/", "/", "."},
		{"/", "//a", "a"},
	} {
		got := strings.Join(newNames(c.root, nil).of(filepath.Clean(c.name)), " ")
		if got != c.want {
			t.Errorf("below %s, %s is %q, want %q", c.root, c.name, got, c.want)
		}
	}
}

// TestNoStarvation writes without a pause: batches come all the same.
func TestNoStarvation(t *testing.T) {
	root := makeTree(t)
	m := newMirror(root)
	run(t, &Watcher{Root: root, Poll: -1}, m)
	end := time.Now().Add(2 * time.Minute)
	for i := 0; len(m.batches()) < 4; i++ {
		write(t, filepath.Join(root, "log"), fmt.Sprint(i))
		if time.Now().After(end) {
			t.Fatal("no batch while a file is being written")
		}
	}
}

// TestPollBesideEvents loses all events: everything is read again all the same.
func TestPollBesideEvents(t *testing.T) {
	root := makeTree(t, "a")
	deaf := func() (*eventSource, error) {
		s, err := patient()
		if err == nil {
			s.add = func(string) error { return nil }
		}
		return s, err
	}
	m := newMirror(root)
	run(t, &Watcher{Root: root, Poll: 20 * time.Millisecond, open: deaf}, m)
	write(t, filepath.Join(root, "a", "f"), "1")
	treetest.Until(t, "the file is seen", m.fresh)
}

func TestMissingRoot(t *testing.T) {
	for _, mode := range []Method{Inotify, PollOnly} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "not", "yet")
			m := newMirror(root)
			run(t, &Watcher{Root: root, Method: mode, Poll: 20 * time.Millisecond}, m)
			must(t, os.MkdirAll(filepath.Join(root, "a"), 0o755))
			treetest.Until(t, "a batch with All", func() bool { return union(m.batches()[1:]).All })
			treetest.Until(t, "the tree is seen", m.fresh)
		})
	}
}

// TestLinkedRoot deploys as many do: the root is a link that is exchanged.
func TestLinkedRoot(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "v1", "a"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "v2", "b"), 0o755))
	root := filepath.Join(dir, "current")
	must(t, os.Symlink("v1", root))
	m := newMirror(root)
	run(t, &Watcher{Root: root, Poll: -1}, m)
	write(t, filepath.Join(dir, "v1", "a", "f"), "1")
	treetest.Until(t, "a file below the link is seen", m.fresh)
	must(t, os.Symlink("v2", root+".new"))
	must(t, os.Rename(root+".new", root))
	treetest.Until(t, "a batch with All", func() bool { return union(m.batches()[1:]).All })
	write(t, filepath.Join(dir, "v2", "b", "f"), "1")
	treetest.Until(t, "the other tree is seen", m.fresh)
}

// TestHint refuses in each way that the kernel knows.
func TestHint(t *testing.T) {
	kernel := func(add error) func() (*eventSource, error) {
		return func() (*eventSource, error) {
			s, err := patient()
			if err == nil {
				s.add = func(string) error { return add }
			}
			return s, err
		}
	}
	for want, open := range map[string]func() (*eventSource, error){
		"fs.inotify.max_user_watches": kernel(fmt.Errorf("add: %w", syscall.ENOSPC)),
		"fs.inotify.max_user_instances": func() (*eventSource, error) {
			return nil, fmt.Errorf("new: %w", syscall.EMFILE)
		},
		"a round later": func() (*eventSource, error) {
			return nil, syscall.ENOSYS
		},
	} {
		var log bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		w := &Watcher{Root: makeTree(t), open: open, Log: slog.New(slog.NewTextHandler(&log, nil))}
		w.Changed = func(Batch) { stop() } // it polls
		must(t, w.Run(ctx))
		if got := log.String(); strings.Count(got, "\n") != 1 ||
			!strings.Contains(got, "level=WARN") || !strings.Contains(got, want) {
			t.Errorf("log is %q, want one warning with %q", got, want)
		}
	}
}

func TestReread(t *testing.T) {
	for _, mode := range []Method{Inotify, PollOnly, Off} {
		w := &Watcher{Root: makeTree(t), Method: mode}
		m := newMirror(w.Root)
		run(t, w, m)
		w.Reread()
		treetest.Until(t, fmt.Sprintf("mode %d: a batch with All", mode), func() bool {
			return union(m.batches()[1:]).All
		})
	}
}

// TestSettle: silence ends the wait, and without silence the time that the last batch
// took, within bounds.
func TestSettle(t *testing.T) {
	for _, test := range []struct{ every, took, want time.Duration }{
		{time.Second, 0, quiet},
		{time.Second, time.Second, quiet},
		{quiet / 2, 0, shortest},
		{quiet / 2, 120 * time.Millisecond, 120 * time.Millisecond},
		{quiet / 2, time.Second, longest},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &Watcher{}
			w.init()
			done := make(chan struct{})
			go func() {
				for {
					select {
					case <-done:
						return
					case <-time.After(test.every):
						w.Look("d")
					}
				}
			}()
			start := time.Now()
			w.settle(t.Context(), test.took)
			if got := time.Since(start); got != test.want {
				t.Errorf("changes every %v, %v for the last batch: waited %v, not %v", test.every,
					test.took, got, test.want)
			}
			close(done)
		})
	}
}

// TestRest: a top-level directory that took long goes on later, and no other waits for it.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var batches []Batch
		w := &Watcher{Method: PollOnly, Root: "/nowhere"}
		w.init()
		must(t, w.SetTrees(nil))
		w.Changed = func(b Batch) {
			batches = append(batches, b)
			time.Sleep(time.Duration(len(b.Dirs)) * 100 * time.Millisecond)
		}
		w.send(Batch{Dirs: []string{"a", "a/b", "c"}}) // 200 ms of a, 100 ms of c
		now := time.Now()
		if a, c := w.rests["a"].Sub(now), w.rests["c"].Sub(now); a != 2*time.Second ||
			c != time.Second {
			t.Errorf("a rests for %v, c for %v", a, c)
		}
		w.dirs["a"], w.dirs["c"], w.dirs["d"] = &known{}, &known{}, &known{}
		for range 3 {
			for name := range w.dirs {
				w.Look(name)
			}
			batches = append(batches, w.batch())
			time.Sleep(1100 * time.Millisecond)
		}
		got := fmt.Sprint(batches[1:])
		if want := "[{[d] map[] false} {[c] map[] false} {[a] map[] false}]"; got != want {
			t.Errorf("batches %v, want %v", got, want)
		}
		w.rest("a", time.Hour)
		if d := time.Until(w.rests["a"]); d > maxRest {
			t.Errorf("a rests for %v", d)
		}
	})
}
