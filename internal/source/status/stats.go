// Package status collects the numbers of a running gophd: it counts requests by
// outcome, lists rude robots, and shows it all on a page for the administrator ([Page]).
// It is made for gophd; a server of another kind has its own numbers.
package status

import (
	"cmp"
	"maps"
	"net/netip"
	"strings"
	"sync"
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

// New returns Stats that count from now on.
func New(version string) *Stats { return &Stats{Version: version, start: time.Now()} }

// HostStats counts for one site.
type HostStats struct {
	Name     string
	Site     *site.Site
	Enforcer *enforce.Enforcer // nil: robots are not held to anything

	mu     sync.Mutex
	counts HostNumbers
	rudest tally.Top[netip.Addr]

	// Clients that have fetched robots.txt. When recent is full, it replaces earlier.
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

// What a Minute counts.
const (
	asked   = iota // requests
	failed         // those with another outcome than OK
	fetched        // those for robots.txt
)

// HostNumbers is how one site does.
type HostNumbers struct {
	Name     string
	Requests map[string]Outcomes // by protocol
	Hour     [60]Minute          // a ring; each minute replaces the one an hour before it
	Bytes    int64               // sent in replies
	Fetches  int64               // requests for robots.txt
	Rude     int64               // requests for what it denies to all robots, by clients that had fetched it
	Reloads  int64
	Failures int64       // reloads that failed
	Last     site.Reload // the last one; zero before the first

	// Of the current snapshot.
	Reports     []policy.Report
	RobotsBytes int    // size of robots.txt
	Policy      string // its SHA-256; see policy.Compiled.Hash
	File        string // of robots.txt

	Rudest   []tally.Count[netip.Addr]
	Enforced enforce.Totals
}

// Numbers is how gophd does at one time.
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

	// A robot does not send its name in Gopher: the rules for all robots decide.
	hasFile := s.recent[client] || s.earlier[client]
	if !answer.IsRobots(r.Selector) {
		snap := s.Site.Now()
		if hasFile && snap != nil && !snap.Open(cmp.Or(strings.Trim(r.Selector, "/"), "."), strings.HasSuffix(r.Selector, "/")) {
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

// Numbers returns how gophd does.
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
	n.Requests = map[string]Outcomes{"gopher": {}} // is always on offer
	maps.Copy(n.Requests, s.counts.Requests)
	s.mu.Unlock()
	n.Name, n.Rudest, n.Enforced = s.Name, s.rudest.List(10), s.Enforcer.Totals()
	if snap := s.Site.Now(); snap != nil {
		n.Reports, n.RobotsBytes = snap.Reports, len(snap.Robots)
		n.Policy, n.File = snap.Compiled.Hash(), snap.Compiled.FileHash()
	}
	return n
}
