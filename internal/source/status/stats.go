// Package status collects statistics of a running gophd, such as requests by outcome and robots
// that ignore robots.txt, and shows them on a page for the administrator ([Page]).
package status

import (
	"cmp"
	"maps"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/process/enforce"
	"github.com/gophd/gophd/internal/tally"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Stats is a server.Observer. Its fields must not be changed after the first request.
type Stats struct {
	Version string
	Server  *server.Server
	Lost    func() int64 // returns the lost lines of the access log; nil without one

	// Searchable returns the number of texts in the search index, and of those that did not fit.
	// It is nil without a search.
	Searchable func() (texts, left int)

	Hosts []*HostStats // the first also counts requests for unknown names

	start time.Time
}

// New returns Stats for a process that starts now.
func New(version string) *Stats {
	return &Stats{Version: version, start: time.Now()}
}

// HostStats are the statistics of one site.
type HostStats struct {
	Name     string
	Site     *site.Site
	Enforcer *enforce.Enforcer // nil without -enforce

	mu     sync.Mutex
	counts HostNumbers
	rudest tally.Top[netip.Addr]

	// Clients that have fetched robots.txt. When recent is full, it becomes earlier.
	recent, earlier map[netip.Addr]bool
}

// maxFetchers bounds recent and earlier.
const maxFetchers = 4096

// Outcomes counts requests by their server.Kind.
type Outcomes [server.Kinds]int64

// A Minute counts the requests of one minute.
type Minute struct {
	Start  int64 // in minutes since 1970
	Counts [3]int64
}

// The indexes of Minute.Counts.
const (
	asked   = iota // requests
	failed         // requests with another outcome than OK
	fetched        // requests for robots.txt
)

// HostNumbers are the current values of HostStats.
type HostNumbers struct {
	Name     string
	Requests map[string]Outcomes // by protocol
	Hour     [60]Minute          // a ring buffer, by minute modulo 60
	Bytes    int64               // sent in replies
	Fetches  int64               // requests for robots.txt
	Rude     int64               // requests for denied resources, by clients that had fetched robots.txt
	Reloads  int64
	Failures int64       // reloads that failed
	Last     site.Reload // zero before the first

	// Of the current Snapshot.
	Reports     []policy.Report
	RobotsBytes int    // size of robots.txt
	Policy      string // its SHA-256; see policy.Compiled.Hash
	File        string // of robots.txt

	Rudest   []tally.Count[netip.Addr]
	Enforced enforce.Totals
}

// Numbers are the statistics at one point in time.
type Numbers struct {
	Start time.Time
	Lost  int64 // lines of the access log
	Hosts []HostNumbers
	server.Counts
}

// Observe counts a request.
func (s *Stats) Observe(r server.Served) {
	host := s.Hosts[0]
	for _, h := range s.Hosts[1:] {
		if h.Name == r.Host {
			host = h
		}
	}
	host.observe(r, time.Now())
}

func (s *HostStats) observe(r server.Served, now time.Time) {
	client := server.Block(r.Remote.Addr())
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.counts
	if n.Requests == nil {
		n.Requests = map[string]Outcomes{}
	}
	outcomes := n.Requests[r.Protocol]
	outcomes[r.Kind()]++
	n.Requests[r.Protocol] = outcomes
	n.Bytes += r.Bytes

	start := now.Unix() / 60
	minute := &n.Hour[start%int64(len(n.Hour))]
	if minute.Start != start {
		*minute = Minute{Start: start}
	}
	minute.Counts[asked]++
	if r.Kind() != server.OK {
		minute.Counts[failed]++
	}

	// Gopher has no user agent, so the rules for all robots decide.
	hasFile := s.recent[client] || s.earlier[client]
	if !selector.IsRobots(r.Selector) {
		snap := s.Site.Now()
		if hasFile && snap != nil &&
			!snap.Open(cmp.Or(strings.Trim(r.Selector, "/"), "."),
				strings.HasSuffix(r.Selector, "/")) {
			n.Rude++
			s.rudest.Add(client)
		}
		return
	}
	n.Fetches++
	minute.Counts[fetched]++
	if client.IsValid() && !hasFile {
		if s.recent == nil || len(s.recent) >= maxFetchers {
			s.recent, s.earlier = map[netip.Addr]bool{}, s.recent
		}
		s.recent[client] = true
	}
}

// Reloaded counts a reload.
func (s *HostStats) Reloaded(r site.Reload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Reloads++
	if r.Err != nil {
		s.counts.Failures++
	}
	s.counts.Last = r
}

// Numbers returns the current statistics.
func (s *Stats) Numbers() Numbers {
	n := Numbers{Start: s.start, Counts: s.Server.Counts()}
	for _, h := range s.Hosts {
		n.Hosts = append(n.Hosts, h.numbers())
	}
	if s.Lost != nil {
		n.Lost = s.Lost()
	}
	return n
}

func (s *HostStats) numbers() HostNumbers {
	s.mu.Lock()
	n := s.counts
	n.Requests = map[string]Outcomes{"gopher": {}} // always shown
	maps.Copy(n.Requests, s.counts.Requests)
	s.mu.Unlock()
	n.Name, n.Rudest, n.Enforced = s.Name, s.rudest.List(10), s.Enforcer.Totals()
	if snap := s.Site.Now(); snap != nil {
		n.Reports, n.RobotsBytes = snap.Reports, len(snap.Robots)
		n.Policy, n.File = snap.Compiled.Hash(), snap.Compiled.FileHash()
	}
	return n
}
