package watch

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"github.com/fsnotify/fsnotify" // the kernel's events, on every system

	"github.com/gophd/gophd/diag"
)

// An eventSource is where events come from: the kernel, or a test.
type eventSource struct {
	add    func(name string) error // watch one directory
	remove func(name string)       // do so no longer; nothing if it is not watched
	close  func() error            // ends events
	events <-chan fsnotify.Event
	errors <-chan error // whatever comes here: events were lost
}

// openKernel returns the kernel as a source.
func openKernel() (*eventSource, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &eventSource{add: w.Add, remove: func(name string) { _ = w.Remove(name) }, close: w.Close, events: w.Events, errors: losses(w.Errors)}, nil
}

// losses passes errors on if they mean that events were lost. EINVAL means only that a
// directory was gone before its watch was removed. losses receives each error at once:
// until then fsnotify adds and removes nothing, and the reader of events may wait for
// that.
func losses(all <-chan error) <-chan error {
	lost := make(chan error, 1)
	go func() {
		defer close(lost)
		for err := range all {
			if !errors.Is(err, syscall.EINVAL) {
				select {
				case lost <- err:
				default: // it is known
				}
			}
		}
	}()
	return lost
}

// refused reports whether err says that the kernel watches no more
// directories, rather than not this one.
func refused(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOMEM)
}

// hint returns advice for the administrator about err, a refusal.
func hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "raise the limit: " + diag.Command("sysctl", "fs.inotify.max_user_watches=1048576")
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit: " + diag.Command("sysctl", "fs.inotify.max_user_instances=1024")
	}
	return "changes show later, robots.txt up to a round later"
}

// read takes events until the source is closed.
func (g *watches) read() {
	defer close(g.ended)
	for {
		select {
		case e, ok := <-g.src.events:
			if !ok {
				return
			}
			for _, name := range g.names().of(e.Name) {
				g.event(name, e)
			}
		case _, ok := <-g.src.errors:
			if !ok {
				return
			}
			g.lose(false) // an overflow: any event may be missing
		}
	}
}

// event acts on one event.
func (g *watches) event(name string, e fsnotify.Event) {
	if name == "." && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) {
		g.lose(true)
		return
	}
	g.touch(path.Dir(name))
	if g.modes != nil && e.Has(fsnotify.Chmod) {
		g.modes(path.Dir(name))
		g.modes(name)
	}
	if g.budget.ignores(name) { // a round will find out
		return
	}
	was, known := g.known(name)
	cost := 1
	switch {
	case known && e.Has(fsnotify.Remove|fsnotify.Rename), known && e.Has(fsnotify.Create) && !g.still(name, was):
		cost += g.forget(name)
		g.pending.dir(name)
		g.pending.arrival(name)
	case known:
		cost += g.attributes(name, was)
	case e.Has(fsnotify.Create) && !hidden(path.Base(name)):
		g.pending.arrival(name)
	}
	g.pending.dir(path.Dir(name))
	if t := top(name); (known || t != name) && g.budget.charge(t, cost) {
		g.ignore(t, g.every(aWhile), muchToWatch, "")
	}
}

// still reports whether the directory with this name is the one that is already watched
// under it. Then a walk found it before the event of its creation was read.
func (g *watches) still(name string, was dirState) bool {
	info, err := g.stat(name)
	return err == nil && was.watched && inodeOf(info) == was.id
}

func (g *watches) stat(name string) (fs.FileInfo, error) { return stat(g.guard, g.names(), name) }

// attributes acts on a change of owner, times or mode of a directory, and returns
// how many names that concerns. A new mode opens or closes everything below. New times
// alone are ignored: rsync sets the times of every directory.
func (g *watches) attributes(name string, was dirState) (cost int) {
	g.changed(name)
	if info, err := g.stat(name); err == nil && was.watched && was.mode == info.Mode() {
		return 0
	}
	var below []string
	g.mu.RLock()
	if n := g.nodes.find(name); n != nil {
		n.walk(name, func(name string, _ *watchNode) { below = append(below, name) })
	}
	g.mu.RUnlock()
	for _, name := range below {
		g.touch(name)
	}
	g.pending.arrival(name)
	return len(below)
}

func (g *watches) changed(dir string) {
	g.touch(dir)
	g.pending.dir(dir)
}
