package watch

import (
	"errors"
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
	errors <-chan error // each reports that events were lost
}

// openKernel returns a source of the kernel's events.
func openKernel() (*eventSource, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &eventSource{
		add:    w.Add,
		remove: func(name string) { _ = w.Remove(name) },
		close:  w.Close,
		events: w.Events,
		errors: losses(w.Errors),
	}, nil
}

// losses forwards the errors after which events are missing, which excludes EINVAL: a directory
// was gone before its watch was removed. It receives each error at once, since fsnotify blocks
// until an error is received, and the reader of events might wait for fsnotify.
func losses(all <-chan error) <-chan error {
	lost := make(chan error, 1)
	go func() {
		defer close(lost)
		for err := range all {
			if !errors.Is(err, syscall.EINVAL) {
				select {
				case lost <- err:
				default: // already reported
				}
			}
		}
	}()
	return lost
}

// refused reports whether err means that the kernel's limit of watches is reached.
func refused(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOMEM)
}

// hint returns a hint about err, for which refused is true.
func hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "raise the limit: " + diag.Command("sysctl", "fs.inotify.max_user_watches=1048576")
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit: " + diag.Command("sysctl", "fs.inotify.max_user_instances=1024")
	}
	return "changes are noticed late, those of robots.txt up to a round later"
}

// read handles events until the source is closed.
func (w *Watcher) read(src *eventSource) {
	for {
		select {
		case e, ok := <-src.events:
			if !ok {
				return
			}
			for _, name := range w.trees().of(e.Name) {
				w.event(name, e)
			}
		case _, ok := <-src.errors:
			if !ok {
				return
			}
			w.lose() // an overflow: any event may be missing
		}
	}
}

// event marks what an event makes dirty. Names that are no directories are skipped later.
func (w *Watcher) event(name string, e fsnotify.Event) {
	gone := e.Has(fsnotify.Remove | fsnotify.Rename)
	new := e.Has(fsnotify.Create)
	mode := e.Has(fsnotify.Chmod)
	if name == "." && (gone || new) {
		w.lose()
		return
	}
	dir, t := path.Dir(name), top(name)
	w.touch()
	w.mark(func() {
		if _, paused := w.paused[t]; paused { // rounds find out
			return
		}
		if name != t || w.dirs[name] != nil {
			w.events[t]++
		}
		w.soil(dir, path.Base(name))
		if gone {
			w.left[name] = true // another directory may have its inode by now
		}
		if new || mode || w.trees().isTree(name) { // no directory above a tree reports it
			w.dirty[name] = nil
		}
	})
}
