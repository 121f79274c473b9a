// Package enforce makes robots obey the robots.txt that they have fetched. Gopher clients do
// not identify themselves, so it watches what an address (a /56 of IPv6) does:
//
//   - A client that fetches robots.txt without having requested a menu before knows the rules.
//     For a day it may request two selectors that this file denies to all robots ("*"). Further
//     such requests are refused or delayed.
//   - If it then requests more than 20 selectors within ten minutes, or continues after refusals,
//     it counts as a robot. Then Visit-time applies (no request outside these hours), and with
//     [Slow] also Crawl-delay and Request-rate.
//   - Fetching robots.txt alone, however often, makes no client a robot: a web page elsewhere
//     can make a reader's browser do that.
//   - A client that has not fetched robots.txt, or has requested an existing menu before, is never
//     limited.
//
// The tables are bounded and local to the process; replicas behind a proxy do not share them.
// A reader with the same address as a robot is treated like the robot.
package enforce

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/tally"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A Mode is the treatment of a request that robots.txt denies.
type Mode string

// The modes.
const (
	Off    Mode = "off"
	Slow   Mode = "slow"   // it is answered late
	Refuse Mode = "refuse" // it is answered with an error of the kind server.Forbidden
)

const (
	remembered = 24 * time.Hour   // how long a fetch of robots.txt counts (RFC 9309 section 2.4)
	forgiven   = 2                // denied selectors that are answered, and then refusals until a client is a robot
	browsing   = time.Hour        // how long a request for a menu marks the client as a person
	crawling   = 10 * time.Minute // more than crawled selectors in this time mark a robot
	crawled    = 20
	maxClients = 4096             // clients that have fetched robots.txt; the oldest is evicted
	maxReaders = 1 << 16          // clients that have requested menus; some are evicted
	maxWaiting = 64               // delayed requests; further ones are refused
	lateBy     = 10 * time.Second // delay of a denied selector if robots.txt has no Crawl-delay
	maxWait    = 30 * time.Second // longest delay; a request that needs more is refused
)

// An Enforcer is the answer.Admission of a site. Its fields must be set before it is used.
type Enforcer struct {
	Mode Mode
	Site *site.Site

	// Spare lists addresses that are never limited, such as public proxies, which many
	// people share.
	Spare []netip.Prefix

	now func() time.Time // for tests; if nil, time.Now

	mu      sync.Mutex
	known   map[netip.Addr]*fetcher
	readers map[netip.Addr]time.Time // the last menu request of other clients
	last    *siteRules               // of rulesOf
	waiting atomic.Int64

	slowed, refused atomic.Int64
	worst           tally.Top[netip.Addr]
}

// fetcher is a client that has fetched robots.txt.
type fetcher struct {
	robot   bool
	reader  bool // it had requested a menu before
	fetched time.Time
	menu    time.Time // of its last request for a menu
	rules   *siteRules
	asked   int       // requests since it fetched the file
	denied  int       // requests that the file denies
	next    time.Time // from when on a request is not delayed
}

// siteRules are the rules of a robots.txt for all robots.
type siteRules struct {
	snap  *site.Snapshot
	rules *robots.Rules
	delay time.Duration
	rates []readers.Rate
	hours []readers.Window
}

// Admit delays or refuses a request that a robot should not have sent.
func (e *Enforcer) Admit(r *server.Request) error {
	from := server.Block(r.Remote.Addr())
	if selector.IsRobots(r.Selector) {
		if _, err := e.Site.Snapshot(r.Context()); err == nil && !r.Embedded {
			e.fetched(from)
		}
		return nil
	}
	wait, why := e.judge(from, r.Selector)
	if why == "" {
		return nil
	}
	e.worst.Add(from)
	if e.Mode == Refuse || !e.delay(r.Context(), wait) {
		e.refused.Add(1)
		return &server.Error{Kind: server.Forbidden, Err: fmt.Errorf("a robot asks %s", why)}
	}
	e.slowed.Add(1)
	return nil
}

// AdmitNow reports whether the client has never fetched robots.txt or need not be limited.
func (e *Enforcer) AdmitNow(r *server.Request) bool {
	from := server.Block(r.Remote.Addr())
	if selector.IsRobots(r.Selector) {
		if e.Site.Now() == nil {
			return false
		}
		if !r.Embedded {
			e.fetched(from)
		}
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known[from] != nil {
		return false
	}
	e.read(from, r.Selector)
	return true
}

// isMenu reports whether a selector is that of an existing menu. A robot could invent others.
func (e *Enforcer) isMenu(sel string) bool {
	name, dir, err := selector.Path(sel)
	if err != nil || !dir {
		return false
	}
	snap := e.Site.Now()
	return snap != nil && snap.Tree.Has(name, true)
}

// read records that a client that has not fetched robots.txt requests a selector.
func (e *Enforcer) read(from netip.Addr, sel string) {
	if !e.isMenu(sel) || !from.IsValid() {
		return
	}
	if e.readers == nil {
		e.readers = map[netip.Addr]time.Time{}
	}
	now := e.time()
	if _, old := e.readers[from]; !old && len(e.readers) >= maxReaders {
		for a, at := range e.readers {
			if len(e.readers) < maxReaders*15/16 && now.Sub(at) < browsing {
				break
			}
			delete(e.readers, a)
		}
	}
	e.readers[from] = now
}

// fetched records that a client has fetched the current robots.txt.
func (e *Enforcer) fetched(from netip.Addr) {
	snap := e.Site.Now()
	if !from.IsValid() || snap == nil || e.spared(from) {
		return
	}
	now := e.time()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known = make(map[netip.Addr]*fetcher)
	}
	c := e.known[from]
	if c == nil {
		e.forget(now)
		c = &fetcher{menu: e.readers[from]}
		e.known[from] = c
		delete(e.readers, from)
	}
	c.reader = !c.menu.IsZero() && now.Sub(c.menu) < browsing
	c.fetched = now
	c.rules = e.rulesOf(snap)
	c.asked = 0
}

// forget makes room for another client.
func (e *Enforcer) forget(now time.Time) {
	if len(e.known) < maxClients {
		return
	}
	var first netip.Addr
	for a, c := range e.known {
		if now.Sub(c.fetched) >= remembered {
			delete(e.known, a)
		} else if !first.IsValid() || c.fetched.Before(e.known[first].fetched) {
			first = a
		}
	}
	if len(e.known) >= maxClients {
		delete(e.known, first)
	}
}

func (e *Enforcer) spared(from netip.Addr) bool {
	bits := server.BlockBits
	if from.Is4() {
		bits = 32
	}
	all := netip.PrefixFrom(from, bits)
	return slices.ContainsFunc(e.Spare, func(p netip.Prefix) bool { return p.Overlaps(all) })
}

// rulesOf parses the robots.txt of a snapshot and caches the result. e.mu must be held.
func (e *Enforcer) rulesOf(snap *site.Snapshot) *siteRules {
	if e.last != nil && e.last.snap == snap {
		return e.last
	}
	f := robots.Parse(robots.RFC9309, snap.Robots)
	o := &siteRules{snap: snap, rules: f.Agent("*")}
	o.delay, _ = f.CrawlDelay("*")
	for _, field := range f.Fields("*") {
		switch field.Name {
		case "request-rate":
			if rate, err := readers.ParseRequestRate(field.Value); err == nil {
				o.rates = append(o.rates, rate)
			}
		case "visit-time":
			if hours, err := readers.ParseVisitTime(field.Value); err == nil {
				o.hours = append(o.hours, hours)
			}
		}
	}
	e.last = o
	return o
}

// judge returns the rule that a request breaks, or "", and how long to delay it. A request
// that breaks none restarts the delay for the next one.
func (e *Enforcer) judge(from netip.Addr, sel string) (wait time.Duration, why string) {
	now := e.time()
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.known[from]
	if c == nil || now.Sub(c.fetched) >= remembered {
		delete(e.known, from)
		e.read(from, sel)
		return 0, ""
	}
	if e.isMenu(sel) {
		c.menu = now
	}
	if c.asked++; !c.reader && c.asked > crawled && now.Sub(c.fetched) <= crawling {
		c.robot = true
	}
	if c.reader && !c.robot {
		return 0, ""
	}
	delay := time.Duration(0) // the minimum time between two requests
	if e.Mode == Slow {
		delay = c.rules.delay
		if rate, ok := readers.EffectiveRate(c.rules.rates, now); ok {
			delay = max(delay, rate.Interval())
		}
	}
	if !c.rules.rules.Allowed(selector.URIPath(sel)) {
		if c.denied++; c.denied > forgiven {
			c.robot = c.robot || c.denied > 2*forgiven
			return max(delay, lateBy), "for what robots.txt denies"
		}
	}
	if !c.robot {
		return 0, ""
	}
	if o := c.rules; len(o.hours) > 0 && !slices.ContainsFunc(o.hours, func(w readers.Window) bool {
		return w.Contains(now)
	}) {
		return max(delay, lateBy), "outside its hours"
	}
	// Tolerate requests that are early by up to a tenth of the delay.
	if early := c.next.Sub(now); early > delay/10 {
		if early <= maxWait {
			c.next = c.next.Add(delay)
		}
		return early, "too soon"
	}
	if c.next.Before(now) {
		c.next = now
	}
	c.next = c.next.Add(delay)
	return 0, ""
}

// delay delays a request. It returns false if the request's context ended first.
func (e *Enforcer) delay(ctx context.Context, wait time.Duration) bool {
	if wait > maxWait {
		return false
	}
	defer e.waiting.Add(-1)
	if e.waiting.Add(1) > maxWaiting {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (e *Enforcer) time() time.Time {
	if e.now != nil {
		return e.now()
	}
	return time.Now()
}

// Totals counts an Enforcer's decisions.
type Totals struct {
	Robots          int // clients that count as robots now
	Slowed, Refused int64
	Worst           []tally.Count[netip.Addr] // at most 10
}

// Totals returns the counts since the start. They are zero for a nil Enforcer.
func (e *Enforcer) Totals() Totals {
	if e == nil {
		return Totals{}
	}
	robots := 0
	e.mu.Lock()
	for _, c := range e.known {
		if c.robot {
			robots++
		}
	}
	e.mu.Unlock()
	return Totals{
		Robots:  robots,
		Slowed:  e.slowed.Load(),
		Refused: e.refused.Load(),
		Worst:   e.worst.List(10),
	}
}
