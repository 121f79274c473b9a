package watch

import (
	"errors"
	"syscall"

	"github.com/fsnotify/fsnotify" // the kernel's events, on every system
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
	return &eventSource{add: w.Add, remove: func(name string) { _ = w.Remove(name) }, close: w.Close, events: w.Events, errors: w.Errors}, nil
}

// refused reports whether err says that the kernel watches no more
// directories, rather than not this one.
func refused(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.ENOMEM)
}

// hint returns what an administrator can do about err, a refusal.
func hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "raise the limit: sysctl fs.inotify.max_user_watches=1048576"
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit: sysctl fs.inotify.max_user_instances=1024"
	}
	return "changes are found by polling until the next start"
}
