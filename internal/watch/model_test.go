package watch

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/treetest"
)

// mirror is a copy of a tree, kept true by batches alone: it reads what a batch
// names, and never descends.
type mirror struct {
	root string
	read func(root, dir string) (map[string]string, bool) // of one directory
	mu   sync.Mutex
	dirs map[string]map[string]string // directory, name, type and content
	all  chan struct{}                // one for each Batch with All
	seen []Batch

	trees func() []string // names that are there though no directory lists them
}

func newMirror(root string) *mirror {
	return &mirror{root: root, read: readDir, dirs: make(map[string]map[string]string),
		all: make(chan struct{}, 10000)}
}

// watched reports whether a directory is watched, and no event has said that it is gone.
func (w *Watcher) watched(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dirs[dir]
	return d != nil && d.watched && !w.all && !w.left[dir]
}

func (m *mirror) changed(b Batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, b)
	if b.All && len(m.seen) == 1 {
		m.dirs = m.walk()
	} else if b.All {
		own := reachable(func(dir string) (map[string]string, bool) { return m.read(m.root, dir) })
		inTree := func(dir string, _ map[string]string) bool {
			return slices.ContainsFunc(m.others(), func(top string) bool {
				return dir == top || strings.HasPrefix(dir, top+"/")
			})
		}
		maps.DeleteFunc(own, inTree)
		maps.DeleteFunc(m.dirs, func(dir string, names map[string]string) bool {
			return !inTree(dir, names)
		})
		maps.Copy(m.dirs, own)
	}
	if b.All {
		m.all <- struct{}{}
	}
	for _, dir := range b.Dirs {
		m.reread(dir, b.Files[dir])
	}
}

// reread reads some files of a directory, or all: nil.
func (m *mirror) reread(dir string, files []string) {
	names, ok := m.read(m.root, dir)
	switch {
	case !ok:
		delete(m.dirs, dir)
	case files == nil:
		m.dirs[dir] = names
	default:
		known := maps.Clone(m.dirs[dir]) // those who look at the tree have the old one
		if known == nil {
			return
		}
		for _, f := range files {
			delete(known, f)
			if what, ok := names[f]; ok {
				known[f] = what
			}
		}
		m.dirs[dir] = known
	}
}

// tree returns what the mirror shows: directories that no parent names are not
// part of it.
func (m *mirror) tree() map[string]map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return reachable(func(dir string) (map[string]string, bool) {
		names, ok := m.dirs[dir]
		return names, ok
	}, m.others()...)
}

// batches returns all that came.
func (m *mirror) batches() []Batch {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

// walk is the fresh walk that the mirror is compared with.
func (m *mirror) walk() map[string]map[string]string {
	return reachable(func(dir string) (map[string]string, bool) {
		return m.read(m.root, dir)
	}, m.others()...)
}

func (m *mirror) others() []string {
	if m.trees == nil {
		return nil
	}
	return m.trees()
}

func (m *mirror) fresh() bool { return equal(m.tree(), m.walk()) }

func reachable(read func(string) (map[string]string, bool),
	more ...string) map[string]map[string]string {
	tree := make(map[string]map[string]string)
	for todo := append(more, "."); len(todo) > 0; {
		dir := todo[0]
		todo = todo[1:]
		names, ok := read(dir)
		if !ok {
			continue
		}
		tree[dir] = names
		for name, what := range names {
			if what == "dir" && name[0] != '.' {
				todo = append(todo, path.Join(dir, name))
			}
		}
	}
	return tree
}

func readDir(root, dir string) (map[string]string, bool) {
	list, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return nil, false
	}
	names := make(map[string]string)
	for _, e := range list {
		switch {
		case e.IsDir():
			names[e.Name()] = "dir"
		case e.Type()&fs.ModeSymlink != 0:
			names[e.Name()] = "link"
		default:
			data, err := os.ReadFile(filepath.Join(root, dir, e.Name()))
			names[e.Name()] = fmt.Sprintf("file %s %v", data, err != nil)
		}
	}
	return names, true
}

// steering is readDir, but of the files that polling compares it reads content.
func steering(root, dir string) (map[string]string, bool) {
	names, ok := readDir(root, dir)
	for name, what := range names {
		if !steers(name) && what != "dir" && what != "link" {
			names[name] = "file"
		}
	}
	return names, ok
}

func equal(a, b map[string]map[string]string) bool {
	return maps.EqualFunc(a, b, maps.Equal)
}

// run starts w, waits until it stands and ends it with the test. The kernel may take
// its time, unless w says otherwise.
func run(t testing.TB, w *Watcher, m *mirror) {
	t.Helper()
	if w.open == nil {
		w.open = patient
	}
	if w.quick == 0 && w.Method == Inotify {
		w.quick = -1 // it is about events
	}
	w.Changed = m.changed
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	select {
	case <-m.all:
	case <-time.After(2 * time.Minute):
		t.Fatal("no first batch")
	}
}

// patient is openKernel, and waits while others have all sources that a user may have.
func patient() (*eventSource, error) {
	for {
		if s, err := openKernel(); !limit.Reached(err) {
			return s, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// world does random things to a tree and to a place outside of it.
type world struct {
	*rand.Rand
	root, outside string
	n             int
}

func newWorld(tmp string, seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 0)),
		root: filepath.Join(tmp, "root"), outside: filepath.Join(tmp, "outside")}
	_ = os.MkdirAll(w.outside, 0o755)
	_ = os.MkdirAll(filepath.Join(w.root, "a", "b", "c"), 0o755)
	return w
}

// dir returns some directory of the tree, or else of the place outside.
func (w *world) dir() string {
	base := w.root
	if w.IntN(5) == 0 {
		base = w.outside
	}
	for w.IntN(4) > 0 {
		base = filepath.Join(base, w.name("abc"))
	}
	return base
}

func (w *world) name(letters string) string {
	return string(letters[w.IntN(len(letters))])
}

func (w *world) file() string {
	names := []string{"f", "g", ".robots", "gophermap", "a"}
	return filepath.Join(w.dir(), names[w.IntN(len(names))])
}

// step does one thing. Most things may fail: then nothing happens.
func (w *world) step() {
	w.n++
	switch w.IntN(13) {
	case 0, 1:
		_ = os.MkdirAll(w.dir(), 0o755)
	case 2, 3, 4:
		_ = os.WriteFile(w.file(), fmt.Append(nil, w.n), 0o644)
	case 5:
		tmp := filepath.Join(w.outside, "tmp")
		_ = os.WriteFile(tmp, fmt.Append(nil, w.n), 0o644)
		_ = os.Rename(tmp, w.file())
	case 6:
		_ = os.Remove(w.file())
	case 7:
		if dir := w.dir(); dir != w.root && dir != w.outside {
			_ = os.RemoveAll(dir)
		}
	case 8, 9:
		if dir := w.dir(); dir != w.root && dir != w.outside {
			_ = os.Rename(dir, w.dir())
		}
	case 10:
		_ = os.Symlink(w.dir(), w.file())
	case 11:
		w.checkout()
	case 12:
		w.grow()
	}
}

// checkout removes and makes again, as git does between branches.
func (w *world) checkout() {
	dir := w.dir()
	for range 10 {
		name := filepath.Join(dir, w.name("abc"), w.name("abc"))
		if w.IntN(2) == 0 {
			_ = os.RemoveAll(name)
			_ = os.Remove(filepath.Dir(name))
		} else {
			_ = os.MkdirAll(name, 0o755)
			_ = os.WriteFile(filepath.Join(name, "f"), fmt.Append(nil, w.n), 0o644)
		}
	}
}

// grow makes a subtree outside, full of files, and moves it in.
func (w *world) grow() {
	tmp := filepath.Join(w.outside, "new")
	_ = os.RemoveAll(tmp)
	for _, dir := range []string{"a/b/c", "b", "c/a"} {
		_ = os.MkdirAll(filepath.Join(tmp, dir), 0o755)
		_ = os.WriteFile(filepath.Join(tmp, dir, "f"), fmt.Append(nil, w.n), 0o644)
	}
	_ = os.Rename(tmp, w.dir())
}

// exchange puts another root in place of the root, as a deployment does.
func (w *world) exchange() {
	old, fresh := filepath.Join(w.outside, "old"), filepath.Join(w.outside, "fresh")
	_ = os.RemoveAll(old)
	_ = os.MkdirAll(filepath.Join(fresh, "a", "b"), 0o755)
	_ = os.WriteFile(filepath.Join(fresh, "a", "b", "f"), fmt.Append(nil, w.n), 0o644)
	_ = os.Rename(w.root, old)
	_ = os.Rename(fresh, w.root)
}

// model changes a tree at random while w watches it, and checks that a mirror
// made of batches becomes equal to the tree.
func model(t *testing.T, w *Watcher, rounds int,
	read func(string, string) (map[string]string, bool), seeds ...uint64) {
	t.Helper()
	seed := rand.Uint64()
	if len(seeds) > 0 {
		seed = seeds[0]
	}
	world := newWorld(t.TempDir(), seed)
	w.Root = world.root
	m := newMirror(world.root)
	m.read = read
	run(t, w, m)
	for round := range rounds {
		world.burst()
		treetest.Until(t, fmt.Sprintf("seed %d, round %d: mirror equal to the tree", seed,
			round), m.fresh)
	}
}

// burst does many things, some so slowly that events are read between them.
func (w *world) burst() {
	for range 1 + w.IntN(40) {
		w.step()
		if w.IntN(8) == 0 {
			time.Sleep(time.Duration(w.IntN(3000)) * time.Microsecond)
		}
	}
	if w.IntN(10) == 0 {
		w.exchange()
	}
}

func TestModelInotify(t *testing.T) {
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			model(t, &Watcher{Poll: -1}, 12, readDir)
		})
	}
}

func TestModelPoll(t *testing.T) {
	t.Parallel()
	model(t, &Watcher{Method: PollOnly, Poll: -1, quick: time.Millisecond}, 20, steering)
}

// TestModelPollOfOld is TestModelPoll with a world in which a round that was late kept a
// directory that was gone.
func TestModelPollOfOld(t *testing.T) {
	t.Parallel()
	model(t, &Watcher{Method: PollOnly, Poll: -1, quick: time.Millisecond}, 20, steering,
		3734689567800353783)
}

// TestModelOverflow loses events at random: an error is all that comes instead.
func TestModelOverflow(t *testing.T) {
	t.Parallel()
	model(t, &Watcher{Poll: -1, open: leaky}, 12, readDir)
}

// TestModelLimit lets the kernel refuse a watch somewhere in the middle: from
// there on changes are polled for.
func TestModelLimit(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	left.Store(20)
	open := func() (*eventSource, error) {
		s, err := patient()
		if err != nil {
			return nil, err
		}
		add := s.add
		s.add = func(name string) error {
			if left.Add(-1) < 0 {
				return syscall.ENOSPC
			}
			return add(name)
		}
		return s, nil
	}
	model(t, &Watcher{Poll: -1, quick: 20 * time.Millisecond, open: open}, 12, steering)
	if left.Load() >= 0 {
		t.Error("the limit was never met")
	}
}

// leaky returns the kernel as a source that now and then tells of an overflow
// instead of a run of events.
func leaky() (*eventSource, error) {
	s, err := patient()
	if err != nil {
		return nil, err
	}
	events, errs := make(chan fsnotify.Event), make(chan error)
	done := make(chan struct{})
	from, stop := s.events, s.close
	s.events, s.errors = events, errs
	s.close = func() error { close(done); return stop() }
	go func() {
		defer close(events)
		for e := range from {
			if rand.IntN(20) > 0 {
				select {
				case events <- e:
				case <-done:
				}
				continue
			}
			for range rand.IntN(30) {
				select {
				case <-from:
				case <-time.After(5 * time.Millisecond):
				}
			}
			select {
			case errs <- fsnotify.ErrEventOverflow:
			case <-done:
			}
		}
	}()
	return s, nil
}
