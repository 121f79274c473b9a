package site

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
)

// A site is made of trees: that of its root directory, those of its mounts, and
// those of its users. Mounts are checked at the start. Which users there are, and
// whether the directory of a tree is still the one that was opened, is asked once
// a second, since no event tells it; all else about a tree is told by the watcher.
//
//	every second → which trees → open the new ones → root → watcher → scan

// treesEvery is how often it is asked which trees there are.
const treesEvery = time.Second

// followTrees looks for trees that come, go or are exchanged, until ctx ends.
func (s *Site) followTrees(ctx context.Context) {
	if len(s.conf.Mounts) == 0 && s.users == nil {
		return
	}
	tick := time.NewTicker(treesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, err := stall.Do(s.guard, treesName, func() (struct{}, error) { s.lookTrees(); return struct{}{}, nil })
			if errors.Is(err, stall.ErrStopped) {
				return
			}
		}
	}
}

// treesName stands for the directories of all trees among what may not answer.
const treesName = "\x00trees"

// lookTrees opens the trees that are new or were exchanged, and leaves those that
// are gone. A mount that is gone stays: its old directory is served until there
// is another one, as with the root.
func (s *Site) lookTrees() {
	s.looking.Lock()
	defer s.looking.Unlock()
	old := s.served.Load().root.Trees
	next, fresh := make(map[string]*disk.Tree, len(old)), []string(nil)
	for name, dir := range s.conf.Mounts {
		next[name] = old[name]
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !os.SameFile(info, old[name].Info) {
			if t, err := disk.OpenTree(dir); err == nil {
				t.Listed, next[name] = true, t
				fresh = append(fresh, name)
			}
		}
	}
	if s.users != nil {
		fresh = append(fresh, s.users.trees(old, next)...)
		for _, d := range s.users.found {
			s.problems.once(d)
		}
	}
	if len(fresh) == 0 && len(next) == len(old) {
		return
	}
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(old)), func(name string) bool { return next[name] != nil })
	s.setTrees(next)
	for _, name := range append(fresh, gone...) {
		s.changes.touch(path.Dir(name))
		s.changes.touch(name)
		if old[name] != nil && next[name] != nil {
			s.watcher.Replaced(name)
		}
	}
	s.changes.touch(usersDir)
}

// setTrees makes trees those of the site.
func (s *Site) setTrees(trees map[string]*disk.Tree) {
	s.serve(func(now *served) {
		now.root = now.root.With(trees)
		if s.tapped != nil {
			s.tapped(now.root)
		}
	})
	watched := make(map[string]string, len(trees))
	for name, t := range trees {
		watched[name] = t.Dir
	}
	if err := s.watcher.SetTrees(watched); err != nil {
		s.log.Error("cannot watch all trees", "error", err)
	}
}
