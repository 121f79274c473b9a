package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/internal/treetest"
)

// TestWatchesAgain has the kernel refuse once, for want of descriptors: a little
// later it is asked again.
func TestWatchesAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	w := &Watcher{Root: makeTree(t), Poll: -1, quick: 50 * time.Millisecond,
		open: func() (*eventSource, error) {
			if asked.Add(1) == 1 {
				return nil, fmt.Errorf("new: %w", syscall.EMFILE)
			}
			return patient()
		}}
	m := newMirror(w.Root)
	run(t, w, m)
	must(t, os.Mkdir(filepath.Join(w.Root, "a"), 0o755))
	treetest.Until(t, "a change is found by polling", m.fresh)
	treetest.Until(t, "the tree is watched", func() bool { return w.watched("a") })
	must(t, os.Mkdir(filepath.Join(w.Root, "a", "b"), 0o755))
	treetest.Until(t, "a change is told", m.fresh)
}

// TestAnnotationsWithoutEvents has a kernel that reports nothing: an annotation that
// changes is found by looks, a new one, and a new directory, by a round.
func TestAnnotationsWithoutEvents(t *testing.T) {
	t.Parallel()
	root := makeTree(t, "a", "b/c")
	write(t, filepath.Join(root, "a", ".robots"), "1")
	var log treetest.Log
	w := &Watcher{Root: root, Poll: -1, quick: 10 * time.Millisecond,
		Log: log.Logger(), open: func() (*eventSource, error) {
			return nil, syscall.EMFILE
		}}
	m := newMirror(root)
	run(t, w, m)
	for i, name := range []string{"a/.robots", "b/c/.robots", "b/d/.robots", "a/.robots"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		write(t, filepath.Join(root, name), fmt.Sprint("more", i))
		treetest.Until(t, name, m.fresh)
	}
	if all := union(m.batches()[1:]); all.All || strings.Count(log.String(), "WARN") != 1 {
		t.Errorf("all is read again: %v; the log:\n%s", all.All, &log)
	}
}

// A directory that is looked at is in the next batch, though neither events nor rounds
// find anything.
func TestLookReads(t *testing.T) {
	t.Parallel()
	batches := make(chan Batch, 10)
	w := &Watcher{Root: makeTree(t, "a/b"), Poll: -1, quick: -1,
		open: func() (*eventSource, error) {
			return nil, syscall.EMFILE
		}, Changed: func(b Batch) {
			batches <- b
		}}
	go func() { _ = w.Run(t.Context()) }()
	<-batches
	w.Look("a/b")
	if b := <-batches; b.All || !slices.Equal(b.Dirs, []string{"a/b"}) {
		t.Errorf("%+v", b)
	}
}

// stalling is a kernel that does not answer for one directory while stalled is held.
func stalling(root, dir string, stalled *sync.RWMutex) func() (*eventSource, error) {
	return func() (*eventSource, error) {
		s, err := patient()
		if err != nil {
			return nil, err
		}
		var one sync.Mutex // as fsnotify has: who adds keeps all others, and the end, waiting
		kernel := *s
		s.add = func(name string) error {
			one.Lock()
			defer one.Unlock()
			if name == filepath.Join(root, dir) {
				stalled.RLock()
				defer stalled.RUnlock()
			}
			return kernel.add(name)
		}
		s.close = func() error {
			one.Lock()
			defer one.Unlock()
			return kernel.close()
		}
		return s, nil
	}
}

// TestStalledDirectory has a directory that is new not answer: other
// changes are found all the same, and when it answers again all is watched.
func TestStalledDirectory(t *testing.T) {
	t.Parallel()
	var stalled sync.RWMutex
	root := makeTree(t, "a")
	w := &Watcher{Root: root, Poll: -1, open: stalling(root, "slow", &stalled)}
	w.Guard = &stall.Guard{Timeout: 500 * time.Millisecond, Changed: w.Reread}
	m := newMirror(root)
	run(t, w, m)
	treetest.Until(t, "the tree is watched", func() bool { return w.watched("a") })
	stalled.Lock()
	must(t, os.Mkdir(filepath.Join(root, "slow"), 0o755))
	write(t, filepath.Join(root, "a", ".robots"), "new")
	treetest.Until(t, "a change is found", m.fresh)
	stalled.Unlock()
	treetest.Until(t, "all is watched", func() bool { return w.watched("a") && w.watched("slow") })
	write(t, filepath.Join(root, "slow", ".robots"), "new")
	treetest.Until(t, "a change in it is found", m.fresh)
}

// TestNewerWatchStays exchanges a directory while the one above it is watched again:
// the watch that is taken away is never that of the newer one, which would go on being
// vouched for.
func TestNewerWatchStays(t *testing.T) {
	t.Parallel()
	root := makeTree(t, "p/a")
	a := filepath.Join(root, "p/a")
	w := &Watcher{Root: root, Poll: -1}
	w.open = func() (*eventSource, error) {
		s, err := patient()
		remove := s.remove
		s.remove = func(name string) {
			for i := 0; name == a && i < 200 && !w.watched("p/a"); i++ {
				time.Sleep(time.Millisecond) // meanwhile it is added again, if anybody does
			}
			if remove(name); name == a && w.watched("p/a") {
				t.Error("vouched for after its watch was taken away")
			}
		}
		return s, err
	}
	m := newMirror(root)
	run(t, w, m)
	must(t, os.Chmod(filepath.Join(root, "p"), 0o700))
	must(t, os.Rename(a, filepath.Join(root, "b")))
	must(t, os.Mkdir(a, 0o755))
	treetest.Until(t, "both are watched", func() bool { return w.watched("p/a") && w.watched("b") })
	write(t, filepath.Join(a, "f"), "1")
	treetest.Until(t, "a change is found", m.fresh)
}

// TestGoneBeforeItsWatch moves a directory out and removes it before the event of the
// first is read: its watch cannot be taken away any more, which is no loss of events.
func TestGoneBeforeItsWatch(t *testing.T) {
	t.Parallel()
	root := makeTree(t, "a", "../out")
	out := filepath.Join(root, "../out/a")
	w := &Watcher{Root: root, Poll: -1}
	w.open = func() (*eventSource, error) {
		s, err := patient()
		remove := s.remove
		s.remove = func(name string) {
			time.Sleep(50 * time.Millisecond) // meanwhile fsnotify reads that it was moved, and takes its watch away
			remove(name)
		}
		return s, err
	}
	var reading sync.Mutex
	w.Touch = func() { reading.Lock(); defer reading.Unlock() }
	m := newMirror(root)
	run(t, w, m)
	reading.Lock()
	write(t, filepath.Join(root, "f"), "1") // its events are told first
	must(t, os.Rename(filepath.Join(root, "a"), out))
	must(t, os.Remove(out))
	reading.Unlock()
	treetest.Until(t, "it is not watched", func() bool { return !w.watched("a") })
	must(t, os.Mkdir(filepath.Join(root, "b"), 0o755))
	treetest.Until(t, "a change is found", func() bool { return w.watched("b") && m.fresh() })
	if all := union(m.batches()[1:]); all.All {
		t.Error("everything is read again for it")
	}
}

// TestEndsThoughStalled has Run end though the kernel does not answer.
func TestEndsThoughStalled(t *testing.T) {
	t.Parallel()
	var stalled sync.RWMutex
	stalled.Lock()
	root := makeTree(t, "slow")
	w := &Watcher{Root: root, open: stalling(root, "slow", &stalled), Guard: &stall.Guard{}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	time.Sleep(100 * time.Millisecond)
	stop()
	w.Guard.Stop()
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(2 * time.Minute):
		t.Fatal("Run does not end")
	}
	stalled.Unlock()
}

// TestClockJumps compares files whose times are of another day, before or after
// the clock was set: what changes is found.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		root := makeTree(t, "a")
		note := filepath.Join(root, "a", ".robots")
		m := newMirror(root)
		run(t, &Watcher{Root: root, Method: PollOnly, Poll: -1, quick: 10 * time.Millisecond}, m)
		for i, at := range []time.Time{time.Now(), time.Now().Add(by), time.Now()} {
			write(t, note, fmt.Sprint(i))
			must(t, os.Chtimes(note, at, at))
			treetest.Until(t, fmt.Sprintf("number %d, %v", i, by), m.fresh)
		}
	}
}
