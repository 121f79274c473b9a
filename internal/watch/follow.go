package watch

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
)

// again is how often a root that is missing is looked for, should its parent
// be missing too.
const again = time.Second

// follow finds changes by events, and, while the kernel refuses, by comparing.
func (w *Watcher) follow(ctx context.Context) {
	f := follower{Watcher: w, pending: newPending()}
	f.units = newUnits(f.tellUnit)
	if f.burst > 0 {
		f.units.burst, f.units.rate = f.burst, 0
	}
	w.pending.Store(f.pending)
	comparing := make(chan struct{})
	go func() { f.compareUnits(ctx); close(comparing) }()
	defer func() { <-comparing }()
	for ctx.Err() == nil {
		err := f.listen(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		again := max(w.between(), aWhile)
		if limit.Reached(err) || errors.Is(err, stall.Err) {
			again = aWhile
		}
		w.log().Warn("cannot watch for changes, polling instead", "error", err, "hint", hint(err), "retry_in", again)
		f.compare(ctx, again)
	}
}

// aWhile is how long is polled before it is tried again to watch, where the
// kernel had no descriptors, or did not answer. To find out that it still has too few
// watches costs a complete reading, so that is tried with every poll at most.
const aWhile = 5 * time.Second

// compare polls for so long.
func (f *follower) compare(ctx context.Context, d time.Duration) {
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	f.poll(ctx, min(compareEvery, f.between()))
}

// listen makes batches of events until ctx ends, or until the kernel refuses.
func (f *follower) listen(ctx context.Context) error {
	began := time.Now()
	b, err := f.renew(false)
	for err == nil {
		f.changed(b)
		if !f.wait(ctx, time.Since(began)) {
			break
		}
		began = time.Now()
		b, err = f.batch()
	}
	f.watches.close()
	return err
}

// A follower makes batches of events.
type follower struct {
	*Watcher
	info    os.FileInfo // of the root that is watched, nil if there is none
	pending *pending
	units   *units
	watches *watches
	mounts  mounts
	next    time.Time // when to read everything
}

// batch makes a batch of what is pending.
func (f *follower) batch() (Batch, error) {
	c := f.pending.take()
	if c.lost {
		return f.renew(c.root)
	}
	f.watches.setNames(f.trees())
	for name := range c.left {
		f.watches.forget(name)
	}
	added := make(map[string]bool)
	for _, name := range sorted(c.arrived) { // parents come first, with all below
		info, err := f.stat(name)
		if added[name] || err != nil || !info.IsDir() {
			continue
		}
		if err := f.watches.add(name, added); err != nil {
			return Batch{}, err
		}
	}
	for name := range added {
		if t := top(name); t != "." && f.units.charge(t, 1) {
			f.watches.demote(&unit{name: t, why: muchToWatch})
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
	names := f.trees()
	f.watches = &watches{src: src, guard: f.Guard, pending: f.pending, units: f.units, touch: f.touch, prompt: cmp.Or(f.prompt, promptly),
		ended: make(chan struct{}), nodes: newNodes()}
	f.watches.setNames(names)
	go f.watches.read()
	f.now.Store(f.watches)
	if parent := filepath.Dir(names.root); parent != names.root {
		_ = src.add(parent) // without it an exchange of the root shows at the next poll
	}
	f.mounts.look()
	f.findRemote()
	err = f.watches.add(".", make(map[string]bool))
	exchanged = f.reopen() || exchanged
	f.next = time.Now().Add(f.interval())
	return Batch{All: true, Root: exchanged}, err
}

// findRemote has everything on a remote file system compared, too.
func (f *follower) findRemote() {
	every := f.betweenRemote()
	if every == 0 {
		return
	}
	for name, kind := range f.mounts.remote(f.trees()) {
		f.units.add(&unit{name: name, why: "others may change it without an event: " + kind,
			every: every, remote: true, vouched: kind == "overlay"}) // its layers must not change while it is mounted
	}
}

// remount acts on file systems that were mounted or unmounted.
func (f *follower) remount() {
	changed := f.mounts.look()
	for _, point := range changed {
		names, above := f.mounts.names(f.trees(), point)
		if above {
			f.watches.lose(true)
		}
		for _, name := range names {
			if !strings.Contains("/"+name, "/.") {
				f.units.remove(name)
				f.pending.leave(name)
			}
		}
	}
	if len(changed) > 0 {
		f.findRemote()
	}
}

func (f *follower) source() (*eventSource, error) {
	if f.open != nil {
		return f.open()
	}
	return openKernel()
}

// reopen reports whether the root is another one than the last time.
func (f *follower) reopen() bool {
	old := f.info
	f.info, _ = f.stat(".")
	return old != nil && !same(old, f.info)
}

// lookEvery is how often it is asked what no event tells: mounts, and whether it
// is time for a complete reading.
const lookEvery = time.Second

// wait returns when something has happened and settled, false when ctx ended; took is
// how long it took to act on what happened last.
func (f *follower) wait(ctx context.Context, took time.Duration) bool {
	look := time.NewTicker(min(lookEvery, max(f.interval(), time.Millisecond)))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-f.pending.wake:
			f.pending.settle(ctx, took)
			return ctx.Err() == nil
		case <-f.asked():
			f.pending.lose(true)
		case <-look.C:
			f.remount()
			if !time.Now().Before(f.next) {
				f.tick()
				f.next = time.Now().Add(f.interval())
			}
		}
	}
}

// tick asks for a complete reading, if there is something to be read.
func (f *follower) tick() {
	if f.info != nil {
		f.pending.lose(false)
	} else if _, err := f.stat("."); err == nil {
		f.pending.lose(true)
	}
}

// stat asks what a name below the root is; a tree may be a link.
func (f *follower) stat(name string) (os.FileInfo, error) {
	how := os.Lstat
	if f.trees().isTree(name) {
		how = os.Stat
	}
	return stall.Do(f.Guard, name, func() (os.FileInfo, error) { return how(f.trees().file(name)) })
}

// interval returns the time to the next look at the whole tree, or for the
// root.
func (f *follower) interval() time.Duration {
	if f.info == nil {
		return again
	}
	return f.between()
}

// tellUnit logs that a directory is compared from now on.
func (f *follower) tellUnit(u *unit) {
	every := cmp.Or(u.every, compareEvery)
	if u.remote {
		f.log().Info("a remote file system does not report changes: comparing it from time to time", "directory", u.name, "why", u.why, "every", every)
		return
	}
	f.log().Warn("a directory is not watched any more, changes in it show later", "directory", u.name, "why", u.why,
		"every", every, "hint", cmp.Or(u.hint, "no other directory is affected; it is watched again when it changes less"))
}

// compareUnits compares units when they are due, until ctx ends. One that has
// become calm is watched again.
func (f *follower) compareUnits(ctx context.Context) {
	look := time.NewTicker(cmp.Or(f.unitsAt, lookEvery/4))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		for _, u := range f.units.dueNow() {
			for _, dir := range f.compareUnit(u) {
				f.touch(dir)
				f.pending.dir(dir)
			}
			if f.units.calmed(u) {
				f.units.remove(u.name)
				f.pending.arrival(u.name)
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// compareUnit looks at a unit, and returns the directories that have changed since
// the last look.
func (f *follower) compareUnit(u *unit) (changed []string) {
	now := look(f.Guard, f.trees(), u.name, u.look)
	if u.known {
		changed = now.differ(u.look)
	} else {
		changed = now.differ(treeShape{}) // it was watched until a moment ago, but not to the end
	}
	gone := u.known && !same(u.look.info, now.info)
	if gone {
		changed = append(changed, path.Dir(u.name))
	}
	f.units.looked(u, now, len(changed) > 0, cmp.Or(u.every, f.unitsAt, compareEvery))
	return changed
}
