package server

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gophd/gophd/internal/tally"
)

// Defaults of the Server's limits.
const (
	DefaultMaxConnsPerIP = 32
	DefaultBurst         = 20

	// descriptorReserve is the number of descriptors kept for listeners, the watcher,
	// logs and connections that are answered at once.
	descriptorReserve = 512
	minConns          = 64

	// maxClosing bounds the connections that were answered from memory but are not
	// closed yet.
	maxClosing = 4096
)

// limits holds the limits of a Server and counts its refusals. All its listeners share them.
type limits struct {
	limiter  limiter
	rates    *rates
	tlsRates *rates // TLS sessions in which clients over the rate limit may read the error; handshakes are expensive
	logged   onceAMinute
	refused  [reasons]atomic.Int64
	tops     tally.Top[netip.Addr] // the address blocks refused most often
}

// admit admits a connection in a state, or returns why there is no room. For one that was
// admitted before, it sets the state.
func (r *run) admit(c *conn, state connState) refusal {
	if c.slot != nil {
		c.slot.setState(state)
		return admitted
	}
	from := c.remote.Addr()
	s := &slot{state: state, many: r.trusts(from), unread: c.unread}
	s.evict = func() {
		if !s.lingers() {
			r.logRefusal(from, madeRoom)
		}
		c.cut()
	}
	c.slot = s
	return r.limited().limiter.acquire(Block(from), s)
}

// allowed reports whether an address may send a request now.
func (r *run) allowed(a netip.Addr) bool {
	rates := r.limited().rates
	return rates == nil || r.trusts(a) || rates.take(Block(a), time.Now())
}

// trusts reports whether a peer may name its client in a PROXY header.
func (s *Server) trusts(a netip.Addr) bool {
	if len(s.TrustProxy) == 0 {
		return false
	}
	a = a.WithZone("") // no prefix contains an address with a zone
	return slices.ContainsFunc(s.TrustProxy, func(p netip.Prefix) bool { return p.Contains(a) })
}

// turnAway ends a connection that has sent no request or is refused. A refused client gets
// an error message where lastWord has one, and a reset otherwise.
func (r *run) turnAway(c *conn, why error) {
	r.logRefusal(c.remote.Addr(), why)
	c.slot.release()
	word := r.lastWord(c, refusalOf(why))
	switch {
	case len(word) > 0:
		_ = c.SetDeadline(time.Now().Add(time.Second))
		_, _ = c.Write(word)
		_ = closeWrite(c.Conn)
	case refusalOf(why) != admitted:
		reset(c.Conn)
	}
}

// lastWord returns what the client of a refused connection is sent: a TLS alert if it begins
// a handshake, robots.txt if it has requested that, and an error for any other request. It
// returns nothing if the request has not arrived: the client may be about to request
// robots.txt, and a robot takes an error as "everything is allowed".
func (r *run) lastWord(c *conn, why refusal) []byte {
	err := why.err()
	if err == nil || c.tls != nil {
		return nil
	}
	alone := r.proto.TLS
	if r.TLS != nil && (alone || r.isGopher() && len(c.head) > 0 && c.head[0] == tlsHandshake) {
		return tlsAlert
	}
	if alone || len(c.head) == 0 || startsProxy(c.head) {
		return nil
	}
	what, n, failed := r.nextLine(c)
	if what == readMore {
		return nil
	}
	req := new(Request)
	_ = r.parse(req, c, what, n, failed)
	quick, ok := r.proto.Handler.(Quick)
	switch {
	case !req.robots && what == httpLine:
		return httpError(err)
	case !req.robots:
		return r.proto.Error(err)
	case !ok:
		return nil
	case what != httpLine:
		a, _ := quick.Quick(req)
		return a.Body
	}

	// Over HTTP the Host field selects the robots.txt.
	first, fields, _ := bytes.Cut(c.head, []byte("\n"))
	header, failed := textproto.NewReader(bufio.NewReader(bytes.NewReader(fields))).ReadMIMEHeader()
	at := targetOf(string(first))
	if failed != nil || at == nil {
		return nil
	}
	req.Selector = "robots.txt"
	req.ServerName = (&url.URL{Host: cmp.Or(at.Host, header.Get("Host"))}).Hostname()
	a, ok := quick.Quick(req)
	if !ok || a.File != nil {
		return nil
	}
	word := fmt.Appendf(nil,
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(a.Body))
	if bytes.HasPrefix(first, []byte("HEAD ")) {
		return word
	}
	return append(word, a.Body...)
}

// logRefusal counts a refusal and logs at most one line per minute and address. A connection
// that ended without a request is logged at level Debug only.
func (r *run) logRefusal(a netip.Addr, why error) {
	reason := refusalOf(why)
	if reason == admitted {
		r.logger.Debug("no request", "remote", r.show(a), "reason", why)
		return
	}
	l := r.limited()
	total := l.refused[reason].Add(1)
	l.tops.Add(Block(a))
	if times := l.logged.add(Block(a), time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelWarn, "refused", slog.String("remote", r.show(a)),
			slog.String("reason", reason.Error()), slog.Int("times", times),
			slog.Int64("in_all", total))
	}
}

// freeDescriptors closes idle connections after the process has reached its limit of open
// files. It reports whether it closed any, and logs that at most once a minute.
func (r *run) freeDescriptors(err error) bool {
	l := r.limited()
	n := l.limiter.evictIdle(16)
	if r.shed != nil {
		n += r.shed(0)
	}
	if n > 0 && l.logged.add(netip.Addr{}, time.Now()) > 0 {
		r.logger.Error("no files left for connections: closing silent ones", "error", err)
	}
	return n > 0
}

// manyConns is the number of open connections above which each gets a smaller send buffer
// (maxUnsent). Tests change it.
var manyConns = 64

// isBusy reports whether more than manyConns connections are open.
func (s *Server) isBusy() bool {
	n, _ := s.limited().limiter.connections()
	return n > manyConns
}

// Counts are the counters of a Server at one time.
type Counts struct {
	// Accepted is the number of connections accepted since the start.
	Accepted int64

	// Open connections by state: waiting for the request, sending the reply, waiting
	// for the client's close. Connections answered from memory at once are not included.
	Reading, Writing, Lingering int

	// Refused is the number of connections or requests refused since the start, by
	// reason. Every reason has an entry.
	Refused map[string]int64

	// Refusers are the up to 10 address blocks that were refused most often, in
	// descending order.
	Refusers []Refuser
}

// Refuser is an address block that was refused.
type Refuser struct {
	Block netip.Addr // an IPv4 address, or the first address of a /56 of IPv6
	Times int64      // an upper bound
}

// Counts returns the current counters of the server.
func (s *Server) Counts() Counts {
	l := s.limited()
	c := Counts{Accepted: s.accepted.Load(), Refused: map[string]int64{}}
	_, states := l.limiter.connections()
	c.Reading = states[reading]
	c.Writing = states[writing]
	c.Lingering = states[lingering]
	for why := admitted + 1; why < reasons; why++ {
		c.Refused[why.Error()] = l.refused[why].Load()
	}
	for _, t := range l.tops.List(10) {
		c.Refusers = append(c.Refusers, Refuser{t.Key, t.Times})
	}
	return c
}

func (s *Server) limited() *limits {
	s.limitsOnce.Do(func() {
		l := &s.limits
		l.limiter.perBlock = cmp.Or(s.MaxConnsPerIP, DefaultMaxConnsPerIP)
		l.rates, l.tlsRates = newRates(s.Rate, s.Burst), newRates(s.Rate, s.Burst)

		// The default allows for two descriptors per connection: the socket and the file
		// that is sent.
		l.limiter.total = s.MaxConns
		if s.MaxConns == 0 {
			const most = 1 << 18     // bounds memory where the number of files is unlimited
			var files syscall.Rlimit // zero if it is unknown
			_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
			l.limiter.total = max((int(min(files.Cur, most))-descriptorReserve)/2, minConns)
		}
		for _, limit := range []*int{&l.limiter.perBlock, &l.limiter.total} {
			if *limit < 0 {
				*limit = math.MaxInt // there is none
			}
		}
	})
	return &s.limits
}

// rates holds the token buckets of address blocks. A bucket is described by the time when it
// will be full again (the Generic Cell Rate Algorithm).
type rates struct {
	interval time.Duration // in which a token is added
	burst    time.Duration // in which an empty bucket is filled

	mu   sync.Mutex
	full map[netip.Addr]time.Time
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
	const longest = float64(100 * 365 * 24 * time.Hour) // of a time.Duration about a third
	interval := min(float64(time.Second)/perSecond, longest)
	return &rates{
		interval: time.Duration(interval),
		burst:    time.Duration(min(interval*float64(burst), longest)),
		full:     map[netip.Addr]time.Time{},
	}
}

// take takes a token for a request of an address block, and reports whether there was one.
func (r *rates) take(a netip.Addr, now time.Time) bool {
	if !a.IsValid() {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	full, ok := r.full[a]
	if !ok {
		r.makeRoom(now)
	}
	if full.Before(now) {
		full = now
	}
	full = full.Add(r.interval)
	if full.Sub(now) > r.burst {
		return false
	}
	r.full[a] = full
	return true
}

// makeRoom deletes full buckets if there are too many buckets, and then any others until
// 15/16 of the bound are left.
func (r *rates) makeRoom(now time.Time) {
	if len(r.full) < maxBuckets {
		return
	}
	maps.DeleteFunc(r.full, func(_ netip.Addr, full time.Time) bool { return full.Before(now) })
	for a := range r.full {
		if len(r.full) < maxBuckets*15/16 {
			return
		}
		delete(r.full, a)
	}
}

// onceAMinute limits log lines to one per minute and address block. The zero value is ready
// to use.
type onceAMinute struct {
	mu     sync.Mutex
	minute time.Time          // the start of the current minute
	now    map[netip.Addr]int // events of the current minute
	before map[netip.Addr]int // events of the previous one that had any
}

// maxLogged bounds the table, and with it the log lines per minute. Events of blocks that do
// not fit are not logged.
const maxLogged = 1024

// add counts an event of a block. It returns 0 if no line may be logged now, or else the
// number of events that the line reports: those of the previous minute, at least 1.
func (o *onceAMinute) add(a netip.Addr, now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.minute) >= time.Minute {
		o.minute, o.before, o.now = now, o.now, map[netip.Addr]int{}
	}
	times := o.now[a]
	if times > 0 || len(o.now) < maxLogged {
		o.now[a] = times + 1
	}
	if times > 0 || o.now[a] == 0 {
		return 0
	}
	return max(o.before[a], 1)
}
