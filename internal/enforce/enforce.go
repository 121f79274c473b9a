// Package enforce holds robots to the robots.txt that they have read. On Gopher a
// client does not say what it is. But a client that fetches robots.txt has said that it
// is a robot and what it knows: so for a day it is held to the very file that it
// got, by the rules for all robots ("*"). A client that has not fetched the file is
// never touched, whatever it asks for.
//
//	Crawl-delay, Request-rate  one request in that time, on average
//	Visit-time                 no request outside these hours
//	Disallow                   the third denied selector and all after it
//
// What goes beyond that is refused, or answered late ([Slow]). The tables are
// bounded and those of this process: replicas behind a proxy do not share them. A
// reader behind the same address as a robot (a /64 of IPv6) is held like it.
package enforce

import (
	"context"
	"fmt"
	"github.com/gophd/gophd/selector"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/tally"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Mode is what becomes of a request that a robot should not have sent.
type Mode int

// The modes.
const (
	Off    Mode = iota
	Slow        // it is answered late
	Refuse      // it is answered with an error of the kind server.Forbidden
)

// UnmarshalText reads off, slow or refuse.
func (m *Mode) UnmarshalText(text []byte) error {
	i := slices.Index([]string{"off", "slow", "refuse"}, string(text))
	if i < 0 {
		return fmt.Errorf("unknown mode %q", text)
	}
	*m = Mode(i)
	return nil
}

const (
	remembered = 24 * time.Hour   // how long a fetch of robots.txt counts (RFC 9309 section 2.4)
	forgiven   = 2                // denied selectors that a robot may ask for by mistake
	maxRobots  = 4096             // that are remembered; then the one that has fetched the file first is forgotten
	maxWaiting = 64               // requests that are made to wait at once; others are refused
	lateBy     = 10 * time.Second // how late a denied selector is answered, if no delay is asked for
	maxWait    = 30 * time.Second // the longest that a request is made to wait; more is refused
)

// An Enforcer is a Handler before that of a site. Its fields are set before it is
// used.
type Enforcer struct {
	Mode Mode
	Site *site.Site
	Next server.Handler

	// Spare are addresses that are never touched, such as those of public proxies:
	// many people come from there, and a robot may be among them.
	Spare []netip.Prefix

	now func() time.Time // for tests; if nil, time.Now

	mu      sync.Mutex
	known   map[netip.Addr]*robot
	waiting atomic.Int64

	slowed, refused atomic.Int64
	worst           tally.Top[netip.Addr]
	last            atomic.Pointer[orders]
}

// robot is a client that has fetched robots.txt.
type robot struct {
	fetched time.Time
	orders  *orders
	denied  int       // selectors that it has asked for although they are denied
	next    time.Time // when it may ask again
}

// orders are what a robots.txt says to all robots.
type orders struct {
	snap  *site.Snapshot
	rules *robots.Rules
	delay time.Duration
	rates []robots.Rate
	hours []robots.Window
}

// ServeGopher answers a request, unless a robot should not have sent it.
func (e *Enforcer) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	client := server.Block(r.Remote.Addr())
	if answer.IsRobots(r.Selector) {
		err := e.Next.ServeGopher(w, r)
		if err == nil {
			e.fetched(client)
		}
		return err
	}
	if wait, why := e.judge(client, r.Selector); why != "" {
		e.worst.Add(client)
		if e.Mode == Refuse || !e.hold(r.Context(), wait) {
			e.refused.Add(1)
			return &server.Error{Kind: server.Forbidden, Err: fmt.Errorf("a robot asks %s", why)}
		}
		e.slowed.Add(1)
	}
	return e.Next.ServeGopher(w, r)
}

// Quick answers from memory any client that is no known robot.
func (e *Enforcer) Quick(r *server.Request) (server.Answer, bool) {
	quick, ok := e.Next.(server.Quick)
	if !ok {
		return server.Answer{}, false
	}
	client := server.Block(r.Remote.Addr())
	if answer.IsRobots(r.Selector) {
		a, ok := quick.Quick(r)
		if ok {
			e.fetched(client)
		}
		return a, ok
	}
	e.mu.Lock()
	_, known := e.known[client]
	e.mu.Unlock()
	if known {
		return server.Answer{}, false
	}
	return quick.Quick(r)
}

// fetched notes that a client has got the robots.txt of now.
func (e *Enforcer) fetched(client netip.Addr) {
	snap := e.Site.Now()
	if !client.IsValid() || snap == nil || e.spared(client) {
		return
	}
	now := e.time()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known = make(map[netip.Addr]*robot)
	}
	r := e.known[client]
	if r == nil {
		e.forget(now)
		r = &robot{}
		e.known[client] = r
	}
	r.fetched, r.orders = now, e.ordersOf(snap)
}

// forget makes room for another robot.
func (e *Enforcer) forget(now time.Time) {
	if len(e.known) < maxRobots {
		return
	}
	var first netip.Addr
	for a, r := range e.known {
		if now.Sub(r.fetched) >= remembered {
			delete(e.known, a)
		} else if !first.IsValid() || r.fetched.Before(e.known[first].fetched) {
			first = a
		}
	}
	if len(e.known) >= maxRobots {
		delete(e.known, first)
	}
}

func (e *Enforcer) spared(client netip.Addr) bool {
	bits := 64
	if client.Is4() {
		bits = 32
	}
	block := netip.PrefixFrom(client, bits)
	return slices.ContainsFunc(e.Spare, func(p netip.Prefix) bool { return p.Overlaps(block) })
}

// ordersOf reads the robots.txt of a snapshot, once.
func (e *Enforcer) ordersOf(snap *site.Snapshot) *orders {
	if o := e.last.Load(); o != nil && o.snap == snap {
		return o
	}
	f := robots.Parse(robots.RFC9309, snap.Robots)
	o := &orders{snap: snap, rules: f.Agent("*")}
	o.delay, _ = f.CrawlDelay("*")
	for _, field := range f.Fields("*") {
		switch field.Name {
		case "request-rate":
			if rate, err := robots.ParseRequestRate(field.Value); err == nil {
				o.rates = append(o.rates, rate)
			}
		case "visit-time":
			if hours, err := robots.ParseVisitTime(field.Value); err == nil {
				o.hours = append(o.hours, hours)
			}
		}
	}
	e.last.Store(o)
	return o
}

// judge returns which rule a request breaks, "" for none, and for how long the robot
// should wait then. A request that breaks none is counted for the next one's delay.
func (e *Enforcer) judge(client netip.Addr, sel string) (wait time.Duration, why string) {
	now := e.time()
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.known[client]
	if r == nil {
		return 0, ""
	}
	if now.Sub(r.fetched) >= remembered {
		delete(e.known, client)
		return 0, ""
	}
	o := r.orders
	delay := o.interval(now)
	if !o.rules.Allowed(string(selector.AppendURI(nil, sel))) {
		if r.denied++; r.denied > forgiven {
			return max(delay, lateBy), "for what robots.txt denies"
		}
	}
	if len(o.hours) > 0 && !slices.ContainsFunc(o.hours, func(w robots.Window) bool { return w.Contains(now) }) {
		return max(delay, lateBy), "outside its hours"
	}
	// A tenth of the delay is for what clocks and networks add; it is not given twice.
	if early := r.next.Sub(now); early > delay/10 {
		if e.Mode == Slow && early <= maxWait {
			r.next = r.next.Add(delay)
		}
		return early, "too soon"
	}
	if r.next.Before(now) {
		r.next = now
	}
	r.next = r.next.Add(delay)
	return 0, ""
}

// interval is the time that lies between two requests.
func (o *orders) interval(now time.Time) time.Duration {
	rate, ok := robots.EffectiveRate(o.rates, now)
	if !ok {
		return o.delay
	}
	return max(o.delay, rate.Interval())
}

// hold makes a request wait, and reports whether it did so to the end.
func (e *Enforcer) hold(ctx context.Context, wait time.Duration) bool {
	if wait > maxWait || e.waiting.Add(1) > maxWaiting {
		if wait <= maxWait {
			e.waiting.Add(-1)
		}
		return false
	}
	defer e.waiting.Add(-1)
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

// Totals is what an Enforcer has done.
type Totals struct {
	Robots          int // that are known now
	Slowed, Refused int64
	Worst           []tally.Count[netip.Addr] // at most 10
}

// Totals returns what was done until now. A nil Enforcer has done nothing.
func (e *Enforcer) Totals() Totals {
	if e == nil {
		return Totals{}
	}
	e.mu.Lock()
	known := len(e.known)
	e.mu.Unlock()
	return Totals{Robots: known, Slowed: e.slowed.Load(), Refused: e.refused.Load(), Worst: e.worst.List(10)}
}
