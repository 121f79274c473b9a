// Package site serves a content tree: the files below one directory, which no name or
// link can leave, and a robots.txt. It compiles robots.txt from the annotations in the
// tree, and again whenever they change. It knows nothing of the protocol: package answer
// answers requests from it.
//
// A View reads files and listings from the file system at each request. The Snapshot
// holds the policy: an immutable value, swapped as a whole.
//
// A reload:
//
//	file system event → batch of directories → rescan those → compile → prove → swap
package site

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/internal/watch"
	"github.com/gophd/gophd/policy"
)

// A Config is how a Site is served and watched. The zero value is ready to use.
type Config struct {
	// Watch is how changes are noticed: inotify, poll or off.
	Watch Watch

	// Poll is how often everything is read again beside that. If zero, 5 min.
	Poll time.Duration

	// PollRemote is how often annotations on remote file systems are compared with
	// the last reading, since no event reports changes there. If zero, 15 s; if
	// negative, never.
	PollRemote time.Duration

	// Mounts are other directories that are served, by their names below the
	// root: {"pub": "/srv/mirror"} serves /srv/mirror as /pub/. A mount hides a file
	// or directory of its name in the root.
	Mounts map[string]string

	// Users is where users have directories of their own: an absolute path with
	// one element that is "*", the user's name, such as "/home/*/public_gopher":
	// /~ann/ serves /home/ann/public_gopher. The owner of the directory must own the
	// home, unless root does. Only files of that owner and of root are served. New
	// and removed users are noticed within a second. If empty, there are none.
	Users string

	// Capsules is where users have trees for Gemini and Spartan, in the same homes as
	// Users, such as "/home/*/public_gemini": a View for those fronts has them in place of
	// the trees of Users, whose users keep that tree where they have no other. The one
	// robots.txt denies what the annotations of either tree deny. If empty, there are none.
	Capsules string

	// UsersMinUID is the lowest id of an account that counts as a user. If zero,
	// 1000.
	UsersMinUID int

	// Programs are selectors that programs answer beside the site ("/cgi-bin"), or
	// "/*" and the end of names ("/*.dcgi"): robots.txt denies them unless the root's
	// annotation allows them by name. Open returns an error for anything else
	// ([policy.CheckProgram]).
	Programs []string

	// Runs reports whether a program answers for a program of the tree that makes a
	// menu, or a part of one: robots.txt denies that menu's selector as it denies
	// Programs. If nil, there are none.
	Runs func(name string) bool

	// Endless are selectors that the server answers by itself with as many replies as
	// there are questions ("/search"): robots.txt denies them as it denies Programs. A
	// file or directory of the site with that name is served instead.
	Endless []string

	// Sitemaps are URLs of sitemaps, which robots.txt names.
	Sitemaps []string

	// SitemapsAs are the same URLs, in the same order, by other names of the site: who asks
	// for robots.txt by such a name reads these ([Snapshot.RobotsAs]).
	SitemapsAs map[string][]string

	// Files keeps all files in Snapshot.Tree, with their types, sizes and times, for what
	// lists them: View.Files, Snapshot.Changes. Policy does not depend on them.
	Files bool

	// FileTimeout is how long a file or directory may take to be opened or read
	// before it counts as unresponsive: it is then not opened again until it
	// answers, and robots.txt denies it. If zero, 10 s.
	FileTimeout time.Duration

	// Log gets a line for each reload and each problem in the tree. If nil, nothing
	// is logged.
	Log *slog.Logger

	// Reloaded, if not nil, is called after each reload. Calls never overlap.
	Reloaded func(Reload)
}

// A Reload describes one reading of changed directories or of everything.
type Reload struct {
	Start       time.Time
	Took        time.Duration
	Everything  bool // not only what had changed
	Directories int  // how many were read; 0 if Everything

	// Err is why the tree could not be opened or read, and the old snapshot stays;
	// or why the new robots.txt is not proven, and one is served that denies all.
	Err error
}

// A Site is one content tree. Its methods may be called by many goroutines.
type Site struct {
	dir     string
	conf    Config
	log     *slog.Logger
	watcher *watch.Watcher // nil: the tree does not change
	guard   *stall.Guard
	opened  time.Time

	served atomic.Pointer[served]
	ready  chan struct{} // closed with the first snapshot

	scanned atomic.Int64 // directories that were read

	wanted chan struct{} // closed when a caller waits for that
	want   sync.Once

	events atomic.Uint64 // counts what may have changed in the file system

	mu       sync.Mutex // one reload at a time
	scan     *scanner   // of the last snapshot
	problems problems
	tidy     *time.Timer // gives memory back
	again    bool        // lookAgain waits

	users    *users      // nil: there are none
	capsules *users      // those of Config.Capsules
	serving  sync.Mutex  // one change of served at a time
	found    fs.FileInfo // what the path of the root led to; nil: nothing. Guarded by serving
}

// served holds the trees that requests see, and the policy compiled from them. Both are
// exchanged at once, so that no client gets a robots.txt and then a text of another
// tree.
type served struct {
	root     *disk.Root
	capsules *disk.Root     // as Gemini sees it; nil: the same
	snap     *Snapshot      // nil before the first
	numbers  [scopes]uint64 // count the changes of each scope: kept replies hold for one number
}

// changed makes kept replies of a scope stale.
func (s *served) changed(of scope) {
	for ; of < scopes; of++ {
		s.numbers[of]++
	}
}

// serve lets change edit a copy of served, and publishes the copy.
func (s *Site) serve(change func(*served)) {
	s.serving.Lock()
	defer s.serving.Unlock()
	old := s.served.Load()
	next := *old
	if change(&next); s.capsules != nil && next.root != old.root {
		next.capsules = capsuleRoot(next.root)
	}
	s.served.Store(&next)
}

// A Snapshot is the policy of a tree at one time.
type Snapshot struct {
	Tree     *Dir
	Compiled *policy.Compiled
	Reports  []policy.Report // of the policy, and of the names of the tree; the worst first
	Robots   []byte          // the reply at robots.txt

	robotsAs map[string][]byte // the same by the names of Config.SitemapsAs

	included map[string]bool   // files that maps include, by real name; true: an interpreter runs it
	programs []diag.Diagnostic // programs that other servers would run
	menus    []string          // selectors of menus that programs make
	shown    []shown           // files whose text menus show
	shows    map[string]bool   // the names of menus that show a denied file

	changed map[string]time.Time // when something in a user's tree was changed last, by the name of the tree

	homes    *Snapshot // of the trees of Config.Capsules alone: what the scan has recorded; nil: there are none
	capsules *Snapshot // of the whole tree as Gemini sees it; nil: the same

	leak    error           // why the compiled file is not Robots
	aliases map[string]link // other names of what the tree has
	refused map[string]bool // links that are not followed
}

// Snapshot returns the policy. The first one is waited for until ctx ends.
func (s *Site) Snapshot(ctx context.Context) (*Snapshot, error) {
	select {
	case <-s.ready:
		return s.Now(), nil
	default:
	}
	s.want.Do(func() { close(s.wanted) })
	select {
	case <-s.ready:
		return s.Now(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Ready reports whether there is a snapshot, and waits at most max for the first one.
func (s *Site) Ready(ctx context.Context, max time.Duration) bool {
	if s.Now() != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	_, err := s.Snapshot(ctx)
	return err == nil
}

// Scanned returns how many directories were read so far, again ones included.
func (s *Site) Scanned() int64 { return s.scanned.Load() }

// Closed is [policy.Compiled.Closed] of the snapshot; before the first one every spelling
// but the canonical one is closed.
func (s *Site) Closed(canonical, spelling string) bool {
	var c *policy.Compiled
	if snap := s.Now(); snap != nil {
		c = snap.Compiled
	}
	return c.Closed(canonical, spelling)
}

// Now returns the snapshot, nil before the first.
func (s *Site) Now() *Snapshot { return s.served.Load().snap }

// Watch is how changes are noticed.
type Watch int

// The ways.
const (
	WatchEvents Watch = iota // the kernel reports them (inotify); where it refuses, the tree is compared
	WatchPoll                // the tree is compared at intervals
	WatchOff                 // not at all: everything is read at the start, and at each Reload
)

var watchNames = [...]string{WatchEvents: "inotify", WatchPoll: "poll", WatchOff: "off"}

// String returns the name of w as UnmarshalText takes it.
func (w Watch) String() string {
	if w < 0 || int(w) >= len(watchNames) {
		return fmt.Sprintf("Watch(%d)", int(w))
	}
	return watchNames[w]
}

// MarshalText returns the name of w, for flag.TextVar.
func (w Watch) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText sets w by its name: inotify, poll or off.
func (w *Watch) UnmarshalText(text []byte) error {
	for i, name := range watchNames {
		if string(text) == name {
			*w = Watch(i)
			return nil
		}
	}
	return fmt.Errorf("watch mode %q: want inotify, poll or off", text)
}
