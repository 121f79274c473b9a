package answer

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A Cache keeps answers in bounded memory. Each has a stamp, by which it is revalidated.
// All hosts and fronts of a process share one Cache. It may be used concurrently.
type Cache struct {
	kept   keptAnswers
	misses keptAnswers // "not found"; separate, so that a flood of them evicts nothing else
}

// NewCache returns a cache of max bytes, including its own overhead. If max is 0, it keeps
// nothing.
func NewCache(max int64) *Cache {
	misses := min(max/16, maxMisses)
	return &Cache{
		kept:   keptAnswers{max: max - misses, entries: map[cacheKey]*keptAnswer{}},
		misses: keptAnswers{max: misses, entries: map[cacheKey]*keptAnswer{}},
	}
}

// maxMisses bounds the bytes for selectors that were not found.
const maxMisses = 1 << 20

// cacheKey is the key of a cached answer: everything that the answer depends on besides the
// files. Answers that depend on the query are not cached.
type cacheKey struct {
	of       *Host
	form     *Format
	selector string

	// Set only if the answer contains them.
	host    string
	port    int
	urlPort int
	tls     bool
}

// name sets the fields that depend on how the client has reached the server.
func (k *cacheKey) name(r *server.Request) {
	k.host, k.port = r.Host, r.Port
	k.tls, k.urlPort = r.TLS, r.URLPort
	if r.Protocol != "" {
		k.port = int(r.Local.Port())
	}
}

// callKey identifies a call of the Limiter. Concurrent requests with the same key share one.
type callKey struct {
	cacheKey
	query  string
	client string // the client's address, if the answer shows it
	alone  *Asked // the only request of the call, or nil
}

// top returns the first part of the selector: the top-level directory whose quota the call
// uses. It is "" for the root.
func (k *callKey) top() string {
	top, _, _ := strings.Cut(strings.TrimPrefix(k.selector, "/"), "/")
	return top
}

func (q *Asked) key(sel string) callKey {
	return callKey{cacheKey: cacheKey{
		of:       q.Host,
		form:     q.Format,
		selector: sel,
	}}
}

// kept returns the cached answer to a request, or nil. holds checks its stamp.
func (h *Host) kept(r *server.Request, f *Format, holds func(*site.Stamp) bool) *Value {
	p := cacheKey{of: h, form: f, selector: r.Selector}
	if a := h.Cache.kept.get(p, holds); a != nil {
		return a
	}
	p.name(r)
	if a := h.Cache.kept.get(p, holds); a != nil {
		return a
	}
	return h.Cache.misses.get(h.missing(r.Selector, f), holds)
}

// missing returns the key of the cached reply "not found".
func (h *Host) missing(sel string, f *Format) cacheKey {
	if !f.isCapsule() {
		f = nil
	}
	return cacheKey{of: h, form: f, selector: sel}
}

// looking returns a check of stamps that may read the file system.
func looking(ctx context.Context) func(*site.Stamp) bool {
	return func(s *site.Stamp) bool { return s.Look(ctx) }
}

// keep caches an answer for requests with the same selector and any query.
func (q *Asked) keep(a *Value) {
	p := cacheKey{of: q.Host, form: q.Format, selector: q.Request.Selector}
	if a.named {
		p.name(q.Request)
	}
	q.Host.Cache.kept.put(p, a, q.View.Stamp())
}

// keepMissing caches the reply to a selector that was not found.
func (q *Asked) keepMissing(err error) {
	sel := q.Request.Selector
	_, _, pathErr := selector.Path(sel)
	if pathErr != nil || !errors.Is(err, fs.ErrNotExist) || selector.IsEscaped(sel) {
		return
	}
	q.Host.Cache.misses.put(q.Host.missing(sel, q.Format), &Value{err: public(err)}, q.View.Stamp())
}

// keptAnswers is a part of a Cache with its own bound.
type keptAnswers struct {
	max int64

	mu      sync.RWMutex
	entries map[cacheKey]*keptAnswer
	size    int64
}

type keptAnswer struct {
	answer *Value
	stamp  *site.Stamp
	used   atomic.Bool // since evict last visited it (second-chance eviction)
	cost   int64       // bytes
	cacheKey
}

// entryCost is the approximate size of an entry in bytes, without its body and stamp.
const entryCost = 400

// get returns the answer for a key if holds accepts its stamp, or nil. A rejected entry stays
// in the cache unless its stamp is outdated: a check that reads files may still accept it.
func (c *keptAnswers) get(p cacheKey, holds func(*site.Stamp) bool) *Value {
	c.mu.RLock()
	e := c.entries[p]
	c.mu.RUnlock()
	if e == nil {
		return nil
	}
	if !holds(e.stamp) {
		if e.stamp.Outdated() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.drop(e)
		}
		return nil
	}
	if !e.used.Load() {
		e.used.Store(true)
	}
	return e.answer
}

// put caches an answer, unless it has no stamp, is outdated already, or would take more than
// a quarter of the bound.
func (c *keptAnswers) put(p cacheKey, a *Value, stamp *site.Stamp) {
	if stamp == nil || stamp.Outdated() {
		return
	}
	e := &keptAnswer{
		cacheKey: p,
		answer:   a,
		stamp:    stamp,
		cost:     int64(cap(a.Body)+len(p.selector)+stamp.Size()) + entryCost,
	}
	if e.cost > c.max/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.entries[p])
	c.entries[p] = e
	c.size += e.cost
	if a.held != nil {
		a.held.Add(-int64(cap(a.Body)))
	}
	c.evict()
}

// evict drops answers that are outdated or were not used since the last visit, in the random
// order of the map, until the rest fits.
func (c *keptAnswers) evict() {
	for c.size > c.max {
		for _, e := range c.entries {
			if c.size <= c.max {
				return
			}
			if !e.used.Swap(false) || e.stamp.Outdated() {
				c.drop(e)
			}
		}
	}
}

// drop removes an entry, if it is still there.
func (c *keptAnswers) drop(e *keptAnswer) {
	if e != nil && c.entries[e.cacheKey] == e {
		delete(c.entries, e.cacheKey)
		c.size -= e.cost
		if a := e.answer; a.held != nil {
			a.held.Add(int64(cap(a.Body)))
		}
	}
}
