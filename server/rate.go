package server

import (
	"net/netip"
	"sync"
	"time"
)

// rates are the token buckets of the address blocks that have sent requests.
type rates struct {
	perSecond, burst float64

	mu      sync.Mutex
	buckets map[netip.Addr]bucket
}

type bucket struct {
	tokens float64
	at     time.Time // when they were counted
}

// maxBuckets bounds the table. A block that is not in it has a full bucket.
const maxBuckets = 1 << 16

func newRates(perSecond float64, burst int) *rates {
	if perSecond <= 0 {
		return nil
	}
	if burst <= 0 {
		burst = max(int(perSecond), DefaultBurst)
	}
	return &rates{perSecond: perSecond, burst: float64(burst), buckets: map[netip.Addr]bucket{}}
}

// take takes a token for a request of an address block, if there is one.
func (r *rates) take(a netip.Addr, now time.Time) bool {
	if !a.IsValid() {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.buckets[a]
	if !ok {
		r.makeRoom(now)
		b = bucket{r.burst, now}
	}
	b = bucket{r.refilled(b, now), now}
	enough := b.tokens >= 1
	if enough {
		b.tokens--
	}
	r.buckets[a] = b
	return enough
}

func (r *rates) refilled(b bucket, now time.Time) float64 {
	return min(r.burst, b.tokens+r.perSecond*now.Sub(b.at).Seconds())
}

// makeRoom forgets the blocks whose buckets are full, when there are too many;
// and if these are not enough, any others.
func (r *rates) makeRoom(now time.Time) {
	if len(r.buckets) < maxBuckets {
		return
	}
	for a, b := range r.buckets {
		if r.refilled(b, now) >= r.burst {
			delete(r.buckets, a)
		}
	}
	for a := range r.buckets {
		if len(r.buckets) < maxBuckets*15/16 {
			return
		}
		delete(r.buckets, a)
	}
}

// onceAMinute remembers for a minute which address blocks the log has named. The
// zero value is ready to use.
type onceAMinute struct {
	mu     sync.Mutex
	blocks map[netip.Addr]*logged
	swept  time.Time
}

type logged struct {
	until time.Time
	more  int // times since
}

// maxLogged bounds the table, and with it the log lines of a minute. A block that
// does not fit is counted and not named.
const maxLogged = 1024

// add counts something of a block, and returns how many times the log is to
// tell now, 0 for none yet.
func (o *onceAMinute) add(a netip.Addr, now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.blocks[a]
	switch {
	case b != nil && now.Before(b.until):
		b.more++
		return 0
	case b == nil && !o.room(now):
		return 0
	case b == nil:
		b = &logged{}
		o.blocks[a] = b
	}
	times := b.more + 1
	*b = logged{until: now.Add(time.Minute)}
	return times
}

// room reports whether another block fits; it looks for room once a second.
func (o *onceAMinute) room(now time.Time) bool {
	if o.blocks == nil {
		o.blocks = map[netip.Addr]*logged{}
	}
	if len(o.blocks) >= maxLogged && now.Sub(o.swept) >= time.Second {
		o.swept = now
		for a, b := range o.blocks {
			if now.After(b.until) {
				delete(o.blocks, a)
			}
		}
	}
	return len(o.blocks) < maxLogged
}
