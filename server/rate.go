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
