package client

// One host is one entry, and one entry has at most one fetch under way. The
// fetch belongs to nobody who waits for it: it runs on when they leave, under a
// time limit of its own, and wakes who is left by closing a channel.

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gophd/gophd/robots/internal/dial"
)

// hostCache holds the hosts asked for last.
type hostCache struct {
	mu     sync.Mutex // guards all below, and every host but its pace
	hosts  map[dial.Origin]*list.Element
	recent list.List // of *host, the last asked for first
}

// host is what is known of one origin.
type host struct {
	origin   dial.Origin
	pace     Pace
	good     *HostRules    // of the last fetch that did not fail; nil: none
	tried    time.Time     // end of the last fetch
	failing  time.Time     // end of the first fetch of those that failed since; zero: the last did not
	err      error         // of the last fetch
	holdoff  time.Duration // what the host asked to be left alone after that fetch
	fetching chan struct{} // closed at the end of the fetch under way; nil: none
}

// get answers for a host at once if the last fetch is recent enough, and else
// after a new one.
func (c *Client) get(ctx context.Context, o dial.Origin) (*HostRules, error) {
	h, fetching := c.look(ctx, o)
	if fetching != nil {
		select {
		case <-fetching:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	return c.answer(h), nil
}

// look returns the entry of an origin, and what to wait for if its file is due:
// the end of the fetch under way, which is started if there is none.
func (c *Client) look(ctx context.Context, o dial.Origin) (*host, <-chan struct{}) {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	h := c.host(o)
	if h.fetching == nil && c.fresh(h) {
		return h, nil
	}
	if h.fetching == nil {
		h.fetching = make(chan struct{})
		go c.refresh(context.WithoutCancel(ctx), h)
	}
	return h, h.fetching
}

// host returns the entry of an origin. The caller holds the lock.
func (c *Client) host(o dial.Origin) *host {
	h := c.cache.host(o, cmp.Or(c.Size, maxHosts))
	h.pace.SetMin(c.MinDelay)
	return h
}

// host returns the entry of an origin, and drops the oldest if there are too
// many. The caller holds the lock.
func (c *hostCache) host(o dial.Origin, size int) *host {
	if e, ok := c.hosts[o]; ok {
		c.recent.MoveToFront(e)
		return e.Value.(*host)
	}
	if c.hosts == nil {
		c.hosts = map[dial.Origin]*list.Element{}
	}
	for len(c.hosts) >= max(size, 1) {
		oldest := c.recent.Remove(c.recent.Back()).(*host)
		delete(c.hosts, oldest.origin)
	}
	h := &host{origin: o}
	c.hosts[o] = c.recent.PushFront(h)
	return h
}

// fresh reports whether no fetch is due: a file is good for a day, a failure
// for a while.
func (c *Client) fresh(h *host) bool {
	age := c.now().Sub(h.tried)
	switch {
	case h.tried.IsZero():
		return false
	case h.err != nil:
		return age < max(cmp.Or(c.Retry, retryAfter), h.holdoff)
	}
	return age < min(cmp.Or(c.MaxAge, maxAge), maxAge)
}

// refresh fetches the file of a host and wakes all who wait for it.
func (c *Client) refresh(ctx context.Context, h *host) {
	a, err := c.read(ctx, h.origin)
	a.bind(c.robot())
	if err == nil {
		h.pace.Follow(a.rules.Fields())
	}
	var status *StatusError
	errors.As(err, &status)
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	h.tried, h.err = c.now(), err
	a.Fetched, a.Pace = h.tried, &h.pace
	h.holdoff = 0
	if status != nil {
		h.holdoff = status.RetryAfter
		h.pace.Hold(time.Now().Add(status.RetryAfter))
	}
	switch {
	case err == nil:
		h.good, h.failing = &a, time.Time{}
	case h.failing.IsZero():
		h.failing = h.tried
	}
	close(h.fetching)
	h.fetching = nil
}

// answer returns what is known of a host. While the host cannot be reached, its
// last file holds; that it had none is no permission to go on. A web host that has
// not been reached for 30 days is taken for one without a file (R12); a gopher
// host never is.
func (c *Client) answer(h *host) *HostRules {
	if h.err == nil {
		return h.good
	}
	a := HostRules{Access: Unreachable, Pace: &h.pace}
	a.bind(c.robot())
	switch {
	case h.good != nil && h.good.File != nil:
		a = *h.good
		a.Stale = c.now().Sub(a.Fetched) >= min(cmp.Or(c.MaxAge, maxAge), maxAge)
	case !h.origin.Gopher() && h.tried.Sub(h.failing) >= lapse:
		a.Access = Unavailable
	}
	a.Err = h.err
	return &a
}
