package status

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/internal/tally"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/site"
)

// rudeness records the clients that fetch robots.txt and then request selectors that it
// denies to all robots. A robot does not send its name in Gopher, so it is
// measured by the * group. The zero value is ready to use.
type rudeness struct {
	mu       sync.RWMutex
	recent   map[netip.Addr]bool // who has fetched it
	earlier  map[netip.Addr]bool // those before them
	times    atomic.Int64
	list     tally.Top[netip.Addr]
	lastFile atomic.Pointer[readFile]
}

// maxFetchers bounds each of the two maps; when one is full the older is dropped.
const maxFetchers = 4096

// readFile is the robots.txt of a snapshot, as a robot reads it.
type readFile struct {
	snap  *site.Snapshot
	rules *robots.Rules
}

func (r *rudeness) fetched(a netip.Addr) {
	if !a.IsValid() || r.knows(a) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recent == nil || len(r.recent) >= maxFetchers {
		r.recent, r.earlier = map[netip.Addr]bool{}, r.recent
	}
	r.recent[a] = true
}

func (r *rudeness) knows(a netip.Addr) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.recent[a] || r.earlier[a]
}

func (r *rudeness) asked(a netip.Addr, selector string, snap *site.Snapshot) {
	if snap == nil || !r.knows(a) || r.rules(snap).Allowed(selector) {
		return
	}
	r.times.Add(1)
	r.list.Add(a)
}

func (r *rudeness) rules(snap *site.Snapshot) *robots.Rules {
	if f := r.lastFile.Load(); f != nil && f.snap == snap {
		return f.rules
	}
	f := &readFile{snap, robots.Parse(robots.Gopher, snap.Robots).Agent("*")}
	r.lastFile.Store(f)
	return f.rules
}
