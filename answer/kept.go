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

// A Cache is a bounded store of answers, each with the stamp that says how long it
// holds. All hosts and fronts of a process share one. Its methods may be called by
// many goroutines; a nil one holds nothing.
type Cache struct {
	kept   keptAnswers
	misses keptAnswers // missing names; apart, so that a flood of it evicts nothing useful
}

// NewCache returns a cache of so many bytes, costs included; nil for none.
func NewCache(max int64) *Cache {
	if max <= 0 {
		return nil
	}
	misses := min(max/16, maxMisses)
	return &Cache{
		kept:   keptAnswers{max: max - misses, entries: map[cacheKey]*keptAnswer{}},
		misses: keptAnswers{max: misses, entries: map[cacheKey]*keptAnswer{}},
	}
}

// size is how many bytes of answers it keeps.
func (c *Cache) size() int64 {
	if c == nil {
		return 0
	}
	c.kept.mu.RLock()
	defer c.kept.mu.RUnlock()
	return c.kept.size
}

// maxMisses bounds the memory for selectors that name nothing, in bytes.
const maxMisses = 1 << 20

// cacheKey is where an answer is kept: all that it depends on, besides the site. It
// never has the query.
type cacheKey struct {
	of       *Host
	form     *Format
	selector string
	host     string // the server's name and port, if the answer has them
	port     int
	urlPort  int // likewise, of the URL that the client has asked for
	tls      bool
}

// name adds how the client has reached the server.
func (k *cacheKey) name(r *server.Request, f *Format) {
	k.host, k.port = r.Host, r.Port
	if f.TLS {
		k.tls, k.urlPort = r.TLS, r.URLPort
	}
}

// callKey identifies a making: requests with the same key share one.
type callKey struct {
	cacheKey
	query  string
	client string // its address, if the answer shows that
	alone  *Asked // the one request that it is for; nil: for all
}

// top is the top-level directory that a making is for, or the source of its selector; "" for
// the root.
func (k *callKey) top() string {
	top, _, _ := strings.Cut(strings.TrimPrefix(k.selector, "/"), "/")
	return top
}

func (q *Asked) key(sel string) callKey {
	return callKey{cacheKey: cacheKey{of: q.Host, form: q.Format, selector: sel}}
}

// kept returns the answer to a request that was made for another one, nil if there
// is none.
func (h *Host) kept(r *server.Request, f *Format, holds func(*site.Stamp) bool) *Value {
	if h.Cache == nil {
		return nil
	}
	p := cacheKey{of: h, form: f, selector: r.Selector}
	if a := h.Cache.kept.get(p, holds); a != nil {
		return a
	}
	p.name(r, f)
	if a := h.Cache.kept.get(p, holds); a != nil {
		return a
	}
	return h.Cache.misses.get(h.missing(r.Selector, f), holds)
}

// missing is where the reply to a selector that names nothing is kept.
func (h *Host) missing(sel string, f *Format) cacheKey {
	if !f.isCapsule() {
		f = nil
	}
	return cacheKey{of: h, form: f, selector: sel}
}

// looking returns a check of stamps that may wait for a file system.
func looking(ctx context.Context) func(*site.Stamp) bool {
	return func(s *site.Stamp) bool { return s.Look(ctx) }
}

// keep keeps an answer for requests with the same selector, whatever their query.
func (v *visit) keep(a *Value) {
	p := cacheKey{of: v.Host, form: v.Format, selector: v.Request.Selector}
	if a.named {
		p.name(v.Request, v.Format)
	}
	v.Host.Cache.put(p, a, v.View.Stamp())
}

// keepMissing keeps the reply to a selector that names nothing.
func (v *visit) keepMissing(err error) {
	sel := v.Request.Selector
	_, _, pathErr := selector.Path(sel)
	if v.Host.Cache == nil || pathErr != nil || !errors.Is(err, fs.ErrNotExist) || selector.IsEscaped(sel) {
		return
	}
	v.Host.Cache.misses.put(v.Host.missing(sel, v.Format), &Value{err: public(err)}, v.View.Stamp())
}

func (c *Cache) get(p cacheKey, holds func(*site.Stamp) bool) *Value {
	if c == nil {
		return nil
	}
	return c.kept.get(p, holds)
}

func (c *Cache) put(p cacheKey, a *Value, stamp *site.Stamp) {
	if c != nil {
		c.kept.put(p, a, stamp)
	}
}

// keptAnswers is a part of a Cache with a bound of its own.
type keptAnswers struct {
	max int64

	mu      sync.RWMutex
	entries map[cacheKey]*keptAnswer
	size    int64
}

type keptAnswer struct {
	answer *Value
	stamp  *site.Stamp
	used   atomic.Bool // since the eviction last came by
	cost   int64       // bytes
	cacheKey
}

// entryCost is about what an entry takes besides its body and stamp, in bytes.
const entryCost = 400

// get returns the answer at a place, nil if there is none that holds. One that does
// not hold for sure stays, in case that a slower check finds that it does.
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

// put keeps an answer, unless there is no stamp, it is stale already or it would
// take more than a quarter of the store.
func (c *keptAnswers) put(p cacheKey, a *Value, stamp *site.Stamp) {
	if stamp == nil || stamp.Outdated() {
		return
	}
	e := &keptAnswer{cacheKey: p, answer: a, stamp: stamp, cost: int64(cap(a.Body)+len(p.selector)+stamp.Size()) + entryCost}
	if e.cost > c.max/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.entries[p])
	c.entries[p] = e
	c.size += e.cost
	c.evict()
}

// evict drops answers that are stale or were not asked for since it came by last, until the
// rest fits. A map has no order, which is as good as any here.
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
	}
}
