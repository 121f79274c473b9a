package watch

import (
	"cmp"
	"errors"
	"hash/maphash"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// A directory is watched before it is listed, parents before children. So every change is either
// in the listing or reported by an event.
//
// The kernel watches inodes, but the source reports the path with which a watch was added. After
// a rename, the watches on the directory and on all below it are removed, and it is added again
// under its new name. Since inode numbers are reused at once, every name that was removed or
// renamed is forgotten before anything is visited.

// known is the state of a directory at the last visit.
type known struct {
	id      disk.FileID
	mode    fs.FileMode
	watched bool // guarded by Watcher.mu, as is what follows
	listing
}

// listing is the content of a directory.
type listing struct {
	subs  []string // names of the directories in it, sorted
	steer []string // names of the files that configure how it is served
	sign  uint64   // a hash of its revision, and those of steer
	young bool     // a later change may not change sign
}

// visit visits a directory, and adds its name to found and those of directories that are gone.
// It returns the new directories in it.
func (w *Watcher) visit(name string, found map[string]bool) (fresh []string) {
	// Forget a directory that is gone, was replaced, or whose access has changed, with all
	// below.
	old := w.dirs[name]
	d, err := w.enter(name, old)
	if errors.Is(err, stall.ErrLeft) || errors.Is(err, stall.ErrSlow) { // a later visit finds out whether it hangs
		w.slow[name]++
		again := name
		if old == nil && !w.trees().isTree(name) {
			again = path.Dir(name) // which finds a new directory
		}
		time.AfterFunc(w.every(lookEvery), func() { w.Look(again) })
		return nil
	}
	delete(w.slow, name)
	passes := isStalled(err) || limit.Reached(err)
	if old != nil && !passes && (err != nil || old.id != d.id || old.mode != d.mode) {
		w.forget(name)
		found[name] = true
		if old = nil; err == nil {
			d, err = w.enter(name, nil)
		}
	}
	if err != nil {
		switch {
		case passes:
			found[name] = true
		case w.trees().isTree(name): // it may come back as it was, and nobody calls Replaced
			w.await(name)
		}
		if limit.Reached(err) { // the Guard reports when a file system responds again
			time.AfterFunc(w.every(retryEvery), w.lose)
		}
		return nil
	}
	found[name] = true
	w.mu.Lock()
	w.dirs[name] = d
	w.mu.Unlock()
	if d.watched {
		w.byID[d.id] = name
	}

	// Forget subdirectories that are gone, and return new ones.
	if old != nil {
		for _, sub := range old.subs {
			full := selector.Join(name, sub)
			if _, still := slices.BinarySearch(d.subs, sub); !still && !w.trees().isTree(full) {
				w.forget(full)
				found[full] = true
			}
		}
	}
	for _, sub := range d.subs {
		if full := selector.Join(name, sub); w.dirs[full] == nil && !w.trees().isTree(full) {
			fresh = append(fresh, full)
		}
	}
	return fresh
}

// await visits a tree that is away again after lookEvery. However often it is visited, one timer
// waits.
func (w *Watcher) await(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away[name] {
		return
	}
	w.away[name] = true
	time.AfterFunc(w.every(lookEvery), func() {
		w.mark(func() {
			delete(w.away, name)
			w.dirty[name] = nil
		})
	})
}

// few returns the changed files of a visited directory, or nil if the whole directory must be
// visited: files is nil, or one of them is or was a directory, or configures the directory and is
// no annotation.
func (w *Watcher) few(name string, files []string) []string {
	old := w.dirs[name]
	if files == nil || old == nil || !old.watched {
		return nil
	}
	w.mu.Lock()
	d, few := *old, []string{} // rounds may compare it meanwhile
	w.mu.Unlock()
	for _, base := range files {
		info, err := w.stat(selector.Join(name, base))
		isGone := errors.Is(err, fs.ErrNotExist)
		_, isSub := slices.BinarySearch(d.subs, base)
		if isSub || err != nil && !isGone || err == nil && info.IsDir() ||
			steers(base) && base != note {
			return nil
		}
		few = append(few, base)
		if base == note {
			d.steer = slices.DeleteFunc(slices.Clone(d.steer), func(other string) bool {
				return other == note
			})
			if !isGone {
				d.steer = append(d.steer, note)
			}
		}
	}

	// From here on, what changes has an event of its own.
	now, err := w.look(name, &d, w.patience(name))
	if err != nil {
		return nil
	}
	d.sign, d.young = now.sign, false
	w.mu.Lock()
	w.dirs[name] = &d
	w.mu.Unlock()
	return few
}

// isStalled reports whether err means that a file system does not respond.
func isStalled(err error) bool {
	return errors.Is(err, stall.Err) || errors.Is(err, stall.ErrStopped)
}

// enter sets a watch on a directory, if it has none, and lists it.
func (w *Watcher) enter(name string, old *known) (*known, error) {
	info, err := w.stat(name)
	if err == nil && (!info.IsDir() || hidden(path.Base(name)) && !w.trees().isTree(name)) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	d := &known{id: disk.IDOf(info), mode: info.Mode()}
	if d.watched = old != nil && old.watched && old.id == d.id; !d.watched {
		d.watched = w.watch(name, d.id)
	}
	d.listing, err = w.look(name, nil, w.patience(name))
	return d, err
}

// watch sets a watch on a directory, and reports whether it could.
func (w *Watcher) watch(name string, id disk.FileID) bool {
	if w.src == nil || w.isPaused(name) {
		return false
	}

	// Remove the watch under another name: fsnotify would go on reporting that name.
	file := w.trees().file(name)
	if other, ok := w.byID[id]; ok && other != name && w.trees().file(other) != file {
		if info, err := w.stat(other); err == nil && disk.IDOf(info) == id {
			return false // it has two names, as a bind mount has: rounds look at this one
		}
		w.forget(other)
		w.Look(path.Dir(other))
	}

	for {
		src := w.src
		err := disk.Guarded(w.Guard)(name, func() error { return src.add(file) })
		switch {
		case refused(err) && w.pauseLargest(err) && !w.isPaused(name):
			continue
		case refused(err) && !w.isPaused(name), errors.Is(err, stall.Err): // who adds keeps all others waiting
			w.complain(err)
			w.closeSource()
			return false
		}
		return err == nil
	}
}

// look lists a directory; if its files that configure it are known, it only compares. It fails if
// the file system does not respond. For a directory without read permission it returns an empty
// listing.
func (w *Watcher) look(name string, d *known, patience stall.Patience) (listing, error) {
	file := w.trees().file(name)
	return stall.Try(w.Guard, patience, func(a *stall.Attempt) (l listing, err error) {
		call := disk.Within(a)
		self, err := call.Named(name).Revision(file)
		switch {
		case isStalled(err) || err != nil && d == nil:
			return l, err
		case d != nil:
			l.steer, err = d.steer, nil // what is gone has another sign
		default:
			err = call.Named(name).Each(file, func(e fs.DirEntry) {
				if e.IsDir() && !hidden(e.Name()) {
					l.subs = append(l.subs, e.Name())
				} else if steers(e.Name()) {
					l.steer = append(l.steer, e.Name())
				}
			})
			if errors.Is(err, fs.ErrPermission) {
				err = nil
			}
			slices.Sort(l.subs)
		}
		now := time.Now()
		l.sign, l.young = maphash.Comparable(seed, self), self.Young(now)
		for _, base := range l.steer {
			rev, _ := call.Named(selector.Join(name, base)).Revision(filepath.Join(file, base))
			l.sign += maphash.Comparable(seed, rev) ^ maphash.String(seed, base)
			l.young = l.young || rev.Young(now)
		}
		return l, err
	})
}

// forget removes a directory and all below it from the state.
func (w *Watcher) forget(name string) {
	d := w.dirs[name]
	if d == nil {
		return
	}
	w.mu.Lock()
	delete(w.dirs, name)
	w.mu.Unlock()
	if w.byID[d.id] == name {
		delete(w.byID, d.id)
	}
	w.unwatch(name, d)
	w.touch()
	for _, sub := range d.subs {
		if full := selector.Join(name, sub); !w.trees().isTree(full) {
			w.forget(full)
		}
	}
}

// unwatch removes the watch of a directory, unless the directory has another name.
func (w *Watcher) unwatch(name string, d *known) {
	file := w.trees().file(name)
	has := func(other string) bool { return other != name && w.dirs[other] != nil }
	if d.watched && w.src != nil && !slices.ContainsFunc(w.trees().of(file), has) {
		w.src.remove(file)
	}
	w.mu.Lock()
	d.watched = false
	d.young = true // a change just before this may have no event
	w.mu.Unlock()
}

// pause removes the watches of a top-level directory for a time; rounds poll it.
func (w *Watcher) pause(t string, d time.Duration, why, hint string) {
	w.mu.Lock()
	w.paused[t] = time.Now().Add(d)
	w.mu.Unlock()
	for name, d := range w.dirs {
		if top(name) == t {
			w.unwatch(name, d)
		}
	}
	w.touch()
	if !w.told[t] {
		w.told[t] = true
		w.log().Warn("a directory is not watched: its changes are noticed late",
			"directory", t, "why", why,
			"hint", cmp.Or(hint, "no other directory is affected; it is watched again when it changes less"))
	}
}

func (w *Watcher) isPaused(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, paused := w.paused[top(name)]
	return paused
}

// pauseLargest pauses the top-level directory with the most watches, after the kernel has
// refused another one. It reports false if only the root has any.
func (w *Watcher) pauseLargest(err error) bool {
	count, most := map[string]int{}, ""
	for name, d := range w.dirs {
		if t := top(name); d.watched && t != "." {
			if count[t]++; count[t] > count[most] || count[t] == count[most] && t < most {
				most = t
			}
		}
	}
	if most != "" {
		w.pause(most, w.every(aLongWhile),
			"the kernel's limit of watches is reached, and this directory has the most", hint(err))
	}
	return most != ""
}

// unpause pauses directories with too many events, and ends the pauses that are over.
func (w *Watcher) unpause() {
	w.mu.Lock()
	events := w.events
	w.events = map[string]int{}
	over := map[string]bool{}
	for t, until := range w.paused {
		if time.Now().After(until) {
			delete(w.paused, t)
			over[t] = true
		}
	}
	w.mu.Unlock()
	for t, n := range events {
		if n > maxEvents {
			w.pause(t, w.every(aWhile), "it changes too much to be watched", "")
		}
	}
	for name := range w.dirs {
		if over[top(name)] {
			w.Look(name)
		}
	}
}

// openSource opens a source of events.
func (w *Watcher) openSource() (*eventSource, error) {
	if w.open != nil {
		return w.open()
	}
	return openKernel()
}

// listen starts to receive events from a source.
func (w *Watcher) listen(src *eventSource) {
	w.src = src
	if w.refused {
		w.refused = false
		w.log().Info("the kernel reports changes again")
	}
	go w.read(src)
	if root := w.trees().root; filepath.Dir(root) != root {
		_ = src.add(filepath.Dir(root)) // without it, a replaced root is noticed a little later
	}
}

// closeSource removes all watches.
func (w *Watcher) closeSource() {
	if w.src == nil {
		return
	}
	go func(src *eventSource) { _ = src.close() }(w.src) // may wait for an add that hangs
	w.src = nil
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.dirs {
		d.watched = false
		d.young = true // as in unwatch
	}
}

// complain logs once that the kernel refuses events, and continues with polling.
func (w *Watcher) complain(err error) {
	w.retry = time.Now().Add(w.every(retryEvery))
	if refused(err) {
		w.retry = time.Now().Add(w.every(aLongWhile)) // to find out costs a complete reading
	}
	if !w.refused {
		w.log().Warn("the kernel reports no changes: gophd compares directories instead", "error",
			err, "hint", hint(err))
	}
	w.refused = true
}
