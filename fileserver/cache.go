package fileserver

import (
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// replyCache is a bounded store of replies, each with the stamp that tells how long it
// holds. Its methods may be called by many goroutines; a nil one holds nothing.
type replyCache struct {
	max int64 // bytes, costs included

	mu      sync.RWMutex
	entries map[replyKey]*cachedReply
	size    int64
}

// replyKey is what a reply depends on: never the query.
type replyKey struct {
	selector string
	host     string // the server's name and port, if the reply names them
	port     int
}

type cachedReply struct {
	replyKey
	answer server.Answer
	stamp  *site.Stamp
	used   atomic.Bool // since the eviction last came by
}

// entryCost is about what an entry takes beside its body, in bytes.
const entryCost = 400

func (e *cachedReply) cost() int64 { return int64(len(e.answer.Body)+len(e.selector)) + entryCost }

func newCache(max int64) *replyCache {
	if max <= 0 {
		return nil
	}
	return &replyCache{max: max, entries: map[replyKey]*cachedReply{}}
}

// get returns the reply to a selector as this host and port give it.
func (c *replyCache) get(selector, host string, port int) (a server.Answer, ok bool) {
	e := c.fresh(replyKey{selector: selector})
	if e == nil {
		e = c.fresh(replyKey{selector, host, port})
	}
	if e == nil {
		return a, false
	}
	return e.answer, true
}

// fresh returns the entry of a key, nil if there is none that holds.
func (c *replyCache) fresh(k replyKey) *cachedReply {
	if c == nil {
		return nil
	}
	c.mu.RLock()
	e := c.entries[k]
	c.mu.RUnlock()
	if e == nil {
		return nil
	}
	if !e.stamp.Fresh() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.drop(e)
		return nil
	}
	if !e.used.Load() {
		e.used.Store(true)
	}
	return e
}

// put keeps a reply, unless there is no stamp, it is stale already or it would
// take more than a quarter of the cache.
func (c *replyCache) put(k replyKey, a server.Answer, stamp *site.Stamp) {
	e := &cachedReply{replyKey: k, answer: a, stamp: stamp}
	if c == nil || stamp == nil || e.cost() > c.max/4 || !stamp.Fresh() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.entries[k])
	c.entries[k] = e
	c.size += e.cost()
	c.evict()
}

// evict drops what is stale or was not asked for since it came by last, until the
// rest fits. A map has no order, which is as good as any here.
func (c *replyCache) evict() {
	for c.size > c.max {
		for _, e := range c.entries {
			if c.size <= c.max {
				return
			}
			if !e.used.Swap(false) || !e.stamp.Fresh() {
				c.drop(e)
			}
		}
	}
}

// drop removes an entry, if it is still there.
func (c *replyCache) drop(e *cachedReply) {
	if e != nil && c.entries[e.replyKey] == e {
		delete(c.entries, e.replyKey)
		c.size -= e.cost()
	}
}
