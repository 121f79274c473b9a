package site

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
)

// What is made from the tree may be kept only where the watcher guarantees to
// say what changed: every directory that it was made from was watched before it
// was read, and none was touched since.
//
// Each touch gets a number. A View notes the number before it reads anything, and
// what was made through it is fresh as long as none of its directories has a
// higher one. The numbers stand in a small table by hash: a collision only makes
// something stale that is not.

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

// during does something during which nothing is fresh, and after which nothing is
// that was begun before or meanwhile.
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

// A Stamp reports whether what was made through a View is still up to date. Its
// methods may be called by many goroutines.
type Stamp struct {
	changes *touches
	began   uint64
	slots   []uint16
	seen    atomic.Uint64 // the number up to which it is fresh
}

// Fresh reports whether nothing that the View has seen was changed since. It costs
// one look at a number as long as nothing changes anywhere.
func (s *Stamp) Fresh() bool {
	now := s.changes.seq.Load()
	if s.seen.Load() == now {
		return true
	}
	if s.changes.all.Load() > s.began {
		return false
	}
	for _, slot := range s.slots {
		if s.changes.touched[slot].Load() > s.began {
			return false
		}
	}
	s.seen.Store(now)
	return true
}

// policyDir stands for the policy among the directories.
const policyDir = "\x00policy"

// usersDir stands for the set of users among the directories.
const usersDir = "\x00users"
