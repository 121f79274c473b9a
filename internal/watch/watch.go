package watch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/stall"
)

// Batch names the directories to read again.
type Batch struct {
	// Dirs are the directories whose own entries, and the files they name, must
	// be read again: slash paths below the root, "." for the root itself,
	// sorted, so that parents come first, each once. All directories below a
	// new one are named too, so the caller never needs to descend. Some may be
	// gone by now.
	Dirs []string
	// All reports whether anything may have changed. Dirs is empty then.
	All bool
	// Root reports whether the root itself was replaced, was removed or came back:
	// the caller must open it again. All is set too.
	Root bool
}

// Watcher reports changes below Root and in other trees. Its fields are set before Run is
// called, and Run is called once. The zero value of each but Root is useful.
type Watcher struct {
	// Root is the directory to watch. It may be missing for a time. If it is a
	// symbolic link, both the link and its target are watched.
	Root string
	// Method is how changes are found. If zero, Inotify.
	Method Method
	// Poll is the time between two complete readings, beside events and rounds. If
	// zero, 5 min; if negative, never.
	Poll time.Duration
	// PollRemote is the time between two looks at annotations on a file system that
	// others change (NFS, CIFS, FUSE, Ceph, 9p). If zero, 15 s; if negative, never.
	PollRemote time.Duration
	// Log gets limits and errors. If nil, nothing is logged.
	Log *slog.Logger
	// Guard bounds the waiting for directories that do not answer: they are
	// left out until something asks for everything to be read again. If nil,
	// they are waited for.
	Guard *stall.Guard
	// Touch, if not nil, is called for every event before anything else is done
	// about it, with the directory in which a name or a file changed: a slash
	// path below the root, "." for the root. The empty string says that
	// anything may have changed. Calls never overlap, and must not block.
	Touch func(dir string)
	// Modes, if not nil, is called after Touch for an event that reports a new mode,
	// owner, time or access control list of a file in a directory.
	Modes func(dir string)
	// Changed, if not nil, is called with each Batch. Calls never overlap with each
	// other, but may overlap with calls of Touch.
	Changed func(Batch)

	open     func() (*eventSource, error) // for tests; if nil, openKernel
	quick    time.Duration                // for tests: between two rounds; if zero, as it should be, if negative, no rounds
	burst    float64                      // for tests: all that a top-level directory may do; if zero, its share
	touching sync.Mutex

	now     atomic.Pointer[watches]
	naming  sync.Mutex // one SetTrees at a time
	names   atomic.Pointer[names]
	remote  atomic.Pointer[map[string]string] // kinds of remote file systems, by where they begin
	pending atomic.Pointer[pending]           // of the follower, if there is one
	once    sync.Once
	again   chan struct{}
}

// Run watches until ctx ends, and then returns nil. It fails only where Root
// has no absolute form; whatever happens in the file system later does not end
// it.
func (w *Watcher) Run(ctx context.Context) error {
	if w.trees() == nil { // SetTrees was not called yet
		if err := w.SetTrees(nil); err != nil {
			return err
		}
	}
	switch w.Method {
	case Off:
		w.wait(ctx)
	default:
		w.follow(ctx)
	}
	return nil
}

// SetTrees sets which trees there are besides Root: directories that are watched
// under names of their own, as if they were mounted there. The keys are their names,
// slash paths below the root such as "~bob"; a tree hides a directory of its name in the
// root or in another tree. The values are absolute paths, and may be missing for a time.
// If the directory at a path is replaced by another one, call Replaced. SetTrees may be
// called at any time, also before Run.
func (w *Watcher) SetTrees(trees map[string]string) error {
	root, err := filepath.Abs(w.Root)
	if err != nil {
		return fmt.Errorf("watching %s: %w", w.Root, err)
	}
	w.naming.Lock()
	defer w.naming.Unlock()
	next := newNames(root, trees)
	was := w.names.Swap(next)
	if p := w.pending.Load(); p != nil && was != nil {
		p.named(was, next)
	}
	return nil
}

// Replaced makes the Watcher watch a tree again and report it as changed. Call it when
// the tree's directory was replaced, made or removed. It may be called at any time.
func (w *Watcher) Replaced(name string) {
	if p := w.pending.Load(); p != nil {
		p.leave(name)
	}
}

// Look asks for a directory to be read again. It may be called at any time.
func (w *Watcher) Look(dir string) {
	if p := w.pending.Load(); p != nil {
		p.dir(dir)
	}
}

// trees are the names that hold now.
func (w *Watcher) trees() *names { return w.names.Load() }

// Reread asks for a Batch with All and Root set, in every mode. It does not
// wait for it.
func (w *Watcher) Reread() {
	select {
	case w.asked() <- struct{}{}:
	default:
	}
}

// asked is the channel that Reread sends on.
func (w *Watcher) asked() chan struct{} {
	w.once.Do(func() { w.again = make(chan struct{}, 1) })
	return w.again
}

// betweenRemote returns the time between two comparisons of remote file systems,
// 0 for never.
func (w *Watcher) betweenRemote() time.Duration {
	return max(0, cmp.Or(w.PollRemote, DefaultPollRemote))
}

// wait sends the batches of Method Off, until ctx ends.
func (w *Watcher) wait(ctx context.Context) {
	w.changed(Batch{All: true})
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.asked():
			w.changed(Batch{All: true, Root: true})
		}
	}
}

// The defaults of a Watcher.
const (
	DefaultPoll       = 5 * time.Minute
	DefaultPollRemote = 15 * time.Second
)

// between returns the time between two complete readings beside events.
func (w *Watcher) between() time.Duration {
	switch {
	case w.Poll < 0:
		return math.MaxInt64
	case w.Poll == 0:
		return DefaultPoll
	}
	return w.Poll
}

func (w *Watcher) touch(dir string) {
	if w.Touch != nil {
		w.touching.Lock()
		defer w.touching.Unlock()
		w.Touch(dir)
	}
}

func (w *Watcher) changed(b Batch) {
	if w.Changed != nil && (b.All || len(b.Dirs) > 0) {
		w.Changed(b)
	}
}

func (w *Watcher) log() *slog.Logger {
	if w.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return w.Log
}

// Method is how changes are found.
type Method int

// The modes.
const (
	// Inotify listens to the kernel, and polls where it refuses.
	Inotify Method = iota
	// PollOnly makes rounds only.
	PollOnly
	// Off finds nothing: there is one Batch at the start, and one at each
	// Reread.
	Off
)
