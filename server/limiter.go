package server

// The limiter bounds the connections that stay: those that wait for their request, are
// replied to, or linger. One that is answered where it was accepted is never counted.
//
// When an address has reached its limit, a new connection replaces one that lingers. When
// the server is full, eight connections are drawn, and the newcomer replaces one of the
// address that has the most; of these one in the lowest state, of these the oldest.
// Simulated with 500 and with 65,536 hostile addresses, one reply in a hundred was cut.

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// limiter bounds the connections that stay, in all and for each address block. A limit
// of zero or less is none.
type limiter struct {
	total, perBlock int

	mu      sync.Mutex
	slots   []*slot
	blocks  map[netip.Addr]*addrBlock
	places  int             // that the slots take
	states  [connStates]int // how many are in each
	evicted int             // those that were evicted while they were replied to, and whose goroutines are still there

	pick func(n int) int // for tests; if nil, rand.IntN
}

// addrBlock is an address block that has connections.
type addrBlock struct {
	addr  netip.Addr
	slots []*slot
}

// connState is the state of a connection. Lower states are evicted first.
type connState int

const (
	lingering connState = iota // it had its reply
	reading                    // its request
	writing                    // the reply
	connStates
)

// slot is the place of one connection in the limiter.
type slot struct {
	evict  func()      // closes the connection; called at most once, with no lock held
	unread func() bool // its client has sent something that nothing has read; nil: it has not
	state  connState
	many   bool      // its address stands for many clients: a proxy that has not named its client yet
	since  time.Time // when it was acquired

	limiter *limiter   // nil before acquire
	block   *addrBlock // nil for one that counts in all only
	at      int        // in the limiter's slots; -1: released
	blockAt int        // in its block
	evicted bool
	more    int // places besides its own
}

// refusal is a reason to turn a connection away, and the error of one that is.
type refusal int

const (
	admitted refusal = iota
	tooManyOfBlock
	tooMany
	madeRoom // it was admitted, and evicted for others
	tooFast
	noTLS
	noHTTP
	reasons // how many there are
)

// Error is for the log.
func (r refusal) Error() string {
	return [reasons]string{
		"admitted", "per-address limit", "connection limit", "evicted", "rate limit",
		"TLS is not offered", "HTTP is not offered",
	}[r]
}

// refusalOf returns the refusal in an error, admitted if there is none.
func refusalOf(err error) refusal {
	if err == nil {
		return admitted
	}
	var why refusal
	errors.As(err, &why)
	return why
}

// err returns the error for the client, nil if it could not read any.
func (r refusal) err() error {
	switch r {
	case tooFast:
		return errTooFast
	case admitted, noTLS, noHTTP:
		return nil
	}
	return errBusy
}

var (
	errBusy    = &Error{Kind: Busy}
	errTooFast = &Error{Kind: TooMany}
)

// circuits are the addresses by which Tor names the circuits of an onion service
// (HiddenServiceExportCircuitID): each is a client.
var circuits = netip.MustParsePrefix("fc00:dead:beef:4dad::/64")

// Block returns the address that stands for a client in all limits: an IPv4 address, the
// first address of a /56 of IPv6, which is what one customer has, or the circuit of a Tor
// client.
func Block(a netip.Addr) netip.Addr {
	if a = a.Unmap(); a.Is4() || !a.IsValid() || circuits.Contains(a) {
		return a
	}
	return netip.PrefixFrom(a.WithZone(""), BlockBits).Masked().Addr()
}

// BlockBits is the length of the prefix of IPv6 that stands for one client.
const BlockBits = 56

// maxEvicted bounds the connections that were evicted while they were replied to. Their
// goroutines end in an instant unless handlers do not return; then a connection whose
// reply has begun is no longer evicted.
const maxEvicted = 256

// acquire counts a connection of an address block, of an invalid one in all only, or
// returns why there is no room. It may have evicted another connection for this one.
func (l *limiter) acquire(a netip.Addr, s *slot) refusal {
	victim, why := l.admit(a, s)
	if victim != nil {
		victim.evict()
	}
	return why
}

func (l *limiter) admit(a netip.Addr, s *slot) (victim *slot, why refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var own []*slot
	if block := l.blocks[a]; block != nil && !s.many {
		own = block.slots
	}
	switch {
	case l.perBlock > 0 && len(own) >= l.perBlock:
		if victim = oldestLingering(own); victim == nil {
			return nil, tooManyOfBlock
		}
	case l.total > 0 && l.places >= l.total:
		victim = l.draw()
		if victim == nil || !l.yields(victim, len(own), s.many) {
			if victim = oldestLingering(own); victim == nil {
				return nil, tooMany
			}
		}
	}
	if victim != nil {
		if victim.state == writing {
			victim.evicted = true
			l.evicted++
		}
		victim.remove()
	}
	s.limiter, s.since = l, time.Now()
	s.at = len(l.slots)
	l.slots = append(l.slots, s)
	l.places++
	l.states[s.state]++
	if a.IsValid() {
		if s.block = l.blocks[a]; s.block == nil {
			s.block = &addrBlock{addr: a}
			if l.blocks == nil {
				l.blocks = map[netip.Addr]*addrBlock{}
			}
			l.blocks[a] = s.block
		}
		s.blockAt = len(s.block.slots)
		s.block.slots = append(s.block.slots, s)
	}
	return victim, admitted
}

// draws is how many connections of a full server compete for eviction.
const draws = 8

// draw returns the connection to evict from a full server, nil if the requests of those
// that it would evict have arrived and nothing has read them yet.
func (l *limiter) draw() *slot {
	for range draws {
		var victim *slot
		for range draws {
			s := l.slots[l.random(len(l.slots))]
			if victim == nil || compare(s, victim) < 0 {
				victim = s
			}
		}
		if !victim.busy() {
			return victim
		}
	}
	return nil
}

// compare orders connections by which is evicted first.
func compare(a, b *slot) int {
	return cmp.Or(b.share()-a.share(), int(a.state-b.state), a.since.Compare(b.since))
}

// share returns how many connections its address has.
func (s *slot) share() int {
	if s.block == nil {
		return 0
	}
	return len(s.block.slots)
}

// yields reports whether a victim makes room for one of an address that has own others.
func (l *limiter) yields(victim *slot, own int, many bool) bool {
	if victim.state == writing {
		return victim.share() > own && l.evicted < maxEvicted && !many
	}
	return victim.share() >= own
}

// busy reports whether its request has arrived and nothing has read it yet: on a busy
// machine, requests wait longer than clients.
func (s *slot) busy() bool { return s.state == reading && s.unread != nil && s.unread() }

func (l *limiter) random(n int) int {
	if l.pick != nil {
		return l.pick(n)
	}
	return rand.IntN(n)
}

func oldestLingering(slots []*slot) (oldest *slot) {
	for _, s := range slots {
		if s.state == lingering && (oldest == nil || s.since.Before(oldest.since)) {
			oldest = s
		}
	}
	return oldest
}

// settling is how old a connection is before it counts as silent: the request of
// nearly all that were just accepted is on its way.
const settling = 300 * time.Millisecond

// evictIdle closes up to n connections that had their reply, or have been silent since
// some time, and returns how many.
func (l *limiter) evictIdle(n int, since time.Time) int {
	var idle []*slot
	l.mu.Lock()
	for i := 0; i < len(l.slots) && len(idle) < n; {
		s := l.slots[i]
		if s.state == lingering || s.state == reading && s.since.Before(since) && !s.busy() {
			s.remove() // another takes its place in the slice
			idle = append(idle, s)
		} else {
			i++
		}
	}
	l.mu.Unlock()
	for _, s := range idle {
		s.evict()
	}
	return len(idle)
}

// lock locks the limiter of a slot, and reports whether it has one.
func (s *slot) lock() bool {
	if s == nil || s.limiter == nil {
		return false
	}
	s.limiter.mu.Lock()
	return true
}

// setState sets the state of the connection.
func (s *slot) setState(state connState) {
	if !s.lock() {
		return
	}
	defer s.limiter.mu.Unlock()
	if s.at < 0 {
		if state == lingering { // its goroutine ends; the Poller does not report evictions
			s.uncount()
		}
		return
	}
	s.limiter.states[s.state]--
	s.limiter.states[state]++
	s.state = state
}

// reserve counts more descriptors for the connection, which has two for itself and a file.
func (s *slot) reserve(descriptors int) {
	if !s.lock() {
		return
	}
	defer s.limiter.mu.Unlock()
	if s.at >= 0 {
		places := (descriptors + 1) / 2
		s.more += places
		s.limiter.places += places
	}
}

// lingers reports whether the connection had its reply.
func (s *slot) lingers() bool {
	if !s.lock() {
		return false
	}
	defer s.limiter.mu.Unlock()
	return s.state == lingering
}

// release ends the counting of the connection. It may be called again, and for one that
// was never counted.
func (s *slot) release() {
	if !s.lock() {
		return
	}
	defer s.limiter.mu.Unlock()
	s.remove()
	s.uncount()
}

// uncount ends the counting of one that was evicted while it was replied to.
func (s *slot) uncount() {
	if s.evicted {
		s.evicted = false
		s.limiter.evicted--
	}
}

func (s *slot) remove() {
	if s.at < 0 {
		return
	}
	l := s.limiter
	l.places -= 1 + s.more
	l.states[s.state]--
	last := len(l.slots) - 1
	l.slots[s.at] = l.slots[last]
	l.slots[s.at].at = s.at
	l.slots[last] = nil
	l.slots = l.slots[:last]
	s.at = -1
	if s.block == nil {
		return
	}
	own := s.block.slots
	last = len(own) - 1
	own[s.blockAt] = own[last]
	own[s.blockAt].blockAt = s.blockAt
	own[last] = nil
	s.block.slots = own[:last]
	if last == 0 {
		delete(l.blocks, s.block.addr)
	}
}

// connections returns how many places are taken, and how many connections are in each
// state.
func (l *limiter) connections() (places int, states [connStates]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places, l.states
}

// room returns how many more connections fit. Evicted ones count until they are closed.
func (l *limiter) room() int {
	if l.total <= 0 {
		return math.MaxInt
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total - l.places - l.evicted
}
