package site

import (
	"hash/maphash"
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
	var m marks
	for _, d := range dirs {
		m.add(d)
	}
	changed := make(map[string]bool, len(dirs))
	for _, d := range dirs {
		changed[d] = true
	}
	for dir, l := range s.links {
		if slices.ContainsFunc(l.via, func(d string) bool { return changed[d] }) {
			m.add(dir)
		}
		for name, real := range l.dirs {
			for _, rest := range under(dirs, real) {
				m.add(path.Join(dir, name, rest))
			}
		}
	}
	return s.again(rootPlace(), tree, &m)
}

// under finds top and the directories below it in a sorted list, and returns their paths
// relative to top.
func under(dirs []string, top string) []string {
	var found []string
	i := 0
	if top != "." {
		i, _ = slices.BinarySearch(dirs, top)
	}
	for ; i < len(dirs); i++ {
		rest, ok := below(dirs[i], top)
		if !ok && !strings.HasPrefix(dirs[i], top) {
			break
		}
		if ok {
			found = append(found, rest)
		}
	}
	return found
}

// marks are the directories to read again, as a tree.
type marks struct {
	again bool
	below map[string]*marks
}

func (m *marks) add(dir string) {
	if dir != "." {
		for elem := range strings.SplitSeq(dir, "/") {
			next := m.below[elem]
			if next == nil {
				if m.below == nil {
					m.below = map[string]*marks{}
				}
				next = &marks{}
				m.below[elem] = next
			}
			m = next
		}
	}
	m.again = true
}

// again reads a directory and those below it again, where marked.
func (s *scanner) again(p location, old *Dir, m *marks) *Dir {
	d := old
	if m.again {
		d, _ = s.dir(p, old)
	}
	for name, below := range m.below {
		sub := child(d, name)
		if sub == nil || sub != child(old, name) { // it is gone, or was just read
			continue
		}
		next := s.again(p.child(sub.Name, s.links[p.name].dirs[name]), sub, below)
		if next == sub {
			continue
		}
		if d == old {
			c := *old
			c.Dirs = slices.Clone(old.Dirs)
			d = &c
		}
		d.Dirs[indexOf(d, name)] = next
	}
	return d
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
