package site

import (
	"hash/maphash"
	"os"
	"sync"
	"sync/atomic"
)

// The cache holds whole replies by selector. It stands in front of the file
// system only where the watcher guarantees to say what changed: a reply is
// kept only if every directory it was made from was watched before it was
// made, and goes as soon as one of them is touched.
//
// A touch may come while a reply is being made. So each touch gets a number;
// a reply notes the number before it is made, and is not kept if one of its
// directories has a higher one by then. The numbers are kept in a small table
// by hash: a collision only keeps a reply out.

// An Answer is a whole reply, as it goes to the client. It is never changed.
type Answer struct {
	Selector string // as it is logged
	Body     []byte
	Err      error // for the log, if the reply is an error item

	// File, if there is one, is the reply, Size octets of it, and Body is nil.
	// Whoever gets the answer closes it when it was sent.
	File     *os.File
	Size     int64
	Resident bool // the kernel has all of File in memory: to send it cannot block

	host string // the server's name and port in Body, if it depends on them
	port int
}

// Close closes the file of the answer, if it has one.
func (a *Answer) Close() {
	if a.File != nil {
		_ = a.File.Close()
	}
}

// cache is a bounded store of replies. Its methods may be called by many
// goroutines; a nil one holds nothing.
type cache struct {
	max int64 // octets, costs included

	mu    sync.RWMutex
	byKey map[string]*entry
	byDir map[string]map[*entry]struct{}
	size  int64

	seed    maphash.Seed
	seq     atomic.Uint64
	touched [256]atomic.Uint64
}

type entry struct {
	Answer
	dirs []string
	used atomic.Bool // since the eviction last came by
}

// entryCost is about what an entry takes beside its body, in octets.
const entryCost = 400

func (e *entry) cost() int64 { return int64(len(e.Body)+2*len(e.Selector)) + entryCost }

func newCache(max int64) *cache {
	if max <= 0 {
		return nil
	}
	return &cache{max: max, byKey: map[string]*entry{}, byDir: map[string]map[*entry]struct{}{}, seed: maphash.MakeSeed()}
}

// get returns the reply to a selector as this host and port give it.
func (c *cache) get(selector []byte, host string, port int) *Answer {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	e := c.byKey[string(selector)]
	c.mu.RUnlock()
	if e == nil || e.port != 0 && (e.port != port || e.host != host) {
		return nil
	}
	if !e.used.Load() {
		e.used.Store(true)
	}
	return &e.Answer
}

// now is to be noted before a reply is made.
func (c *cache) now() uint64 {
	if c == nil {
		return 0
	}
	return c.seq.Load()
}

// put keeps a reply that was made from dirs since the time began.
func (c *cache) put(a Answer, dirs []string, began uint64) {
	e := &entry{Answer: a, dirs: dirs}
	if c == nil || e.cost() > c.max/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range dirs {
		if c.slot(d).Load() > began {
			return
		}
	}
	if old := c.byKey[a.Selector]; old != nil {
		c.drop(old)
	}
	c.byKey[a.Selector] = e
	for _, d := range dirs {
		if c.byDir[d] == nil {
			c.byDir[d] = map[*entry]struct{}{}
		}
		c.byDir[d][e] = struct{}{}
	}
	c.size += e.cost()
	c.evict()
}

// evict drops replies that nobody asked for since it came by last, until the
// rest fits. A map has no order, which is as good as any here.
func (c *cache) evict() {
	for c.size > c.max {
		for _, e := range c.byKey {
			if c.size <= c.max {
				return
			}
			if !e.used.Swap(false) {
				c.drop(e)
			}
		}
	}
}

func (c *cache) drop(e *entry) {
	delete(c.byKey, e.Selector)
	for _, d := range e.dirs {
		if delete(c.byDir[d], e); len(c.byDir[d]) == 0 {
			delete(c.byDir, d)
		}
	}
	c.size -= e.cost()
}

func (c *cache) slot(dir string) *atomic.Uint64 {
	return &c.touched[maphash.String(c.seed, dir)%uint64(len(c.touched))]
}

// touch drops what was made from a directory; "" is every directory.
func (c *cache) touch(dir string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.seq.Add(1)
	if dir != "" {
		c.slot(dir).Store(n)
		for e := range c.byDir[dir] {
			c.drop(e)
		}
		return
	}
	for i := range c.touched {
		c.touched[i].Store(n)
	}
	clear(c.byKey)
	clear(c.byDir)
	c.size = 0
}
