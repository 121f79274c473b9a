package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gophd/gophd/internal/treetest"
)

// counting returns the kernel as a source that counts what is added, and refuses
// beyond limit if that is positive.
func counting(added, held *atomic.Int64, limit int64) func() (*eventSource, error) {
	return func() (*eventSource, error) {
		s, err := patient()
		if err != nil {
			return nil, err
		}
		add, remove := s.add, s.remove
		held.Store(0)
		s.add = func(name string) error {
			if limit > 0 && held.Load() >= limit {
				return syscall.ENOSPC
			}
			added.Add(1)
			held.Add(1)
			return add(name)
		}
		s.remove = func(name string) {
			held.Add(-1)
			remove(name)
		}
		return s, nil
	}
}

// TestRenameCostsOnlyItself renames an empty directory in a larger tree again and
// again: nothing else is watched again or read.
func TestRenameCostsOnlyItself(t *testing.T) {
	t.Parallel()
	var dirs []string
	for i := range 500 {
		dirs = append(dirs, fmt.Sprintf("other/%d", i))
	}
	root := makeTree(t, append(dirs, "u/a0")...)
	var added, held atomic.Int64
	w := &Watcher{Root: root, Poll: -1, open: counting(&added, &held, 0)}
	m := newMirror(root)
	run(t, w, m)
	before := added.Load()
	for i := range 40 {
		must(t, os.Rename(filepath.Join(root, "u", fmt.Sprintf("a%d", i)),
			filepath.Join(root, "u", fmt.Sprintf("a%d", i+1))))
		treetest.Until(t, "the new name is watched", func() bool {
			return w.watched(fmt.Sprintf("u/a%d", i+1))
		})
		if !w.watched("other/7") {
			t.Fatal("others are not watched meanwhile")
		}
	}
	if n := added.Load() - before; n > 2*40 {
		t.Errorf("%d watches were added for 40 renames", n)
	}
	for _, b := range m.batches()[1:] {
		if b.All || slices.ContainsFunc(b.Dirs, func(d string) bool {
			return strings.HasPrefix(d, "other")
		}) {
			t.Errorf("others are read again: %+v", b)
		}
	}
}

// TestStormIsCompared has one top-level directory change without end: it is told
// once, others stay watched, and when it is calm it is watched again.
func TestStormIsCompared(t *testing.T) {
	t.Parallel()
	root := makeTree(t, "storm/dir", "calm")
	var log treetest.Log
	w := &Watcher{Root: root, Poll: -1, quick: time.Second,
		Log: log.Logger()}
	storm := make(chan fsnotify.Event)
	w.open = func() (*eventSource, error) {
		s, err := patient()
		if err != nil {
			return nil, err
		}
		from, both := s.events, make(chan fsnotify.Event)
		s.events = both
		go func() {
			defer close(both)
			for ok := true; ok; {
				var e fsnotify.Event
				select {
				case e, ok = <-from:
				case e = <-storm:
				}
				if ok {
					both <- e
				}
			}
		}()
		return s, nil
	}
	m := newMirror(root)
	run(t, w, m)
	treetest.Until(t, "both are watched", func() bool {
		return w.watched("storm/dir") && w.watched("calm")
	})
	treetest.Until(t, "the storm is noticed", func() bool {
		for range maxEvents {
			storm <- fsnotify.Event{Name: filepath.Join(root, "storm", "dir", "f"),
				Op: fsnotify.Write}
		}
		return strings.Count(log.String(), "directory=storm") == 1
	})
	treetest.Until(t, "others are watched", func() bool {
		return w.watched("calm") && w.watched(".")
	})
	write(t, filepath.Join(root, "calm", "f"), "1")
	write(t, filepath.Join(root, "storm", ".robots"), "1")
	must(t, os.MkdirAll(filepath.Join(root, "storm", "x", "y"), 0o755))
	treetest.Until(t, "changes in both are found", m.fresh)
	treetest.Until(t, "it is watched again", func() bool {
		return w.watched("storm/dir") && w.watched("storm/x/y")
	})
	if n := strings.Count(log.String(), "is not watched"); n != 1 {
		t.Errorf("told %d times:\n%s", n, &log)
	}
}

// TestSharesOfWatches has one user make more directories than the kernel watches:
// that one is compared, and nobody else.
func TestSharesOfWatches(t *testing.T) {
	t.Parallel()
	root := makeTree(t, "a/b", "c/d")
	var added, held atomic.Int64
	var log treetest.Log
	w := &Watcher{Root: root, Poll: -1, open: counting(&added, &held, 100),
		Log: log.Logger()}
	w.quick = time.Hour // rounds, which alone find what happens in a directory that is not watched, and pauses as long as ever
	m := newMirror(root)
	run(t, w, m)
	for i := range 150 {
		must(t, os.MkdirAll(filepath.Join(root, "greedy", fmt.Sprint(i)), 0o755))
	}
	treetest.Until(t, "the greedy one is not watched", func() bool {
		return strings.Count(log.String(), "directory=greedy") == 1
	})
	must(t, os.MkdirAll(filepath.Join(root, "a", "late"), 0o755))
	treetest.Until(t, "others are watched", func() bool {
		return w.watched("a/b") && w.watched("c/d") && w.watched("a/late")
	})
	treetest.Until(t, "all is found", m.fresh)
	if w.watched("greedy") || w.watched("greedy/7") {
		t.Error("the greedy one is watched")
	}
	if strings.Count(log.String(), "max_user_watches") != 1 {
		t.Errorf("no hint, or more than one:\n%s", &log)
	}
}

// TestTrees watches trees beside the root: under their names, one directory
// under two of them, ones that come, go and are replaced.
func TestTrees(t *testing.T) {
	t.Parallel()
	root, other := makeTree(t, "a", "~ann/hidden"), makeTree(t, "x/y")
	w := &Watcher{Root: root, Poll: -1}
	must(t, w.SetTrees(map[string]string{"~ann": other, "deep/er": other}))
	m := newMirror(root)
	m.read = func(root, dir string) (map[string]string, bool) {
		file := w.trees().file(dir)
		return readDir(file, ".")
	}
	m.trees = func() []string { return []string{"~ann", "deep/er", "~bob"} }
	run(t, w, m)
	treetest.Until(t, "all are watched", func() bool {
		return w.watched("~ann/x/y") && w.watched("deep/er/x/y") && !w.watched("~ann/hidden")
	})
	write(t, filepath.Join(other, "x", "y", "f"), "1")
	must(t, os.MkdirAll(filepath.Join(other, "x", "z"), 0o755))
	treetest.Until(t, "changes are found under both names", m.fresh)
	treetest.Until(t, "and watched", func() bool {
		return w.watched("~ann/x/z") && w.watched("deep/er/x/z")
	})
	must(t, os.Rename(filepath.Join(other, "x"), filepath.Join(other, "w")))
	treetest.Until(t, "a rename is found under both names", func() bool {
		return m.fresh() && w.watched("~ann/w/y") && w.watched("deep/er/w/y")
	})

	bob := makeTree(t, "b")
	must(t, w.SetTrees(map[string]string{"~ann": other, "~bob": bob}))
	treetest.Until(t, "a new tree is watched, an old one is not", func() bool {
		return w.watched("~bob/b") && !w.watched("deep/er/w") && w.watched("~ann/w/y")
	})
	write(t, filepath.Join(other, "w", "g"), "1")
	write(t, filepath.Join(bob, "b", "g"), "1")
	treetest.Until(t, "changes in both are found", m.fresh)

	must(t, os.Rename(bob, bob+".old"))
	must(t, os.MkdirAll(filepath.Join(bob, "new"), 0o755))
	w.Replaced("~bob")
	treetest.Until(t, "the new directory is watched", func() bool {
		return w.watched("~bob/new") && m.fresh()
	})
	must(t, os.Rename(bob, bob+".away"))
	treetest.Until(t, "a tree is gone", func() bool { return !w.watched("~bob/new") })
	must(t, os.Rename(bob+".away", bob)) // for so short a time that nobody else has noticed
	treetest.Until(t, "it is back", func() bool { return w.watched("~bob/new") })
	must(t, w.SetTrees(nil))
	treetest.Until(t, "what a tree hid shows again", func() bool {
		return w.watched("~ann/hidden") && !w.watched("~bob")
	})
}
