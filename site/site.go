// Package site gives access to a content tree: a directory that is served, and the robots.txt
// that is compiled from the .robots files in it. No name or link leads out of the directory.
//
//	tree, err := site.Open("content", site.Config{})
//	if err != nil {
//		return err
//	}
//	go tree.Run(ctx)
//	snap, err := tree.Snapshot(ctx) // waits for the first scan
//	if err != nil {
//		return err
//	}
//	os.Stdout.Write(snap.Robots)
//
// A [View] opens files and lists directories for one request. It reads the file system each
// time, and records what it reads, so that a reply can be cached until a file changes ([Stamp]).
//
// A [Snapshot] holds the policy. Run replaces it after a change:
//
//	file system event → changed directories → rescan → compile → prove → swap
//
// The package contains no protocol; package answer resolves selectors with it.
package site

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/internal/watch"
	"github.com/gophd/gophd/policy"
)

// A Config configures a Site. The zero value is ready to use.
type Config struct {
	// Watch is the method of noticing changes.
	Watch Watch

	// Poll is the interval at which everything is read again, in addition to Watch. If
	// zero, 5 min.
	Poll time.Duration

	// PollRemote is the interval at which annotations on remote file systems are checked,
	// since no event reports changes there. If zero, 15 s; if negative, never.
	PollRemote time.Duration

	// Mounts are other directories to serve, by their names below the root:
	// {"pub": "/srv/mirror"} serves /srv/mirror as /pub/. A mount hides a file or
	// directory of the same name in the root.
	Mounts map[string]string

	// Users is the pattern of users' directories: an absolute path in which one element is
	// "*", the user's name. With "/home/*/public_gopher", /~ann/ serves
	// /home/ann/public_gopher. The home must belong to the owner of that directory or to
	// root. Only files of that owner and of root are served. New and removed users are
	// noticed within a second. If empty, users have no directories.
	Users string

	// Capsules is the pattern of users' directories for Gemini and Spartan, such as
	// "/home/*/public_gemini", in the same homes as Users. Those fronts then see a user's
	// capsule instead of the directory of Users, if there is one. The one robots.txt
	// denies what the annotations of either directory deny. If empty, there are none.
	Capsules string

	// UsersMinUID is the lowest user id of an account that counts as a user. If zero,
	// 1000.
	UsersMinUID int

	// Programs are the selectors of programs ("/cgi-bin"), or suffixes of programs
	// ("/*.dcgi"). robots.txt denies them unless the root's annotation allows them by
	// name. For the syntax see [policy.CheckProgram]; Open checks it.
	Programs []string

	// Runs reports whether the server runs a program of the tree that prints a menu or a
	// part of one. robots.txt denies such menus as it denies Programs. If nil, no
	// program is run.
	Runs func(name string) bool

	// Endless are selectors with an unlimited number of replies, such as "/search".
	// robots.txt denies them as it denies Programs. A file or directory of the same name
	// takes precedence.
	Endless []string

	// Sitemaps are the URLs of sitemaps for robots.txt.
	Sitemaps []string

	// SitemapsAs are the same URLs, in the same order, for other names of the site (see
	// [Snapshot.RobotsAs]).
	SitemapsAs map[string][]string

	// Files records all files in Snapshot.Tree, with types, sizes and times. View.Files
	// and Snapshot.Changes need it; the policy does not.
	Files bool

	// FileTimeout is how long opening or reading a file may take before the file counts as
	// unresponsive. It is then not opened again until the pending call returns, and
	// robots.txt denies it. If zero, 10 s.
	FileTimeout time.Duration

	// Log records each reload and each problem in the tree. If nil, nothing is logged.
	Log *slog.Logger

	// Reloaded, if not nil, is called after each reload. Calls never overlap.
	Reloaded func(Reload)
}

// A Reload describes a reload: reading the changed directories, or everything.
type Reload struct {
	Start       time.Time
	Took        time.Duration
	Everything  bool // the whole tree of the root was read
	Directories int  // the number of directories read; 0 if Everything

	// Err reports that the tree could not be read, so that the old Snapshot stays; or that
	// the new robots.txt could not be proven, so that one is served that denies everything.
	Err error
}

// A Site is one content tree. Its methods may be called concurrently.
type Site struct {
	dir     string
	conf    Config
	log     *slog.Logger
	watcher *watch.Watcher // nil for FS
	guard   *stall.Guard
	opened  time.Time

	served atomic.Pointer[served]
	ready  chan struct{} // closed with the first snapshot

	scanned atomic.Int64 // see Scanned

	wanted chan struct{} // closed when a caller waits for the first snapshot
	want   sync.Once

	events atomic.Uint64 // counts file system events

	mu       sync.Mutex // serializes reloads
	scan     *scanner   // of the last snapshot
	problems problems
	tidy     *time.Timer // returns memory to the system
	again    bool        // lookAgain has scheduled a reload
	slow     int         // reloads in a row in which a directory did not respond yet

	users    *users      // of Config.Users, or nil
	capsules *users      // of Config.Capsules, or nil
	serving  sync.Mutex  // serializes changes of served
	found    fs.FileInfo // of the root's path at the last check; nil if there was nothing. Guarded by serving
}

// served holds the trees that requests see and the policy compiled from them. Both are
// replaced in one step, so that no client gets robots.txt of one tree and texts of another.
type served struct {
	root     *disk.Root
	capsules *disk.Root     // as Gemini and Spartan see it; nil if the same
	snap     *Snapshot      // nil before the first scan
	numbers  [scopes]uint64 // version of each scope: a Stamp is valid for one version
}

// changed invalidates cached replies that depend on a scope.
func (s *served) changed(of scope) {
	for ; of < scopes; of++ {
		s.numbers[of]++
	}
}

// serve calls change with a copy of served, and publishes the copy.
func (s *Site) serve(change func(*served)) {
	s.serving.Lock()
	defer s.serving.Unlock()
	old := s.served.Load()
	next := *old
	if change(&next); s.capsules != nil && next.root != old.root {
		trees := maps.Clone(next.root.Trees)
		maps.Copy(trees, capsuleTrees(next.root))
		next.capsules = next.root.With(trees)
	}
	s.served.Store(&next)
}

// A Snapshot is an immutable record of the tree and its policy.
type Snapshot struct {
	Tree     *Dir
	Compiled *policy.Compiled
	Reports  []policy.Report // about the policy and names in the tree, the worst first
	Robots   []byte          // robots.txt

	robotsAs map[string][]byte // robots.txt for the names of Config.SitemapsAs

	included map[string]bool   // real names of files that maps include or link; true if an interpreter runs the file
	programs []diag.Diagnostic // about programs that other servers would run
	menus    []string          // selectors of menus that programs print
	shown    []shown           // files whose text menus contain
	shows    map[string]bool   // names of menus that contain the text of a denied file

	changed map[string]time.Time // time of the last change, by user's tree

	homes    *Snapshot // records of the trees of Config.Capsules alone, or nil
	capsules *Snapshot // the Snapshot that Gemini and Spartan see; nil if the same

	leak    error           // the error of the proof, if Robots denies everything
	aliases map[string]link // by name; see links.go
	refused map[string]bool // links that are not followed
}

// Snapshot returns the current Snapshot. It waits for the first one until ctx ends.
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

// Ready waits up to max for the first Snapshot, and reports whether there is one.
func (s *Site) Ready(ctx context.Context, max time.Duration) bool {
	if s.Now() != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, max)
	defer cancel()
	_, err := s.Snapshot(ctx)
	return err == nil
}

// Scanned returns the number of directory reads so far.
func (s *Site) Scanned() int64 { return s.scanned.Load() }

// Closed calls [policy.Compiled.Closed] of the current Snapshot. Before the first Snapshot,
// every spelling but the canonical one is closed.
func (s *Site) Closed(canonical, spelling string) bool {
	var c *policy.Compiled
	if snap := s.Now(); snap != nil {
		c = snap.Compiled
	}
	return c.Closed(canonical, spelling)
}

// Now returns the current Snapshot, or nil before the first.
func (s *Site) Now() *Snapshot { return s.served.Load().snap }

// Watch is a method of noticing changes.
type Watch int

// The methods.
const (
	WatchEvents Watch = iota // inotify; polling where the kernel refuses watches
	WatchPoll                // polling
	WatchOff                 // none: the tree is read at the start and by Reload
)

var watchNames = [...]string{
	WatchEvents: "inotify",
	WatchPoll:   "poll",
	WatchOff:    "off",
}

// String returns the name of w: inotify, poll or off.
func (w Watch) String() string {
	if w < 0 || int(w) >= len(watchNames) {
		return fmt.Sprintf("Watch(%d)", int(w))
	}
	return watchNames[w]
}

// MarshalText returns the name of w, for flag.TextVar.
func (w Watch) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText sets w from its name.
func (w *Watch) UnmarshalText(text []byte) error {
	for i, name := range watchNames {
		if string(text) == name {
			*w = Watch(i)
			return nil
		}
	}
	return fmt.Errorf("watch mode %q: want inotify, poll or off", text)
}
