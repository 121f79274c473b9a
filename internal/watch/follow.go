package watch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
)

// again is how often a root that is missing is looked for, should its parent
// be missing too.
const again = time.Second

// follow tells changes by events, and, while the kernel refuses, by comparing.
func (w *Watcher) follow(ctx context.Context, root string) {
	f := follower{Watcher: w, root: root, pending: newPending()}
	for ctx.Err() == nil {
		err := f.listen(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		again := max(w.between(), aWhile)
		if limit.Reached(err) || errors.Is(err, stall.Err) {
			again = aWhile
		}
		w.log().Warn("cannot watch for changes, polling instead", "error", err, "hint", hint(err), "again_in", again)
		f.compare(ctx, again)
	}
}

// aWhile is how long is polled before it is tried again to watch, where the
// kernel had no descriptors, or did not answer. To find out that it still has not watches enough
// costs a complete reading, so that is tried with every poll at most.
const aWhile = 5 * time.Second

// compare polls for so long.
func (f *follower) compare(ctx context.Context, d time.Duration) {
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	f.poll(ctx, f.root, min(compareEvery, f.between()))
}

// listen makes batches of events until ctx ends, or until the kernel refuses.
func (f *follower) listen(ctx context.Context) error {
	b, err := f.renew(false)
	for err == nil {
		f.changed(b)
		if !f.wait(ctx) {
			break
		}
		b, err = f.batch()
	}
	f.watches.close()
	return err
}

// A follower makes batches of events.
type follower struct {
	*Watcher
	root    string
	info    os.FileInfo // of the root that is watched, nil if there is none
	pending *pending
	watches *watches
	next    time.Time // when to read everything
}

// batch makes a batch of what is pending.
func (f *follower) batch() (Batch, error) {
	c := f.pending.take()
	if c.lost || f.watches.crowded() {
		return f.renew(c.root)
	}
	added := make(map[string]bool)
	for _, name := range sorted(c.arrived) { // parents come first, with all below
		info, err := f.stat(os.Lstat, name)
		if added[name] || err != nil || !info.IsDir() {
			continue
		}
		if err := f.watches.add(name, added); err != nil {
			return Batch{}, err
		}
	}
	maps.Copy(added, c.dirs)
	return Batch{Dirs: sorted(added)}, nil
}

// renew replaces all watches.
func (f *follower) renew(exchanged bool) (Batch, error) {
	f.watches.close()
	exchanged = f.pending.take().root || exchanged
	src, err := f.source()
	if err != nil {
		return Batch{}, err
	}
	f.watches = &watches{src: src, root: f.root, guard: f.Guard, pending: f.pending, touch: f.touch,
		ended: make(chan struct{}), known: make(map[string]state)}
	go f.watches.read()
	f.now.Store(f.watches)
	if parent := filepath.Dir(f.root); parent != f.root {
		_ = src.add(parent) // without it an exchange of the root shows at the next poll
	}
	err = f.watches.add(".", make(map[string]bool))
	exchanged = f.reopen() || exchanged
	f.next = time.Now().Add(f.interval())
	return Batch{All: true, Root: exchanged}, err
}

func (f *follower) source() (*source, error) {
	if f.open != nil {
		return f.open()
	}
	return openKernel()
}

// reopen reports whether the root is another one than the last time.
func (f *follower) reopen() bool {
	old := f.info
	f.info, _ = f.stat(os.Stat, ".")
	return old != nil && !same(old, f.info)
}

// same reports whether a and b, which may be nil, are of the same file.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b)
}

// wait returns when something has happened and settled, false when ctx ended.
func (f *follower) wait(ctx context.Context) bool {
	next := time.NewTimer(time.Until(f.next))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-f.pending.wake:
			f.pending.settle(ctx)
			return ctx.Err() == nil
		case <-f.asked():
			f.pending.lose(true)
		case <-next.C:
			f.tick()
			next.Reset(f.interval())
		}
	}
}

// tick asks for a complete reading, if there is something to be read.
func (f *follower) tick() {
	if f.info != nil {
		f.pending.lose(false)
	} else if _, err := f.stat(os.Stat, "."); err == nil {
		f.pending.lose(true)
	}
}

// stat asks what a name below the root is.
func (f *follower) stat(how func(string) (os.FileInfo, error), name string) (os.FileInfo, error) {
	return stall.Do(f.Guard, name, func() (os.FileInfo, error) { return how(below(f.root, name)) })
}

// interval returns the time to the next look at the whole tree, or for the
// root.
func (f *follower) interval() time.Duration {
	if f.info == nil {
		return again
	}
	return f.between()
}
