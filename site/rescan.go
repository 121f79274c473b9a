package site

import (
	"hash/maphash"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// rescan reads the given real directories of a tree again and returns the new
// tree. Directories that are not read again, or have not changed, are shared with the
// old tree; if nothing has changed, rescan returns the old tree.
func (s *scanner) rescan(tree *Dir, dirs []string) *Dir {
	changed := make(map[string]bool, len(dirs))
	again := map[place]bool{}
	for _, dir := range dirs {
		changed[dir] = true
		again[place{dir, dir}] = true
		for name, real := range s.placed {
			if rest, in := below(dir, real); in {
				again[place{path.Join(name, rest), dir}] = true
			}
		}
	}
	for dir, l := range s.links {
		if slices.ContainsFunc(l.via, func(d string) bool { return changed[d] }) {
			again[s.placeOf(dir)] = true
		}
	}

	// A directory that its parent has just read for the first time is not read again.
	before := tree
	for _, p := range slices.SortedFunc(maps.Keys(again), func(a, b place) int { return strings.Compare(a.name, b.name) }) {
		old := tree.find(p.name)
		if old == nil || old != before.find(p.name) {
			continue
		}
		if d, _ := s.dir(p, old); d != old {
			tree = tree.with(p.name, d)
		}
	}
	return s.findAliases(tree)
}

// placeOf returns where a directory of the tree is.
func (s *scanner) placeOf(name string) place {
	for placed, real := range s.placed {
		if rest, in := below(name, placed); in {
			return place{name, path.Join(real, rest)}
		}
	}
	return place{name, name}
}

// below returns the way from a directory down to d.
func below(d, top string) (string, bool) {
	switch {
	case d == top:
		return ".", true
	case top == ".":
		return d, true
	}
	return strings.CutPrefix(d, top+"/")
}

// An event makes replies from its directory stale at once; [Stamp] also notices changes
// without events.
//
// Each touch gets a number. A View records the number before it reads anything, and a
// reply made through it is fresh as long as none of its directories has a higher one.
// The numbers are in a small table by hash: a collision only makes a fresh reply stale.

// touches are the numbers of the last touches.
type touches struct {
	seed maphash.Seed

	mu      sync.Mutex // one touch at a time
	seq     atomic.Uint64
	all     atomic.Uint64 // of the last touch of everything
	touched [1 << 12]atomic.Uint64
}

func newChanges() *touches { return &touches{seed: maphash.MakeSeed()} }

func (c *touches) slot(dir string) uint16 {
	return uint16(maphash.String(c.seed, dir) % uint64(len(c.touched)))
}

// touch notes that something changed in a directory; "" is every directory. The
// new number is known last: a goroutine that sees it finds it in the table.
func (c *touches) touch(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.seq.Load() + 1
	if dir == "" {
		c.all.Store(n)
	} else {
		c.touched[c.slot(dir)].Store(n)
	}
	c.seq.Store(n)
}

// during runs do. No reply is fresh while do runs; afterwards, only those are fresh
// whose View began after do had returned.
func (c *touches) during(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.seq.Load() + 1
	c.all.Store(math.MaxUint64)
	c.seq.Store(n)
	do()
	c.all.Store(n + 1)
	c.seq.Store(n + 1)
}

// policyDir stands for the policy among the directories.
const policyDir = "\x00policy"

// modesOf stands for the modes of the files in a directory.
func modesOf(dir string) string { return "\x00modes/" + dir }

// usersDir stands for the set of users among the directories.
const usersDir = "\x00users"
