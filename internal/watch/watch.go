package watch

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
)

// Batch names the directories to read again.
type Batch struct {
	// Dirs are the directories to list again: slash paths below the root, "." for the root,
	// sorted, so that parents come first. All directories below a new one are included, so the
	// caller need not descend. Some may be gone already.
	Dirs []string
	// Files names the changed files of a directory of Dirs, if only a few have changed; the
	// other entries need not be read. Some may be links, or gone.
	Files map[string][]string
	// All reports that anything in the root's own tree may have changed; the root may be another
	// directory. Dirs is then empty. In the first Batch, and with Off, All is about all trees;
	// otherwise the directories of the other trees follow in later Batches, so that none of
	// them delays the root.
	All bool
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
	// Guard bounds the wait for directories whose file system does not respond: they are
	// skipped until everything is read again. If nil, the wait is unbounded.
	Guard *stall.Guard
	// Touch, if not nil, is called for every event before anything else is done
	// about it. Calls may overlap, and must not block.
	Touch func()
	// Changed, if not nil, is called with each Batch. Calls never overlap with each
	// other, but may overlap with calls of Touch.
	Changed func(Batch)

	open   func() (*eventSource, error) // for tests; if nil, openKernel
	quick  time.Duration                // for tests: between two rounds; if zero, as it should be, if negative, no rounds
	once   sync.Once
	names  atomic.Pointer[names]
	naming sync.Mutex    // one SetTrees at a time
	wake   chan struct{} // has an element if something is dirty
	again  chan struct{} // has an element if Reread was called

	mu     sync.Mutex
	dirty  map[string][]string  // directories to be visited; for a few files in them, or all: nil
	left   map[string]bool      // names to be forgotten first: others may have their inodes by now
	all    bool                 // everything is to be visited, with new watches
	dirs   map[string]*known    // those that were visited
	away   map[string]bool      // trees that are visited again soon
	events map[string]int       // of top-level directories, since the last look
	paused map[string]time.Time // until when top-level directories are not watched
	remote map[string]bool      // whether trees, and what is mounted in them, are on remote file systems

	// Of Run alone:
	src     *eventSource           // nil without events
	byID    map[disk.FileID]string // the name under which a directory is watched
	rests   map[string]time.Time   // until when top-level directories may take no time
	told    map[string]bool        // what was logged
	retry   time.Time              // when to try again to get events, after the kernel refused
	refused bool                   // it has refused
	begun   bool                   // the first Batch was made
	slow    map[string]int         // how often directories were left that did not respond at once
}

// Method is the method of finding changes.
type Method int

// The methods.
const (
	// Inotify uses events of the kernel, and polling where the kernel refuses watches.
	Inotify Method = iota
	// PollOnly polls.
	PollOnly
	// Off finds no changes: there is a Batch at the start and after each Reread.
	Off
)

// The defaults of a Watcher.
const (
	DefaultPoll       = 5 * time.Minute
	DefaultPollRemote = 15 * time.Second
)

// A Batch is sent when nothing has changed for quiet. If changes do not end, it is sent after as
// much time as the last Batch took, but at least shortest and at most longest.
const (
	quiet    = 20 * time.Millisecond
	shortest = 50 * time.Millisecond
	longest  = 200 * time.Millisecond
)

// An author who changes much must not delay the changes of others. A top-level directory that has
// taken time, here and in Changed, rests for ten times as long. One with too many events is polled
// for a while, and so is the one with the most watches when the kernel refuses another.
const (
	turn       = 20 * time.Millisecond // time of a top-level directory per Batch
	fewest     = 100                   // minimum number of new directories that a turn visits
	restTimes  = 10
	maxRest    = 10 * time.Second // bounds rests, since slow work is mostly waiting for a disk
	maxEvents  = 3000             // in a second
	aWhile     = 30 * time.Second
	aLongWhile = 5 * time.Minute
)

// lookEvery is the interval of checks for mounts and ended pauses.
const lookEvery = time.Second

// A directory that does not respond at once is visited again after lookEvery. After oftenLeft
// such visits the next one waits for it, since it may be slow without hanging.
const oftenLeft = 8

// retryEvery is the interval of attempts to get events after the kernel has refused.
const retryEvery = 5 * time.Second

func (w *Watcher) init() {
	w.once.Do(func() {
		w.wake, w.again = make(chan struct{}, 1), make(chan struct{}, 1)
		w.dirty, w.left = map[string][]string{}, map[string]bool{}
		w.dirs, w.byID = map[string]*known{}, map[disk.FileID]string{}
		w.away = map[string]bool{}
		w.events = map[string]int{}
		w.paused = map[string]time.Time{}
		w.rests = map[string]time.Time{}
		w.told = map[string]bool{}
		w.slow = map[string]int{}
	})
}

// SetTrees sets which trees there are besides Root: directories that are watched
// under names of their own, as if they were mounted there. The keys are their names,
// slash paths below the root such as "~bob"; a tree hides a directory of its name in the
// root or in another tree. The values are absolute paths, and may be missing for a time.
// If the directory at a path is replaced by another one, call Replaced; if that at Root is,
// Reread. SetTrees may be called at any time, also before Run.
func (w *Watcher) SetTrees(trees map[string]string) error {
	root, err := filepath.Abs(w.Root)
	if err != nil {
		return fmt.Errorf("watching %s: %w", w.Root, err)
	}
	w.naming.Lock()
	defer w.naming.Unlock()
	next := newNames(root, trees)
	was := w.names.Swap(next)
	if was == nil {
		return nil
	}
	all := maps.Clone(was.trees)
	maps.Copy(all, next.trees)
	for name := range all {
		if was.trees[name] != next.trees[name] {
			w.Replaced(name)
		}
	}
	return nil
}

// trees returns the current names.
func (w *Watcher) trees() *names { return w.names.Load() }

// Replaced makes the Watcher watch a tree again and report it as changed. Call it when
// the tree's directory was replaced, made or removed. It may be called at any time.
func (w *Watcher) Replaced(name string) {
	w.mark(func() {
		w.left[name] = true
		w.dirty[name] = nil
		w.dirty[path.Dir(name)] = nil
	})
}

// Look makes the Watcher visit a directory. It may be called at any time.
func (w *Watcher) Look(dir string) { w.mark(func() { w.dirty[dir] = nil }) }

// Reread requests a Batch with All set, with every Method. It does not wait.
func (w *Watcher) Reread() {
	w.init()
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// lose marks everything as dirty, after events were lost, and has the watches set anew.
func (w *Watcher) lose() {
	w.touch()
	w.mark(func() { w.all = true })
}

// maxFiles is the number of changed files above which the whole directory is visited.
const maxFiles = 100

// soil marks files of a directory as dirty. It must be called with mu held.
func (w *Watcher) soil(dir string, files ...string) {
	old, dirty := w.dirty[dir]
	if dirty && old == nil {
		return
	}
	for _, f := range files {
		if !slices.Contains(old, f) {
			old = append(old, f)
		}
	}
	if len(old) > maxFiles {
		old = nil
	}
	w.dirty[dir] = old
}

// mark calls change, which marks something as dirty, and wakes the Watcher.
func (w *Watcher) mark(change func()) {
	w.init()
	w.mu.Lock()
	change()
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watcher) touch() {
	if w.Touch != nil {
		w.Touch()
	}
}

func (w *Watcher) log() *slog.Logger {
	return cmp.Or(w.Log, slog.New(slog.DiscardHandler))
}

// every returns an interval, which tests shorten.
func (w *Watcher) every(d time.Duration) time.Duration {
	if w.quick > 0 {
		return min(w.quick, d)
	}
	return d
}

// Run watches until ctx ends, and then returns nil. It fails only where Root
// has no absolute form; whatever happens in the file system later does not end
// it.
func (w *Watcher) Run(ctx context.Context) error {
	w.init()
	if w.trees() == nil { // SetTrees was not called yet
		if err := w.SetTrees(nil); err != nil {
			return err
		}
	}
	var mounted mounts
	mounted.look(w)
	w.mark(func() { w.all = true })
	w.send(w.batch())

	// With Off, only Reread causes a Batch.
	var poll, look <-chan time.Time
	comparing := make(chan struct{})
	if w.Method != Off {
		if w.Poll >= 0 {
			poll = time.Tick(cmp.Or(w.Poll, DefaultPoll))
		}
		look = time.Tick(w.every(lookEvery))
	}
	go func() {
		defer close(comparing)
		if w.Method != Off && w.quick >= 0 {
			w.rounds(ctx)
		}
	}()

	var took time.Duration
	for {
		select {
		case <-ctx.Done():
			w.closeSource()
			<-comparing
			return nil
		case <-w.again:
			w.lose()
		case <-poll:
			w.lose()
		case <-look:
			w.lookAround(&mounted)
		case <-w.wake:
			if w.settle(ctx, took); ctx.Err() != nil {
				continue
			}
			began := time.Now()
			w.send(w.batch())
			took = time.Since(began)
		}
	}
}

// send calls Changed, and lets top-level directories rest for what that took.
func (w *Watcher) send(b Batch) {
	if w.Changed == nil || !b.All && len(b.Dirs) == 0 {
		return
	}
	began := time.Now()
	w.Changed(b)
	took := time.Since(began)
	count := map[string]int{}
	for _, dir := range b.Dirs {
		count[top(dir)]++
	}
	for t, n := range count {
		w.rest(t, took*time.Duration(n)/time.Duration(len(b.Dirs)))
	}
}

// rest delays the next changes of a top-level directory by ten times what it has taken.
func (w *Watcher) rest(top string, took time.Duration) {
	if top == "." || took < time.Millisecond {
		return
	}
	now := time.Now()
	from := w.rests[top]
	if from.Before(now) {
		from = now
	}
	until := from.Add(restTimes * took)
	if latest := now.Add(maxRest); until.After(latest) {
		until = latest
	}
	w.rests[top] = until
}

// settle waits until nothing has changed for quiet, or for as long as the last Batch took.
func (w *Watcher) settle(ctx context.Context, took time.Duration) {
	end := time.After(min(max(took, shortest), longest))
	for {
		select {
		case <-w.wake:
		case <-time.After(quiet):
			return
		case <-end:
			return
		case <-ctx.Done():
			return
		}
	}
}

// batch visits dirty directories and new ones in them.
func (w *Watcher) batch() Batch {
	w.mu.Lock()
	all, left, dirty := w.all, w.left, w.dirty
	w.all = false
	w.left = map[string]bool{}
	w.dirty = map[string][]string{}
	w.mu.Unlock()
	if w.Method == Off {
		return Batch{All: all}
	}
	if all {
		w.renew()
		dirty = map[string][]string{".": nil}
		for name := range w.trees().trees {
			if w.begun {
				w.Look(name)
			} else {
				dirty[name] = nil
			}
		}
		w.begun = true
	}
	found, files := map[string]bool{}, map[string][]string{}
	for name := range left {
		if w.dirs[name] != nil || w.trees().isTree(name) {
			w.forget(name)
			found[name] = true
		}
	}

	// Directories that rest, or have used their turn, continue later.
	now := time.Now()
	maps.DeleteFunc(w.rests, func(_ string, until time.Time) bool { return until.Before(now) })
	took := map[string]time.Duration{}
	fresh, visits := map[string]bool{}, map[string]int{} // new directories; visits of such
	later := map[string][]string{}
	next := maxRest
	for todo := slices.Sorted(maps.Keys(dirty)); len(todo) > 0; {
		name, t := todo[0], top(todo[0])
		todo = todo[1:]
		wait := w.rests[t].Sub(now)
		used := took[t] >= turn && t != "." && (!fresh[name] || visits[t] >= fewest)
		switch {
		case all:
		case fresh[name] && w.dirs[name] != nil:
			continue // visited already
		case fresh[name] && used:
			later[path.Dir(name)], next = nil, 0 // which finds it again
			continue
		case !fresh[name] && (wait > 0 || used):
			later[name], next = dirty[name], min(next, max(wait, 0))
			continue
		case w.dirs[name] == nil && !w.trees().isTree(name) && !fresh[name]:
			continue // a new directory is reported by its parent
		}
		began := time.Now()
		if few := w.few(name, dirty[name]); few != nil {
			files[name] = few
		} else {
			for _, sub := range w.visit(name, found) {
				if todo = append(todo, sub); !all {
					fresh[sub] = true
				}
			}
			visits[t]++
		}
		took[t] += time.Since(began)
	}
	if all {
		return Batch{All: true}
	}
	for t, d := range took {
		w.rest(t, d)
	}
	if len(later) > 0 {
		w.mu.Lock()
		for name, files := range later {
			if files == nil {
				w.dirty[name] = nil
			} else {
				w.soil(name, files...)
			}
		}
		w.mu.Unlock()
		time.AfterFunc(max(next, quiet), func() { w.mark(func() {}) })
	}
	maps.DeleteFunc(files, func(name string, _ []string) bool { return found[name] })
	for name := range files {
		found[name] = true
	}
	return Batch{Dirs: slices.Sorted(maps.Keys(found)), Files: files}
}

// lookAround handles what no event reports: mounts, ended pauses, and retries after the kernel
// has refused.
func (w *Watcher) lookAround(m *mounts) {
	m.look(w)
	w.unpause()
	if w.src == nil && w.Method == Inotify && !time.Now().Before(w.retry) {
		w.retry = time.Now().Add(w.every(retryEvery))
		if src, err := w.openSource(); err == nil {
			_ = src.close()
			w.lose()
		}
	}
}

// renew replaces all watches by new ones.
func (w *Watcher) renew() {
	w.closeSource()
	w.mu.Lock()
	clear(w.dirs)
	w.mu.Unlock()
	clear(w.byID)
	clear(w.slow)
	if w.Method == Inotify {
		src, err := w.openSource()
		if err != nil {
			w.complain(err)
		} else {
			w.listen(src)
		}
	}
}

// patience returns how long to wait for a directory: a moment, since changes elsewhere must not
// wait for it, and longer after many attempts.
func (w *Watcher) patience(name string) stall.Patience {
	if w.slow[name] >= oftenLeft {
		return stall.Hurried
	}
	return stall.Brief
}

// stat returns the info of a name. It follows links only for the path of a tree.
func (w *Watcher) stat(name string) (fs.FileInfo, error) {
	call, n := disk.Patient(w.Guard, w.patience(name)).Named(name), w.trees()
	if n.isTree(name) {
		return call.Stat(n.file(name))
	}
	return call.Lstat(n.file(name))
}
