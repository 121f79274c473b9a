package watch

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
)

const (
	// again is the time between two looks for a missing root: no event comes if its
	// parent is missing too.
	again = time.Second
	// lookEvery is the time between two checks for changes without events: mounts, ended
	// pauses, and a complete reading that is due.
	lookEvery = time.Second
	// retryEvery is how often the kernel is asked again to report changes.
	retryEvery = 5 * time.Second
)

// follow makes batches of the changes that events report and rounds find.
func (w *Watcher) follow(ctx context.Context) {
	f := follower{Watcher: w, pending: newPending(), budget: newBudget()}
	if w.burst > 0 {
		f.budget.burst, f.budget.rate = w.burst, 0
	}
	w.pending.Store(f.pending)
	r := &rounds{Watcher: w, pending: f.pending, start: time.Now()}
	f.pending.lose(false)
	began := time.Now()
	f.changed(f.batch())
	comparing := make(chan struct{})
	go func() {
		defer close(comparing)
		if f.quick >= 0 {
			r.run(ctx)
		}
	}()
	for f.wait(ctx, time.Since(began)) {
		began = time.Now()
		f.changed(f.batch())
	}
	<-comparing
	f.watches.close()
}

// A follower makes batches.
type follower struct {
	*Watcher
	info    os.FileInfo // of the root that is watched, nil if there is none
	pending *pending
	budget  *budget
	watches *watches // nil: the kernel reports nothing
	mounts  mounts
	next    time.Time    // when to read everything
	retry   time.Time    // when to ask the kernel again, without watches
	source  *eventSource // that it has given then
	refused bool         // that it has refused was logged
}

// batch takes the pending changes, watches the directories that arrived, and returns a
// Batch.
func (f *follower) batch() Batch {
	c := f.pending.take()
	if c.lost {
		return f.renew(c.root)
	}
	if f.watches == nil {
		return Batch{Dirs: sorted(c.dirs)}
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
			f.complain(err)
			return Batch{All: true}
		}
	}
	for name := range added {
		if t := top(name); t != "." && f.budget.charge(t, 1) {
			f.watches.ignore(t, f.every(aWhile), muchToWatch, "")
		}
	}
	maps.Copy(added, c.dirs)
	return Batch{Dirs: sorted(added)}
}

// renew replaces all watches.
func (f *follower) renew(exchanged bool) Batch {
	f.watches.close()
	f.watches = nil
	f.now.Store(nil)
	exchanged = f.pending.take().root || exchanged
	f.mounts.look()
	f.findRemote()
	if err := f.listen(); err != nil {
		f.complain(err)
	} else if f.refused && f.Method == Inotify {
		f.refused = false
		f.log().Info("the kernel reports changes again")
	}
	exchanged = f.reopen() || exchanged
	f.next = time.Now().Add(f.interval())
	return Batch{All: true, Root: exchanged}
}

// listen watches all directories.
func (f *follower) listen() (err error) {
	src := f.source
	if f.source = nil; src == nil {
		if src, err = f.openSource(); err != nil {
			return err
		}
	}
	names := f.trees()
	f.watches = &watches{src: src, guard: f.Guard, log: f.log(), pending: f.pending, budget: f.budget, touch: f.touch, modes: f.Modes, every: f.every, ended: make(chan struct{}), nodes: newNodes()}
	f.watches.setNames(names)
	go f.watches.read()
	f.now.Store(f.watches)
	if parent := filepath.Dir(names.root); parent != names.root {
		_ = src.add(parent) // without it an exchange of the root shows a little later
	}
	return f.watches.add(".", make(map[string]bool))
}

// errPolling is why nothing listens with PollOnly.
var errPolling = errors.New("polling")

func (f *follower) openSource() (*eventSource, error) {
	switch {
	case f.Method == PollOnly:
		return nil, errPolling
	case f.open != nil:
		return f.open()
	}
	return openKernel()
}

// complain goes on without the kernel, after it has refused, and says so once.
func (f *follower) complain(err error) {
	f.watches.close()
	f.watches = nil
	f.now.Store(nil)
	f.pending.take() // all is read
	f.retry = time.Now().Add(f.every(retryEvery))
	if refused(err) {
		f.retry = time.Now().Add(f.every(aLongWhile)) // to find out costs a complete reading
	}
	if !f.refused && !errors.Is(err, errPolling) {
		f.log().Warn("the kernel reports no changes: they are looked for", "error", err, "hint", hint(err))
	}
	f.refused = true
}

// tryAgain asks the kernel again to report changes.
func (f *follower) tryAgain() {
	if f.watches != nil || f.Method == PollOnly || time.Now().Before(f.retry) {
		return
	}
	f.retry = time.Now().Add(f.every(retryEvery))
	var err error
	if f.source, err = f.openSource(); err == nil {
		f.pending.lose(false)
	}
}

// findRemote records the names on remote file systems.
func (f *follower) findRemote() {
	found := f.mounts.remote(disk.Guarded(f.Guard), f.trees())
	old := f.remote.Swap(&found)
	for name, kind := range found {
		if old == nil || (*old)[name] == "" {
			f.log().Info("a remote file system does not report changes: it is compared from time to time", "directory", name, "why", kind, "every", f.betweenRemote())
		}
	}
}

// isRemote reports whether a name lies on a remote file system.
func (w *Watcher) isRemote(name string) bool {
	found := w.remote.Load()
	if found == nil || len(*found) == 0 {
		return false
	}
	for {
		if (*found)[name] != "" {
			return true
		}
		if name == "." {
			return false
		}
		if at := strings.LastIndexByte(name, '/'); at < 0 {
			name = "."
		} else {
			name = name[:at]
		}
	}
}

// remount acts on file systems that were mounted or unmounted.
func (f *follower) remount() {
	changed := f.mounts.look()
	for _, point := range changed {
		names, above := f.mounts.names(disk.Guarded(f.Guard), f.trees(), point)
		if above {
			f.pending.lose(true)
		}
		for _, name := range names {
			if !strings.Contains("/"+name, "/.") {
				f.pending.leave(name)
			}
		}
	}
	if len(changed) > 0 {
		f.findRemote()
	}
}

// reopen reports whether the root is another one than the last time.
func (f *follower) reopen() bool {
	old := f.info
	f.info, _ = f.stat(".")
	return old != nil && !same(old, f.info)
}

// wait returns when something has happened and settled, false when ctx ended; took is
// how long it took to act on what happened last.
func (f *follower) wait(ctx context.Context, took time.Duration) bool {
	look := time.NewTicker(max(min(f.every(lookEvery), f.interval()), time.Millisecond))
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
			f.tryAgain()
			for _, name := range f.budget.over() {
				f.pending.arrival(name)
			}
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

// stat returns the info of a name. It follows links only for the path of a tree.
func (w *Watcher) stat(name string) (os.FileInfo, error) { return stat(w.Guard, w.trees(), name) }

func stat(guard *stall.Guard, names *names, name string) (os.FileInfo, error) {
	call := disk.Guarded(guard).Named(name)
	if names.isTree(name) {
		return call.Stat(names.file(name))
	}
	return call.Lstat(names.file(name))
}

// interval returns the time to the next look at the whole tree, or for the
// root.
func (f *follower) interval() time.Duration {
	if f.info == nil {
		return again
	}
	return f.between()
}
