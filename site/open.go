package site

import (
	"context"
	"errors"
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
	"github.com/gophd/gophd/internal/watch"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// Open opens a content tree. It reads nothing; Run does.
func Open(dir string, conf Config) (*Site, error) {
	for _, p := range conf.Programs {
		if err := policy.CheckProgram(p); err != nil {
			return nil, err
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := newSite(conf)
	s.dir = abs
	r, err := disk.Guarded(s.guard).OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	s.watcher = &watch.Watcher{
		Root:       abs,
		Method:     watch.Method(conf.Watch),
		Poll:       conf.Poll,
		PollRemote: conf.PollRemote,
		Log:        s.log,
		Guard:      s.guard,
		Changed:    func(b watch.Batch) { _ = s.reload(b) },
		Touch:      func() { s.events.Add(1) },
	}
	s.served.Store(&served{root: r})
	s.found = r.Main.Info
	if err := s.openTrees(r); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func newSite(conf Config) *Site {
	s := &Site{
		conf:   conf,
		log:    conf.Log,
		opened: time.Now(),
		ready:  make(chan struct{}),
		wanted: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.problems.log = s.log
	s.guard = &stall.Guard{
		Timeout: conf.FileTimeout,
		Log:     s.log,
		Changed: s.Reload,
	}
	return s
}

// FS returns a Site for a file system that does not change, such as an embedded one or a zip
// file. (The links of an [os.DirFS] are followed wherever they lead.) Run reads it once. Of
// conf, only Programs, Endless, Sitemaps, SitemapsAs, Log and Reloaded are used. A file that
// is no io.ReaderAt is read into memory each time it is opened, up to 64 MiB.
func FS(fsys fs.FS, conf Config) *Site {
	conf.Files = true
	conf.Runs = nil
	s := newSite(conf)
	s.served.Store(&served{root: disk.FS(fsys)})
	return s
}

// Close releases the resources of Open. Run must have ended.
func (s *Site) Close() {
	if root := s.served.Load().root; root != nil {
		root.Close()
	}
}

// openTrees opens all trees besides the root's.
func (s *Site) openTrees(r *disk.Root) (err error) {
	if s.conf.Users != "" {
		if s.users, err = parseUsers(s.conf.Users, s.conf.UsersMinUID); err != nil {
			return err
		}
		if s.conf.Capsules != "" {
			if s.capsules, err = parseUsers(s.conf.Capsules, s.conf.UsersMinUID); err != nil {
				return err
			}
			s.capsules.before = behindDot
		}
	}
	if err := s.checkMounts(r.Main.Dir); err != nil {
		return err
	}
	found, err := s.findTrees(r, stall.Hurried)
	if err != nil {
		return err
	}
	s.setTrees(found.trees)
	for _, name := range slices.Sorted(maps.Keys(found.failed)) {
		err := found.failed[name]
		if !errors.Is(err, stall.Err) {
			return fmt.Errorf("mounting at %q: %w", name, err)
		}
		s.log.Warn("a mount does not answer: it is served once it does", "name", name, "error",
			err)
	}
	return nil
}

// checkMounts returns an error if no client could ask for a mount.
func (s *Site) checkMounts(root string) error {
	call := disk.Guarded(s.guard)
	for _, name := range slices.Sorted(maps.Keys(s.conf.Mounts)) {
		if !fs.ValidPath(name) || name == "." || !selector.AskableName(name) {
			return fmt.Errorf("mounting at %q: no client can ask for that name", name)
		}
		parent := path.Dir(name)
		info, err := call.Stat(filepath.Join(root, parent))
		if !errors.Is(err, stall.Err) && (err != nil || !info.IsDir()) {
			return fmt.Errorf("mounting at %q: there is no directory %s in %s", name, parent, root)
		}
	}
	return nil
}

// Read starts Run and waits for the first Snapshot. Unlike Run, it fails if the tree cannot
// be read. The site runs until ctx ends or stop is called; stop waits for the end of Run and
// returns its error.
func (s *Site) Read(ctx context.Context) (snap *Snapshot, stop func() error, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	told := s.conf.Reloaded
	s.conf.Reloaded = func(r Reload) {
		if told != nil {
			told(r)
		}
		if s.Now() == nil {
			cancel(r.Err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		err := s.Run(ctx)
		cancel(err)
		ended <- err
	}()
	stop = sync.OnceValue(func() error { cancel(nil); return <-ended })
	if snap, err = s.Snapshot(ctx); err != nil {
		_ = stop()
		return nil, nil, err
	}
	return snap, stop, nil
}

// Load reads a tree once and compiles its policy, as Run would publish it.
func Load(dir string) (*Snapshot, error) {
	return LoadAt(dir, ".", new(atomic.Int64))
}

// LoadAt is Load for a directory that a site serves at the name at, such as "~ann". The
// Snapshot is that of a site without other content. LoadAt adds the number of directories
// that it reads to the counter read.
func LoadAt(dir, at string, read *atomic.Int64) (*Snapshot, error) {
	if !fs.ValidPath(at) {
		return nil, fmt.Errorf("%q is no name below a root", at)
	}
	r, err := disk.Caller(disk.Direct).OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	scan := newScanner(r, Config{Files: true}, read)
	tree, err := scan.tree()
	if err != nil {
		return nil, err
	}
	if at != "." {
		for _, d := range tree.All() {
			for _, a := range d.Notes {
				a.Dir = "/" + at + a.Dir
			}
		}
		aliases := scan.aliases
		scan.aliases = map[string]link{}
		for name, l := range aliases {
			l.real = path.Join(at, l.real)
			scan.aliases[path.Join(at, name)] = l
		}
	}
	for at != "." {
		top := *tree
		top.Name, tree = path.Base(at), &top
		at = path.Dir(at)
		tree = &Dir{Dirs: []*Dir{tree}}
	}
	snap := scan.recorded(tree, &Snapshot{})
	snap.compile(Config{}, scan)
	return snap, nil
}
