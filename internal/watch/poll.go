package watch

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/stall"
)

const (
	// compareEvery is the default time between two comparisons.
	compareEvery = 2 * time.Second
	// coarse is the coarsest clock of a file system: what is younger when it is
	// looked at can change again without looking different.
	coarse = 2 * time.Second
)

// poll tells changes by comparing, every so often, what a tree looks like with
// what it looked like the last time.
func (w *Watcher) poll(ctx context.Context, root string, every time.Duration) {
	old, took := look(w.Guard, root)
	w.changed(Batch{All: true})
	for {
		exchanged := w.idle(ctx, root, old.info, max(every, 20*took))
		if ctx.Err() != nil {
			return
		}
		var now tree
		now, took = look(w.Guard, root)
		if exchanged || !same(old.info, now.info) {
			w.changed(Batch{All: true, Root: true})
		} else {
			w.changed(Batch{Dirs: now.differ(old)})
		}
		old = now
	}
}

// rootEvery is how often it is asked between two comparisons whether the root is
// another one: who exchanges it soon throws the old one away.
const rootEvery = 200 * time.Millisecond

// idle waits until it is time to compare, and says whether it is already, since
// somebody asked for it or the root was exchanged.
func (w *Watcher) idle(ctx context.Context, root string, was fs.FileInfo, d time.Duration) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	look := time.NewTicker(min(rootEvery, d))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-w.asked():
			return true
		case <-end.C:
			return false
		case <-look.C:
			is, err := stall.Do(w.Guard, ".", func() (fs.FileInfo, error) { return os.Stat(root) })
			if err == nil && !same(was, is) {
				return true
			}
		}
	}
}

// tree is what a tree looks like.
type tree struct {
	info fs.FileInfo // of the root, nil if there is none
	dirs map[string]shape
}

// shape is what a directory looks like. Two directories whose shapes are equal
// are taken for the same.
type shape struct {
	entries uint64 // the sum over all entries of a hash of name and type
	mode    fs.FileMode
	time    int64
	young   bool // some time is too young to tell a later change
}

// differ returns the directories of now that do not look as in old, sorted.
// Those that are gone show in their parents.
func (now tree) differ(old tree) []string {
	dirs := make(map[string]bool)
	for name, p := range now.dirs {
		if was, ok := old.dirs[name]; !ok || was.young || was != p {
			dirs[name] = true
		}
	}
	return sorted(dirs)
}

// look looks at the tree below root, and at the clock.
func look(guard *stall.Guard, root string) (t tree, took time.Duration) {
	start := time.Now()
	for err := stall.ErrLeft; errors.Is(err, stall.ErrLeft); {
		t, err = stall.Try(guard, func(a *stall.Attempt) (tree, error) { return lookAll(a, root, start), nil })
	}
	return t, time.Since(start)
}

// lookAll leaves out what does not answer.
func lookAll(a *stall.Attempt, root string, start time.Time) tree {
	t := tree{dirs: make(map[string]shape)}
	if op, err := a.Enter("."); err == nil {
		t.info, _ = os.Stat(root)
		op.Leave()
	}
	for todo := []string{"."}; len(todo) > 0; {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		t.dirs[dir] = shape{}
		if op, err := a.Enter(dir); err == nil {
			t.dirs[dir] = lookAt(below(root, dir), start, func(base string) { todo = append(todo, child(dir, base)) })
			op.Leave()
		}
	}
	return t
}

var seed = maphash.MakeSeed()

// lookAt looks at one directory. What cannot be read looks the same as long as
// it cannot be read.
func lookAt(dir string, start time.Time, sub func(base string)) shape {
	var p shape
	info, err := list(dir, func(e fs.DirEntry) {
		p.entries += maphash.Comparable(seed, entry{name: e.Name(), mode: e.Type()})
		if steers(e.Name()) {
			p.steering(filepath.Join(dir, e.Name()), start)
		}
		if descend(e) {
			sub(e.Name())
		}
	})
	if err != nil {
		return shape{}
	}
	p.mode, p.time = info.Mode(), info.ModTime().UnixNano()
	p.young = p.young || young(info, start)
	return p
}

// entry is what counts of a directory entry.
type entry struct {
	name string
	mode fs.FileMode
	size int64
	time int64
}

// steering adds a file whose content matters, following links.
func (p *shape) steering(name string, start time.Time) {
	info, err := os.Stat(name)
	if err != nil {
		return
	}
	p.entries += maphash.Comparable(seed, entry{name, info.Mode(), info.Size(), info.ModTime().UnixNano()})
	p.young = p.young || young(info, start)
}

// young reports whether a later change of a file might not show.
func young(info fs.FileInfo, start time.Time) bool {
	return start.Sub(info.ModTime()) < coarse
}

// steers reports whether the content of a file with this base name may say how
// its directory is served.
func steers(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "gopher") ||
		base == "robots.txt" || base == "caps.txt"
}
