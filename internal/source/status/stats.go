// Package status collects the numbers of a running gophd: it counts requests by
// outcome, lists rude robots, and shows it all on a page for the administrator ([Page]).
// It is made for gophd; a server of another kind has its own numbers.
package status

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/process/enforce"
	"github.com/gophd/gophd/internal/tally"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Stats counts. It is a server.Observer; its fields are set before it is used.
type Stats struct {
	Version string
	Server  *server.Server
	Lost    func() int64 // lines of the access log; nil: there is none

	// Searchable counts the texts of the search index, and those that did not fit; nil: there
	// is none.
	Searchable func() (texts, left int)

	Hosts []*HostStats // the first counts all requests for none of the others

	start time.Time
}

// HostStats counts for one site.
type HostStats struct {
	Name     string
	Site     *site.Site
	Enforcer *enforce.Enforcer // nil: robots are not held to anything

	protocols atomic.Pointer[[]*protocolCounts]
	hour      hour
	bytes     atomic.Int64
	fetches   atomic.Int64 // of robots.txt
	rude      rudeness
	reloads   atomic.Int64
	failures  atomic.Int64 // reloads that failed
	last      atomic.Pointer[site.Reload]
}

// protocolCounts counts the requests over one protocol, by outcome.
type protocolCounts struct {
	name     string
	requests [server.Kinds]atomic.Int64
}

// over returns the counts of a protocol.
func (s *HostStats) over(name string) *protocolCounts {
	for {
		var list []*protocolCounts
		all := s.protocols.Load()
		if all != nil {
			list = *all
		}
		for _, p := range list {
			if p.name == name {
				return p
			}
		}
		more := append(slices.Clip(list), &protocolCounts{name: name})
		s.protocols.CompareAndSwap(all, &more)
	}
}

// New returns Stats that count from now on.
func New(version string) *Stats { return &Stats{Version: version, start: time.Now()} }

// Observe counts a request.
func (s *Stats) Observe(r server.Served) {
	for _, h := range s.Hosts[1:] {
		if h.Name == r.Host {
			h.observe(r)
			return
		}
	}
	s.Hosts[0].observe(r)
}

func (s *HostStats) observe(r server.Served) {
	s.over(r.Protocol).requests[r.Kind()].Add(1)
	minute := time.Now().Unix() / 60
	s.hour.add(minute, asked)
	if r.Kind() != server.OK {
		s.hour.add(minute, failed)
	}
	s.bytes.Add(r.Bytes)
	block := server.Block(r.Remote.Addr())
	if answer.IsRobots(r.Selector) {
		s.rude.fetched(block)
		s.hour.add(minute, fetched)
		s.fetches.Add(1)
		return
	}
	s.rude.asked(block, r.Selector, s.Site.Now())
}

// Reloaded counts a reload.
func (s *HostStats) Reloaded(r site.Reload) {
	s.reloads.Add(1)
	if r.Err != nil {
		s.failures.Add(1)
	}
	s.last.Store(&r)
}

// Numbers is how gophd does at one time.
type Numbers struct {
	Start time.Time
	Lost  int64 // lines of the access log
	All   HostNumbers
	Hosts []HostNumbers
	server.Counts
}

// HostNumbers is how one site does, or all of them together.
type HostNumbers struct {
	Name        string
	Requests    map[string][server.Kinds]int64 // by protocol
	Hour        [counted][60]int64             // by minutes, the last one is this
	Bytes       int64                          // sent in replies
	Fetches     int64                          // requests for robots.txt
	Rude        int64                          // requests for what it denies, by those who had fetched it
	Rudest      []tally.Count[netip.Addr]
	Reloads     int64
	Failures    int64       // reloads that failed
	Last        site.Reload // the last one; zero before the first
	Reports     []policy.Report
	RobotsBytes int    // size of robots.txt
	Policy      string // its SHA-256; see policy.Compiled.Hash
	File        string // of robots.txt
	Enforced    enforce.Totals
}

// Numbers returns how gophd does.
func (s *Stats) Numbers() Numbers {
	n := Numbers{Start: s.start, Counts: s.Server.Counts()}
	n.All.Requests = map[string][server.Kinds]int64{}
	for _, h := range s.Hosts {
		one := h.numbers()
		n.Hosts = append(n.Hosts, one)
		n.All.add(one)
	}
	if s.Lost != nil {
		n.Lost = s.Lost()
	}
	return n
}

// Outcomes counts requests by their outcome, whatever the protocol.
func (n HostNumbers) Outcomes() (all [server.Kinds]int64) {
	for _, times := range n.Requests {
		for i := range all {
			all[i] += times[i]
		}
	}
	return all
}

// add adds what can be added.
func (n *HostNumbers) add(h HostNumbers) {
	for name, times := range h.Requests {
		for i, had := range n.Requests[name] {
			times[i] += had
		}
		n.Requests[name] = times
	}
	for i := range n.Hour {
		for minute := range n.Hour[i] {
			n.Hour[i][minute] += h.Hour[i][minute]
		}
	}
	n.Bytes += h.Bytes
}

func (s *HostStats) numbers() HostNumbers {
	n := HostNumbers{
		Name: s.Name, Requests: map[string][server.Kinds]int64{}, Bytes: s.bytes.Load(), Fetches: s.fetches.Load(), Reloads: s.reloads.Load(), Failures: s.failures.Load(),
		Rude: s.rude.times.Load(), Rudest: s.rude.list.List(10),
	}
	n.Enforced = s.Enforcer.Totals()
	minute := time.Now().Unix() / 60
	for i := range n.Hour {
		n.Hour[i] = s.hour.list(minute, i)
	}
	s.over("gopher") // is always on offer
	for _, p := range *s.protocols.Load() {
		var times [server.Kinds]int64
		for i := range times {
			times[i] = p.requests[i].Load()
		}
		n.Requests[p.name] = times
	}
	if last := s.last.Load(); last != nil {
		n.Last = *last
	}
	if snap := s.Site.Now(); snap != nil {
		n.Reports, n.RobotsBytes = snap.Reports, len(snap.Robots)
		n.Policy, n.File = snap.Compiled.Hash(), snap.Compiled.FileHash()
	}
	return n
}

// The counts of each minute of the last hour.
const (
	asked   = iota // requests
	failed         // requests that were not answered as they were meant
	fetched        // of robots.txt
	counted
)

// hour counts by minutes, in a ring: a slot belongs to the minute that it was last
// written in. Two that begin a minute at once may lose a count. The zero value is
// ready to use.
type hour [60]struct {
	minute atomic.Int64 // since 1970
	counts [counted]atomic.Int64
}

// add counts one in a minute.
func (h *hour) add(minute int64, what int) {
	slot := &h[minute%int64(len(h))]
	if then := slot.minute.Load(); then != minute && slot.minute.CompareAndSwap(then, minute) {
		for i := range slot.counts {
			slot.counts[i].Store(0)
		}
	}
	slot.counts[what].Add(1)
}

// list returns the counts of the hour that ends with a minute, the oldest first.
func (h *hour) list(minute int64, what int) (counts [60]int64) {
	for i := range counts {
		m := minute - int64(len(counts)-1-i)
		if slot := &h[m%int64(len(h))]; slot.minute.Load() == m {
			counts[i] = slot.counts[what].Load()
		}
	}
	return counts
}
