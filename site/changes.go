package site

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
)

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
