package server

// The limiter bounds the open connections: those that wait for their request, are being
// replied to, or linger. One that is answered from memory at once is never counted.
//
// At the limit of an address, a new connection evicts one of the same address that lingers.
// When the server is full, the limiter draws eight connections at random and evicts the one
// whose address has the most connections; on a tie the one in the lowest state, then the
// oldest. A newcomer whose address has as many is refused. In simulations with 500 and with
// 65,536 hostile addresses, it cut one reply of honest clients in a hundred.

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// limiter bounds the open connections, in total and per address block.
type limiter struct {
	total, perBlock int

	mu      sync.Mutex
	slots   []*slot
	blocks  map[netip.Addr]*addrBlock
	places  int             // taken by the slots; see slot.more
	states  [connStates]int // connections in each state
	evicted int             // connections evicted during their reply whose goroutines still run

	pick func(n int) int // for tests; if nil, rand.IntN
}

// addrBlock holds the connections of one address block.
type addrBlock struct {
	addr  netip.Addr
	slots []*slot
}

// connState is the state of a connection. Lower states are evicted first.
type connState int

const (
	lingering connState = iota // after the reply
	reading                    // waiting for the request
	writing                    // during the reply
	connStates
)

// slot is the place of one connection in the limiter.
type slot struct {
	evict  func()      // closes the connection; called at most once, without a lock
	unread func() bool // reports whether unread bytes have arrived; may be nil
	state  connState
	many   bool      // the address is a proxy's that has not named its client yet
	since  time.Time // of acquire

	limiter *limiter   // nil before acquire
	block   *addrBlock // nil if only the total limit applies
	at      int        // index in limiter.slots, or -1 after release
	blockAt int        // index in block.slots
	evicted bool       // counted in limiter.evicted
	more    int        // places besides its own; see reserve
}

// refusal is the reason why a connection is turned away. It is also an error.
type refusal int

const (
	admitted refusal = iota
	tooManyOfBlock
	tooMany
	madeRoom // admitted, then evicted for another
	tooFast
	noTLS
	noHTTP
	reasons // the number of reasons
)

// Error returns the reason for the log.
func (r refusal) Error() string {
	return [reasons]string{
		"admitted", "per-address limit", "connection limit", "evicted", "rate limit",
		"TLS is not offered", "HTTP is not offered",
	}[r]
}

// refusalOf returns the refusal that err wraps, or admitted.
func refusalOf(err error) refusal {
	if err == nil {
		return admitted // and nothing is allocated
	}
	var why refusal
	errors.As(err, &why)
	return why
}

// err returns the error for the client, or nil if the client cannot be sent one.
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

// circuits has an address for each circuit of a Tor onion service
// (HiddenServiceExportCircuitID); each circuit counts as a client.
var circuits = netip.MustParsePrefix("fc00:dead:beef:4dad::/64")

// Block returns the address that identifies a client in all limits: an IPv4 address, the
// first address of its /56 of IPv6 (what a provider assigns to one customer), or the
// address of a Tor circuit.
func Block(a netip.Addr) netip.Addr {
	if a = a.Unmap(); a.Is4() || !a.IsValid() || circuits.Contains(a) {
		return a
	}
	return netip.PrefixFrom(a.WithZone(""), BlockBits).Masked().Addr()
}

// BlockBits is the length of the IPv6 prefix that counts as one client.
const BlockBits = 56

// maxEvicted bounds limiter.evicted. Goroutines of evicted connections end at once unless
// their handlers hang. At the bound, connections with a reply in progress are not evicted.
const maxEvicted = 256

// acquire admits a connection of an address block, or returns why there is no room. It may
// evict another connection. If a is invalid, only the total limit applies.
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
	case len(own) >= l.perBlock:
		if victim = oldestLingering(own); victim == nil {
			return nil, tooManyOfBlock
		}
	case l.places >= l.total:
		if victim = l.draw(a, len(own), s.many); victim == nil {
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

// draws is how many connections are compared to find one to evict.
const draws = 8

// draw returns the connection to evict from a full server for a new one of address a, which has
// own connections already, or nil if the new one is to be refused: in a flood of silent
// connections, that costs less than evicting. The address of the victim must have more
// connections, or be the same. A connection whose request has arrived is drawn again, several
// times.
func (l *limiter) draw(a netip.Addr, own int, many bool) *slot {
	for range draws {
		var victim *slot
		for range draws {
			s := l.slots[l.random(len(l.slots))]
			if victim == nil || compare(s, victim) < 0 {
				victim = s
			}
		}
		more := victim.share() > own
		same := victim.block == nil || victim.block.addr == a
		switch {
		case victim.state == writing && !(more && l.evicted < maxEvicted && !many):
			return nil
		case !more && !same:
			return nil
		case !victim.busy():
			return victim
		}
	}
	return nil
}

// compare orders connections: the one to evict first comes first.
func compare(a, b *slot) int {
	return cmp.Or(b.share()-a.share(), int(a.state-b.state), a.since.Compare(b.since))
}

// share returns the number of connections of the slot's address block.
func (s *slot) share() int {
	if s.block == nil {
		return 0
	}
	return len(s.block.slots)
}

// busy reports whether the request has arrived but was not read yet. On a busy machine the
// delay is the server's, not the client's.
func (s *slot) busy() bool {
	return s.state == reading && s.unread != nil && s.unread()
}

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

// settling is the age from which a connection without a request counts as silent. The
// requests of younger ones are probably on their way.
const settling = 300 * time.Millisecond

// evictIdle closes up to n connections that linger or are silent. It returns how many it
// closed.
func (l *limiter) evictIdle(n int) int {
	var idle []*slot
	since := time.Now().Add(-settling)
	l.mu.Lock()
	for i := 0; i < len(l.slots) && len(idle) < n; {
		s := l.slots[i]
		if s.state == lingering || s.state == reading && s.since.Before(since) && !s.busy() {
			s.remove() // moves the last slot to l.slots[i]
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

// lock locks the limiter of a slot. It returns false if the slot has none.
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
	if s.at < 0 { // evicted
		return
	}
	s.limiter.states[s.state]--
	s.limiter.states[state]++
	s.state = state
}

// reserve takes more places for the connection. Each allows for two descriptors.
func (s *slot) reserve(places int) {
	if !s.lock() {
		return
	}
	defer s.limiter.mu.Unlock()
	if s.at >= 0 {
		s.more += places
		s.limiter.places += places
	}
}

// lingers reports whether the connection is in the state lingering.
func (s *slot) lingers() bool {
	if !s.lock() {
		return false
	}
	defer s.limiter.mu.Unlock()
	return s.state == lingering
}

// release removes the connection from the limiter. It may be called again, and for a slot
// that was never acquired.
func (s *slot) release() {
	if !s.lock() {
		return
	}
	defer s.limiter.mu.Unlock()
	s.remove()
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

// connections returns the number of places taken, and of connections in each state.
func (l *limiter) connections() (places int, states [connStates]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places, l.states
}

// room returns how many more connections fit. Evicted ones count until their goroutines end.
func (l *limiter) room() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total - l.places - l.evicted
}
