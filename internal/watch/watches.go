package watch

// A directory is watched before it is read, parents before children. So every
// change is either seen by the reading or tells an event.
//
// The kernel watches inodes, the source names them by the path they were added
// with. While an inode keeps its path that is right. After a rename the inodes
// below go on under their old names, and adding them under the new ones has no
// effect: as soon as a name that was ever added is renamed, these watches are
// not to be trusted, and all are made anew. To know it, a name stays known
// after its directory is gone.
//
// A removed directory takes its watch with it, and one that is put in its place
// is added under the same name: no harm. Between adding a directory and reading
// it a directory can be made in it and be found twice, by the reading and by
// its event: adding an inode twice under one name changes nothing.

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
)

// watches are the watches on all directories of a tree, until they are lost.
type watches struct {
	src     *source
	root    string // absolute
	guard   *stall.Guard
	pending *pending
	touch   func(string)
	ended   chan struct{} // closed when read has returned

	mu    sync.RWMutex
	known map[string]state // every name ever added
	live  int              // how many of known are watched
	lost  bool             // nothing is sure any more

	adding, looking atomic.Bool // it may be that the kernel does not answer
}

// state is what is known of a directory.
type state struct {
	watched bool
	mode    fs.FileMode // when it was read
}

// watched reports whether dir is surely watched. It is false for nil.
func (g *watches) watched(dir string) bool {
	if g == nil {
		return false
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.known[dir].watched && !g.lost
}

// state returns the state of name, false if it was never added.
func (g *watches) state(name string) (state, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	s, ok := g.known[name]
	return s, ok
}

// set notes the state of name.
func (g *watches) set(name string, s state) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known[name].watched {
		g.live--
	}
	if s.watched {
		g.live++
	}
	g.known[name] = s
}

// crowded reports whether most of the known names are of the past.
func (g *watches) crowded() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return len(g.known) > 2*g.live+1000
}

// lose declares the watches useless.
func (g *watches) lose(root bool) {
	g.mu.Lock()
	g.lost = true
	g.mu.Unlock()
	g.touch("")
	g.pending.lose(root)
}

// close ends the watches. Events not read yet are lost. It does nothing on nil.
func (g *watches) close() {
	if g == nil {
		return
	}
	if g.adding.Load() || g.looking.Load() {
		go func() { _ = g.src.close() }() // it waits, too
	} else {
		_ = g.src.close()
		<-g.ended
	}
	g.lose(false)
}

// add watches all directories from dir down and adds their names to found. The
// error, if any, is a refusal; a directory that cannot be watched is no error,
// for whoever reads the tree will meet it.
func (g *watches) add(dir string, found map[string]bool) error {
	for {
		names, err := stall.Try(g.guard, func(a *stall.Attempt) ([]string, error) { return g.addAll(a, dir) })
		for _, name := range names {
			found[name] = true
		}
		if !errors.Is(err, stall.ErrLeft) || g.adding.Load() {
			return err
		}
	}
}

// addAll watches a directory and all below it, and returns their names.
func (g *watches) addAll(a *stall.Attempt, dir string) (names []string, err error) {
	for todo := []string{dir}; len(todo) > 0; {
		dir, todo = todo[len(todo)-1], todo[:len(todo)-1]
		names = append(names, dir)
		subs, err := g.addOne(a, dir)
		if refused(err) || limit.Reached(err) || errors.Is(err, stall.ErrLeft) {
			return names, err // what is below is not known
		}
		todo = append(todo, subs...)
	}
	return names, nil
}

// addOne watches a directory and returns those in it.
func (g *watches) addOne(a *stall.Attempt, dir string) (subs []string, err error) {
	op, err := a.Enter(dir)
	if errors.Is(err, stall.ErrLeft) {
		return nil, err
	}
	g.set(dir, state{}) // known before it is watched: its first event may be at once
	if err != nil {
		return nil, err
	}
	defer op.Leave()
	name := below(g.root, dir)
	if _, err := os.Lstat(name); err != nil { // if it does not answer, this waits, and not the source
		return nil, err
	}
	g.doubtfully(&g.adding, func() { err = g.src.add(name) })
	if err != nil {
		return nil, err
	}
	g.set(dir, state{watched: true})
	info, err := list(name, func(e fs.DirEntry) {
		if descend(e) {
			subs = append(subs, child(dir, e.Name()))
		}
	})
	if err == nil {
		g.readable(dir, info.Mode())
	}
	return subs, err
}

// promptly is how soon the source is to have taken a directory. It tells no
// event until it has.
const promptly = 200 * time.Millisecond

// doubtfully does something that may keep events from being told. If it does
// not end soon the watches are useless.
func (g *watches) doubtfully(doing *atomic.Bool, f func()) {
	late := time.AfterFunc(promptly, func() { g.lose(false) })
	defer late.Stop()
	doing.Store(true)
	defer doing.Store(false)
	f()
}

// readable notes that dir could be read, unless it went in the meantime.
func (g *watches) readable(dir string, mode fs.FileMode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.known[dir]; s.watched {
		g.known[dir] = state{watched: true, mode: mode}
	}
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
			if name, ok := g.path(e.Name); ok {
				g.event(name, e)
			}
		case _, ok := <-g.src.errors:
			if !ok {
				return
			}
			g.lose(false) // an overflow: what is missing nobody knows
		}
	}
}

// path returns the slash path of an event's name, false if it is not below the
// root: the root's parent is watched too.
func (g *watches) path(name string) (string, bool) {
	rel, err := filepath.Rel(g.root, name)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// event acts on one event.
func (g *watches) event(name string, e fsnotify.Event) {
	s, known := g.state(name)
	switch {
	case name == "." && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename):
		g.lose(true)
		return
	case known && e.Has(fsnotify.Rename):
		g.lose(false)
		return
	case known && e.Has(fsnotify.Create|fsnotify.Remove):
		g.set(name, state{}) // until it is added again
		g.changed(name)
	case known:
		g.attributes(name, s)
	}
	g.changed(path.Dir(name))
	if e.Has(fsnotify.Create) && !hidden(path.Base(name)) {
		g.pending.arrival(name)
	}
}

// attributes acts on a change of owner, times or mode of a directory. If it
// opened or closed, so did everything below; new times alone are of no
// interest, and rsync sets those of every directory.
func (g *watches) attributes(name string, s state) {
	g.changed(name)
	var info fs.FileInfo
	var err error
	g.doubtfully(&g.looking, func() { info, err = os.Lstat(below(g.root, name)) })
	if err == nil && s.watched && s.mode == info.Mode() {
		return
	}
	g.touch("")
	g.pending.arrival(name)
}

func (g *watches) changed(dir string) {
	g.touch(dir)
	g.pending.dir(dir)
}
