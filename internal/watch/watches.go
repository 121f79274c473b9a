package watch

// A directory is watched before it is read, parents before children. So the reading
// sees every change, or the kernel sends an event for it.
//
// The kernel watches inodes; the source names them by the path that they were
// added with. While an inode keeps its path that is right. When a directory was
// renamed, the watches on it and on all below it are taken away, and it is added
// again under its new name, if that is in a tree. A walk may meet a directory
// under its new name before the event of the rename was read: so each watched
// inode has one name, and to add it under another one takes the watch of the old
// name away first. Of a directory that really has two names (a bind mount) events are
// reported under the last one.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// watches are the watches on all directories of the trees, until they are lost.
type watches struct {
	src     *eventSource
	named   atomic.Pointer[names]
	guard   *stall.Guard
	pending *pending
	budget  *budget
	log     *slog.Logger
	touch   func(string)
	modes   func(string) // may be nil
	every   func(time.Duration) time.Duration
	ended   chan struct{} // closed when read has returned

	// watching is held while a directory is watched or forgotten, so that forget never
	// removes the watch of a newer directory.
	watching sync.Mutex

	mu    sync.RWMutex
	nodes nodes
	lost  bool // the watches are unreliable

	adding atomic.Bool // it may be that the kernel does not answer
}

func (g *watches) names() *names         { return g.named.Load() }
func (g *watches) setNames(names *names) { g.named.Store(names) }

// watched reports whether dir is watched. It is false for nil.
func (g *watches) watched(dir string) bool {
	if g == nil {
		return false
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.nodes.find(dir)
	return n != nil && n.watched && !g.lost
}

// known returns the state of a directory, false if it was never added.
func (g *watches) known(name string) (dirState, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.nodes.find(name)
	if n == nil {
		return dirState{}, false
	}
	return n.dirState, true
}

func (g *watches) set(name string, s dirState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nodes.set(name, s)
}

// forget removes the watches on a directory and all below it, and returns how many names
// it has removed.
func (g *watches) forget(name string) int {
	g.watching.Lock()
	defer g.watching.Unlock()
	g.mu.Lock()
	gone := g.nodes.remove(name)
	g.mu.Unlock()
	for _, name := range gone {
		file := g.names().file(name)
		if !g.otherwiseKnown(file) {
			g.src.remove(file)
		}
		g.touch(name)
	}
	return len(gone)
}

// otherwiseKnown reports whether a file is known under some name: one directory
// may be two trees.
func (g *watches) otherwiseKnown(file string) bool {
	if len(g.names().dirs) == 0 {
		return false
	}
	for _, name := range g.names().of(file) {
		if _, known := g.known(name); known {
			return true
		}
	}
	return false
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
	if g.adding.Load() {
		go func() { _ = g.src.close() }() // it waits, too
	} else {
		_ = g.src.close()
		<-g.ended
	}
	g.lose(false)
}

// add watches all directories from dir down and adds their names to found. The
// error, if any, is a refusal; a directory that cannot be watched is no error,
// for the scan will meet it.
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
	todo := []string{dir}
	for name := range g.names().trees {
		if within(name, dir) && name != dir {
			todo = append(todo, name)
		}
	}
	for len(todo) > 0 {
		dir, todo = todo[len(todo)-1], todo[:len(todo)-1]
		names = append(names, dir)
		if g.budget.ignores(dir) {
			continue
		}
		subs, err := g.addOne(a, dir)
		switch {
		case refused(err):
			if err := g.give(err); err != nil {
				return names, err // the directories below are unknown
			}
			todo = append(todo, dir) // others have given up theirs
			names = names[:len(names)-1]
		case limit.Reached(err), errors.Is(err, stall.ErrLeft):
			return names, err
		}
		todo = append(todo, subs...)
	}
	return names, nil
}

// give gives up the watches of the top-level directory that has most of them,
// after the kernel has refused another one. If there is none it returns err.
func (g *watches) give(err error) error {
	g.mu.RLock()
	most := g.nodes.largest()
	g.mu.RUnlock()
	if most == "" {
		return err
	}
	g.ignore(most, aLongWhile, "the kernel watches no more directories, and this one has the most", hint(err))
	return nil
}

// ignore stops the watching of a top-level directory for a time.
func (g *watches) ignore(top string, d time.Duration, why, hint string) {
	first := g.budget.ignore(top, d)
	g.forget(top)
	g.touch(path.Dir(top))
	if first {
		g.log.Warn("a directory is not watched, changes in it show later", "directory", top, "why", why,
			"hint", cmp.Or(hint, "no other directory is affected; it is watched again when it changes less"))
	}
}

var errSwapped = errors.New("the directory was replaced meanwhile")

// addOne watches a directory and returns those in it.
func (g *watches) addOne(a *stall.Attempt, dir string) (subs []string, err error) {
	call := disk.Within(a).Named(dir)
	g.set(dir, dirState{}) // known before it is watched: its first event may be at once
	if err := g.watch(call, dir); err != nil {
		return nil, err
	}
	file := g.names().file(dir)
	info, err := call.Stat(file)
	if err == nil {
		err = call.Each(file, func(e fs.DirEntry) {
			if descend(e) {
				subs = append(subs, selector.Join(dir, e.Name()))
			}
		})
	}
	if err == nil {
		g.readable(dir, info.Mode())
	}
	return subs, err
}

// watch asks the source for events of a directory, and notes which it is.
func (g *watches) watch(call disk.Caller, dir string) error {
	file := g.names().file(dir)
	stat := call.Lstat
	if g.names().isTree(dir) {
		stat = call.Stat
	}
	for range 3 {
		info, err := stat(file) // if it does not answer, this waits, and not the source
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a directory", dir)
		}
		id := inodeOf(info)
		g.rename(call, id, dir, file)
		if err := call(dir, func() error { return g.watchAs(dir, file, id) }); err != nil {
			return err
		}
		if again, err := stat(file); err == nil && inodeOf(again) == id {
			return nil
		}
		g.set(dir, dirState{})
	}
	g.pending.arrival(dir)
	return errSwapped
}

// watchAs watches a file, which was this inode a moment ago, under the name dir.
func (g *watches) watchAs(dir, file string, id inode) error {
	g.watching.Lock()
	defer g.watching.Unlock()
	g.adding.Store(true)
	defer g.adding.Store(false)
	err := g.src.add(file)
	if err == nil {
		g.set(dir, dirState{id: id, watched: true})
	}
	return err
}

// rename takes the watch of an inode away from another name that it had.
func (g *watches) rename(call disk.Caller, id inode, dir, file string) {
	g.mu.RLock()
	other, name := g.nodes.byID[id], ""
	if other != nil && id != (inode{}) {
		name = other.name()
	}
	g.mu.RUnlock()
	if name == "" || name == dir || g.names().file(name) == file {
		return
	}
	info, err := call.Stat(g.names().file(name))
	g.forget(name)
	g.changed(path.Dir(name))
	if err != nil || inodeOf(info) != id { // else it has two names: rounds look at the other one
		g.pending.arrival(name)
	}
}

// readable notes that dir could be read, unless it went in the meantime.
func (g *watches) readable(dir string, mode fs.FileMode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes.find(dir); n != nil && n.watched {
		n.mode = mode
	}
}
