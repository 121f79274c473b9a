package client

// Each host has at most one fetch in progress, which does not depend on the callers that
// wait for it: it continues when they give up, under its own time limit, and returns the same
// result to all that still wait.
//
// A full cache evicts files before paces: a file can be fetched again, but a host whose
// pace is lost gets requests too often. A host is evicted only once it may be requested
// again.

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/robots/internal/dial"
)

// hostCache lists hosts, the most recently used first.
type hostCache struct {
	mu     sync.Mutex // guards all below, and every host but its pace
	hosts  map[dial.Origin]*list.Element
	recent list.List // of *host
	bytes  int64     // of all hosts
	saved  error     // the last error of the Store, until Flush returns it

	fetches singleflight.Group // by origin
}

// host is the state of one origin.
type host struct {
	memory
	origin   dial.Origin
	pace     Pace
	loaded   bool       // from the store
	good     *HostRules // of the last fetch that did not fail; nil: none, or dropped
	lines    int64      // of its file
	bytes    int64      // that the cache counts for it
	err      error      // of the last fetch
	fetching bool       // a fetch is under way
}

// memory is what the client learned by fetching a host's file, besides the file.
type memory struct {
	Tried    time.Time `json:"tried,omitzero"`   // end of the last fetch
	Failing  time.Time `json:"failing,omitzero"` // end of the first fetch of those that failed since; zero: the last did not
	Had      bool      `json:"had,omitempty"`    // the last fetch that did not fail found a file
	validity           // of the file
}

// validity is what a response says about its freshness (RFC 9111).
type validity struct {
	Good     time.Duration `json:"good,omitempty"` // how long the file is fresh, by Cache-Control; 0: not stated
	ETag     string        `json:"etag,omitempty"`
	Modified string        `json:"modified,omitempty"`
	retry    time.Duration // how long the host wants no requests (Retry-After)
}

// get answers for a host at once if the last fetch is recent enough, and else after a
// new one.
func (c *Client) get(ctx context.Context, o dial.Origin) (*HostRules, error) {
	if err := c.robot().Validate(); err != nil {
		return nil, err
	}
	c.cache.mu.Lock()
	if h := c.host(o); c.fresh(h) && !h.fetching {
		defer c.cache.mu.Unlock()
		return c.answer(h), nil
	}
	c.cache.mu.Unlock()
	fetched := c.cache.fetches.DoChan(o.String(), func() (any, error) {
		return c.refresh(context.WithoutCancel(ctx), o), nil
	})
	select {
	case result := <-fetched:
		return result.Val.(*HostRules), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// host returns the entry of an origin, and adds it if there is none. The caller holds the
// lock.
func (c *Client) host(o dial.Origin) *host {
	if e, ok := c.cache.hosts[o]; ok {
		c.cache.recent.MoveToFront(e)
		return e.Value.(*host)
	}
	if c.cache.hosts == nil {
		c.cache.hosts = map[dial.Origin]*list.Element{}
	}
	h := &host{origin: o, pace: Pace{Min: c.MinDelay, Max: c.MaxDelay}}
	c.cache.hosts[o] = c.cache.recent.PushFront(h)
	c.count(h)
	return h
}

// hasFile reports whether the file of a host is cached.
func (h *host) hasFile() bool { return h.good != nil && h.good.File != nil }

// dropFile evicts the file of a host. The caller holds the lock.
func (c *Client) dropFile(h *host) {
	if h.hasFile() {
		h.good, h.validity, h.Tried = nil, validity{}, time.Time{}
		c.count(h)
	}
}

// keep stores an answer for a host. The caller holds the lock.
func (c *Client) keep(h *host, a *HostRules) {
	own := *a
	own.bind(c.robot())
	own.Pace, own.origin = &h.pace, h.origin
	own.Until = c.due(h)
	h.pace.Follow(own.rules.Fields())
	h.good, h.Had = &own, own.File != nil
	h.lines = 0
	for range own.File.Lines() {
		h.lines++
	}
	c.count(h)
}

// Upper bounds for the memory of a host, a file and a line, beside the bytes of the text. A
// file that is used often has an index, too.
const (
	hostBytes = 2 << 10
	fileBytes = 2 << 10
	lineBytes = 144
)

// count updates how many bytes a host takes. The caller holds the lock.
func (c *Client) count(h *host) {
	size := hostBytes + h.pace.size() + int64(len(h.ETag)+len(h.Modified))
	if h.err != nil {
		size += int64(len(h.err.Error()))
	}
	if h.hasFile() {
		size += fileBytes + int64(h.good.File.Size()) + lineBytes*h.lines
	}
	c.cache.bytes += size - h.bytes
	h.bytes = size
}

// maxBusy bounds how many busy hosts shrink examines.
const maxBusy = 32

// shrink evicts files and then hosts, except for h, until the cache fits in MaxBytes: the
// least recently used that may be requested again. Without any the cache grows. The caller
// holds the lock.
func (c *Client) shrink(h *host) {
	most := cmp.Or(c.MaxBytes, maxBytes)
	for e := c.cache.recent.Back(); e != nil && c.cache.bytes > most; e = e.Prev() {
		if old := e.Value.(*host); old != h {
			c.dropFile(old)
		}
	}
	for busy := 0; c.cache.bytes > most && busy < maxBusy; {
		e := c.cache.recent.Back()
		old := e.Value.(*host)
		if old.fetching || old.pace.busy(time.Now()) {
			c.cache.recent.MoveToFront(e)
			busy++
			continue
		}
		c.cache.recent.Remove(e)
		delete(c.cache.hosts, old.origin)
		c.cache.bytes -= old.bytes
	}
}

// fresh reports whether no fetch is due.
func (c *Client) fresh(h *host) bool {
	now := time.Now()
	known := h.err != nil || h.good != nil
	return known && !h.Tried.IsZero() && !now.Before(h.Tried) && now.Before(c.due(h))
}

// due returns when to fetch the file of a host again: a file is good for a day, a failure
// for a while.
func (c *Client) due(h *host) time.Time {
	if h.err != nil {
		_, hold := h.pace.times()
		return later(h.Tried.Add(retryTime), hold)
	}
	return h.Tried.Add(c.goodFor(h.validity))
}

// goodFor returns how long a file is fresh: as long as Cache-Control says, but at least
// until a failure would be retried, and at most a day (R13).
func (c *Client) goodFor(v validity) time.Duration {
	most := min(cmp.Or(c.MaxAge, maxAge), maxAge)
	if v.Good == 0 {
		return most
	}
	return min(max(v.Good, retryTime), most)
}

// refresh fetches the file of a host, unless the Store has one that is fresh.
func (c *Client) refresh(ctx context.Context, o dial.Origin) *HostRules {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	h := c.host(o)
	h.fetching = true
	defer func() { h.fetching = false }()
	c.load(ctx, h)
	if c.fresh(h) {
		return c.answer(h)
	}

	// Fetch the file.
	good, before, wasEmpty := h.good, h.memory, errors.Is(h.err, errEmpty)
	var a *HostRules
	var valid validity
	var err error
	c.unlocked(func() { a, valid, err = c.read(ctx, o, before, wasEmpty) })

	// Keep what came of it.
	if errors.Is(err, errNotModified) {
		a, err = good, nil
	}
	c.settle(h, a, valid, err)
	c.shrink(h)
	answer := c.answer(h)
	if err := c.save(ctx, h); err != nil { // which costs a fetch at the next start
		c.cache.saved = err
	}
	return answer
}

// settle records what came of a fetch: the rules, or why there are none. The caller holds the
// lock.
func (c *Client) settle(h *host, a *HostRules, valid validity, err error) {
	// A host that refuses its file wants no other requests, either.
	status, _ := errors.AsType[*StatusError](err)
	item, _ := errors.AsType[*ErrorItem](err)
	if status != nil {
		valid.retry = max(valid.retry, status.RetryAfter) // of a Fetch
	}
	h.pace.heed(status != nil && refuses(status.Status) || item != nil && ask.IsBusy(item.Text),
		valid.retry)

	h.Tried, h.err = time.Now(), err
	switch {
	case err == nil:
		h.Failing, h.validity = time.Time{}, valid
		c.keep(h, a)
		h.good.Fetched = h.Tried
	case h.Failing.IsZero():
		h.Failing = h.Tried
	}
	c.count(h)
}

// unlocked calls a function that takes long. The caller holds the lock.
func (c *Client) unlocked(call func()) {
	c.cache.mu.Unlock()
	defer c.cache.mu.Lock()
	call()
}

// answer returns the current rules of a host. While the host is unreachable, its last
// file remains in force; if it had none, it may not be fetched from. A web host that has
// been unreachable for 30 days counts as one without a file (R12); a gopher host never
// does.
func (c *Client) answer(h *host) *HostRules {
	if h.err == nil {
		return h.good
	}
	a := HostRules{Access: Unreachable, Pace: &h.pace, origin: h.origin}
	a.bind(c.robot())
	switch {
	case h.hasFile():
		a = *h.good
		a.Stale = time.Since(a.Fetched) >= c.goodFor(h.validity)
	case h.origin.Web() && h.Tried.Sub(h.Failing) >= lapse:
		a.Access = Unavailable
	}
	a.Err = h.err
	a.Until = c.due(h)
	return &a
}
