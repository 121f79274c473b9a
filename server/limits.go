package server

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"log/slog"
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

// Refusals and their log lines. A Server's limits hold for all its listeners together.

// Defaults of the Server's limits.
const (
	DefaultMaxConnsPerIP = 32
	DefaultBurst         = 20

	// descriptorReserve is kept free for listeners, the watcher, logs and
	// connections that are answered at once.
	descriptorReserve = 512
	minConns          = 64

	// maxClosing bounds the connections that were answered at once and are not closed.
	maxClosing = 4096
)

// limits holds the limits of a Server, and counts its refusals.
type limits struct {
	limiter limiter
	rates   *rates
	told    *rates // sessions for telling a client that it is too fast
	logged  onceAMinute
	refused [reasons]atomic.Int64
	tops    tally.Top[netip.Addr] // address blocks that were refused
}

// admit counts a connection, or returns why there is no room for it. One that was
// admitted already keeps its place.
func (r *run) admit(c *conn, state connState) refusal {
	if c.slot != nil {
		c.slot.setState(state)
		return admitted
	}
	from := c.remote.Addr()
	s := &slot{state: state, many: r.trusts(from), unread: c.unread}
	s.evict = func() {
		if !s.lingers() {
			r.unanswered(from, madeRoom)
		}
		c.cut()
	}
	c.slot = s
	return r.limited().limiter.acquire(Block(from), s)
}

// within reports whether an address may send a request now.
func (r *run) within(a netip.Addr) bool {
	rates := r.limited().rates
	return rates == nil || r.trusts(a) || rates.take(Block(a), time.Now())
}

// tellsWhy reports whether an address that sends too many requests gets a TLS session in
// which to read so. It gets as many as it may send requests; a session is expensive.
func (r *run) tellsWhy(a netip.Addr) bool { return r.limited().told.take(Block(a), time.Now()) }

// trusts reports whether a peer may name its client in a PROXY header.
func (s *Server) trusts(a netip.Addr) bool {
	if len(s.TrustProxy) == 0 {
		return false
	}
	a = a.WithZone("") // no prefix contains an address with a zone
	return slices.ContainsFunc(s.TrustProxy, func(p netip.Prefix) bool { return p.Contains(a) })
}

// turnAway closes a connection without a request, or one that is refused, whose client
// may get a last word.
func (r *run) turnAway(c *conn, why error) {
	r.unanswered(c.remote.Addr(), why)
	c.slot.release()
	word := r.lastWord(c, refusalOf(why))
	switch {
	case len(word) > 0 && c.SetDeadline(time.Now().Add(time.Second)) == nil:
		_, _ = c.Write(word)
		_ = closeWrite(c.Conn)
	case refusalOf(why) != admitted:
		reset(c.Conn)
	}
	_ = c.Close()
}

// lastWord returns what the client of a refused connection gets: an alert if it begins
// with TLS, robots.txt if it asks for that, and an error if it asks for anything else. It
// gets nothing before its request has arrived: that may be one for robots.txt, and a
// robot would take an error as "everything is allowed".
func (r *run) lastWord(c *conn, why refusal) []byte {
	err := why.err()
	if err == nil || c.tls != nil {
		return nil
	}
	alone := r.proto != nil && r.proto.TLS
	if r.TLS != nil && (alone || r.proto == nil && len(c.head) > 0 && c.head[0] == tlsHandshake) {
		return tlsAlert
	}
	if alone || len(c.head) == 0 || startsProxy(c.head) {
		return nil
	}
	what, n, failed := r.nextLine(c)
	switch {
	case what == readMore:
		return nil
	case failed != nil:
		return r.errorBody(err)
	}
	req := new(Request)
	failed = r.parse(req, c, what, n, nil)
	quick, ok := r.handler().(Quick)
	switch {
	case !req.robots && what == httpLine:
		return httpError(err)
	case !req.robots:
		return r.errorBody(err)
	case !ok || failed != nil:
		return nil
	case what != httpLine:
		a, _ := quick.Quick(req)
		return a.Body
	}

	// Over HTTP the rest of the head names the host whose file it is.
	first, fields, _ := bytes.Cut(c.head, []byte("\n"))
	header, failed := textproto.NewReader(bufio.NewReader(bytes.NewReader(fields))).ReadMIMEHeader()
	if failed != nil {
		return nil
	}
	at := targetOf(string(first))
	if at == nil {
		return nil
	}
	req.Selector, req.ServerName = "robots.txt", (&url.URL{Host: cmp.Or(at.Host, header.Get("Host"))}).Hostname()
	a, ok := quick.Quick(req)
	if !ok || a.File != nil {
		return nil
	}
	word := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(a.Body))
	if bytes.HasPrefix(first, []byte("HEAD ")) {
		return word
	}
	return append(word, a.Body...)
}

// unanswered counts a refusal, and logs the first of each minute and address. Any other
// connection without a request is logged for debugging alone.
func (r *run) unanswered(a netip.Addr, why error) {
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
			slog.String("reason", reason.Error()), slog.Int("times", times), slog.Int64("in_all", total))
	}
}

// spareFiles closes some silent connections if the process may open no more
// files, and reports whether there were any. It logs that once a minute.
func (r *run) spareFiles(err error) bool {
	l := r.limited()
	n := l.limiter.evictIdle(16, time.Now().Add(-settling))
	if r.shed != nil {
		n += r.shed(maxClosing)
	}
	if n > 0 && l.logged.add(netip.Addr{}, time.Now()) > 0 {
		r.logger.Error("no files left for connections: closing silent ones", "error", err)
	}
	return n > 0
}

// manyConns is how many connections may stay before each gets less of the kernel's
// memory; tests change it.
var manyConns = 64

// isBusy reports whether more than manyConns connections stay.
func (s *Server) isBusy() bool {
	n, _ := s.limited().limiter.connections()
	return n > manyConns
}

// Counts are the numbers of a Server at one time.
type Counts struct {
	// Accepted is how many connections were accepted since the start.
	Accepted int64

	// Open connections, by state: waiting for the request, sending the reply, waiting
	// for the client's close. One that is answered where it was accepted is never among them.
	Reading, Writing, Lingering int

	// Refused is how many connections or requests were refused since the start,
	// by reason. All reasons are there.
	Refused map[string]int64

	// Refusers are the address blocks (an IPv4 address, a /56 of IPv6) that
	// were refused most often, at most 10, the most often first.
	Refusers []Refuser
}

// Refuser is an address block and how often it was refused, at most.
type Refuser struct {
	Block netip.Addr // its first address
	Times int64
}

// Counts returns the numbers of the server.
func (s *Server) Counts() Counts {
	l := s.limited()
	c := Counts{Accepted: s.accepted.Load(), Refused: map[string]int64{}}
	_, states := l.limiter.connections()
	c.Reading, c.Writing, c.Lingering = states[reading], states[writing], states[lingering]
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
		s.limits.limiter.total, s.limits.limiter.perBlock = s.maxConns(), s.maxConnsPerIP()
		s.limits.rates, s.limits.told = newRates(s.Rate, s.Burst), newRates(s.Rate, s.Burst)
	})
	return &s.limits
}

func (s *Server) maxConnsPerIP() int {
	if s.MaxConnsPerIP == 0 {
		return DefaultMaxConnsPerIP
	}
	return s.MaxConnsPerIP
}

// maxConns counts two descriptors for each connection: its socket and the file it is
// sent.
func (s *Server) maxConns() int {
	if s.MaxConns != 0 {
		return s.MaxConns
	}
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return minConns
	}
	const most = 1 << 18 // where files are without limit, memory is not
	return max((int(min(files.Cur, most))-descriptorReserve)/2, minConns)
}

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

// onceAMinute counts events of address blocks by the minute. The zero value is ready to use.
type onceAMinute struct {
	mu     sync.Mutex
	minute time.Time          // when it began
	now    map[netip.Addr]int // events of this minute
	before map[netip.Addr]int // of the last one that had any
}

// maxLogged bounds the table, and with it the log lines of a minute. A block that
// does not fit is counted and not named.
const maxLogged = 1024

// add counts an event of a block, and returns how many events to log now, with those that
// were not logged in the minute before; 0 for no line.
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
