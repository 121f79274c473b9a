package server

// The limiter counts the connections that stay: those that wait for their
// request, are replied to, or linger. One that is answered where it was accepted
// and closes at once is never counted, so the counting costs it nothing.
//
// When an address has reached its limit, a new connection replaces one that only
// lingers. When the server is full, it replaces a connection of the address that has
// the most, if that is more than its own address has. The addresses stand in lists by
// how many connections they have, and a count changes by one at a time, so the address
// with the most is always known.

import (
	"container/list"
	"errors"
	"math"
	"net/netip"
	"sync"
	"time"
)

// limiter bounds the connections that stay, in all and for each address block. A limit
// of zero or less is none.
type limiter struct {
	total, perBlock int

	mu      sync.Mutex
	n       int
	states  [connStates]int // how many are in each
	blocks  map[netip.Addr]*addrBlock
	evicted int          // those that were evicted while they were replied to, and whose goroutines are still there
	byCount []*list.List // of blocks, by how many connections they have
	most    int          // connections of a block
}

// addrBlock is an address block that has connections.
type addrBlock struct {
	addr  netip.Addr
	slots [connStates]list.List // oldest first
	place *list.Element
	n     int // connections
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
	since  time.Time // when it was admitted

	limiter *limiter
	block   *addrBlock // nil for one that counts in all only
	place   *list.Element
	left    bool
	evicted bool
	more    int // for how many others it counts in all
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
		"admitted", "connections of the address", "connections in all", "made room for others", "rate of the address",
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

// Block returns the address that stands for a client in all limits: an IPv4 address,
// the first address of a /64 of IPv6 (one customer's), or the circuit of a Tor client.
func Block(a netip.Addr) netip.Addr { return BlockOf(a, 64) }

// BlockOf is Block with another size for IPv6.
func BlockOf(a netip.Addr, bits int) netip.Addr {
	if a = a.Unmap(); a.Is4() || !a.IsValid() || circuits.Contains(a) {
		return a
	}
	return netip.PrefixFrom(a.WithZone(""), bits).Masked().Addr()
}

// enter counts a connection of an address block, of an invalid one in all only, or
// returns why there is no room. It may have evicted another connection for this one.
func (l *limiter) enter(a netip.Addr, s *slot) refusal {
	victim, why := l.admit(a, s)
	if victim != nil {
		victim.evict()
	}
	return why
}

func (l *limiter) admit(a netip.Addr, s *slot) (victim *slot, why refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own, has := l.blocks[a], 0
	if own != nil && !s.many {
		has = own.n
	}
	switch {
	case l.perBlock > 0 && has >= l.perBlock:
		victim, why = own.oldest(lingering), tooManyOfBlock
	case l.total > 0 && l.n >= l.total && has < l.most:
		victim = l.victim()
	case l.total > 0 && l.n >= l.total:
		victim, why = own.oldest(lingering), tooMany
	}
	if victim != nil && victim.state == writing {
		if l.evicted >= maxEvicted || s.many {
			return nil, tooMany
		}
		victim.evicted = true
		l.evicted++
	}
	if victim != nil {
		victim.remove()
	} else if why != admitted {
		return nil, why
	}
	s.limiter, s.since = l, time.Now()
	l.n++
	l.states[s.state]++
	if a.IsValid() {
		s.join(a)
	}
	return victim, admitted
}

// maxEvicted bounds the connections that were evicted while they were replied
// to. Their goroutines end in an instant unless handlers do not return; then
// a connection whose reply has begun is no longer evicted.
const maxEvicted = 256

// maxSearch is how many blocks are searched for a connection without a request.
const maxSearch = 64

// victim returns the connection to evict from a full server: in the blocks that have
// the most, the oldest without a request, or else with one.
func (l *limiter) victim() *slot {
	e := l.byCount[l.most].Front()
	first := e.Value.(*addrBlock)
	for range maxSearch {
		if s := e.Value.(*addrBlock).silent(); s != nil {
			return s
		}
		if e = e.Next(); e == nil {
			break
		}
	}
	return first.oldest(writing)
}

// settling is how old a connection is before it counts as silent: the request of
// nearly all that were just accepted is on its way.
const settling = 300 * time.Millisecond

// spare closes up to n connections that had their reply, or have been silent
// since some time, and returns how many.
func (l *limiter) spare(n int, since time.Time) int {
	for i := range n {
		s := l.silent(since)
		if s == nil {
			return i
		}
		s.evict()
	}
	return n
}

// silent removes and returns the connection for spare to close first: from the block
// with the most connections that has one, among the first maxSearch blocks. It returns
// nil if there is none.
func (l *limiter) silent(since time.Time) *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	searched := 0
	for count := l.most; count > 0; count-- {
		for e := l.byCount[count].Front(); e != nil; e = e.Next() {
			s := e.Value.(*addrBlock).silent()
			if s != nil && (s.state == lingering || s.since.Before(since)) {
				s.remove()
				return s
			}
			if searched++; searched == maxSearch {
				return nil
			}
		}
	}
	return nil
}

// turn sets the state of the connection.
func (s *slot) turn(state connState) {
	if s == nil || s.limiter == nil {
		return
	}
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	if s.state == state && !s.left {
		return // a client that sends a byte now and then keeps its age
	}
	if s.left {
		if state == lingering { // its goroutine ends; the Poller does not report evictions
			s.uncount()
		}
		return
	}
	s.limiter.states[s.state]--
	s.limiter.states[state]++
	if s.block != nil {
		s.list().Remove(s.place)
	}
	s.state = state
	if s.block != nil {
		s.place = s.list().PushBack(s)
	}
}

// hold counts more descriptors for the connection, which has two for itself and a file.
func (s *slot) hold(descriptors int) {
	if s == nil || s.limiter == nil {
		return
	}
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	if !s.left {
		more := (descriptors + 1) / 2
		s.more += more
		s.limiter.n += more
	}
}

// lingers reports whether the connection had its reply.
func (s *slot) lingers() bool {
	if s == nil || s.limiter == nil {
		return false
	}
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	return s.state == lingering
}

// leave ends the counting of the connection. It may be called again, and for
// one that was never counted.
func (s *slot) leave() {
	if s == nil || s.limiter == nil {
		return
	}
	s.limiter.mu.Lock()
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
	if s.left {
		return
	}
	s.left = true
	s.limiter.n -= 1 + s.more
	s.limiter.states[s.state]--
	if s.block != nil {
		s.list().Remove(s.place)
		s.limiter.count(s.block, -1)
	}
}

func (s *slot) join(a netip.Addr) {
	l := s.limiter
	s.block = l.blocks[a]
	if s.block == nil {
		s.block = &addrBlock{addr: a}
		if l.blocks == nil {
			l.blocks = map[netip.Addr]*addrBlock{}
		}
		l.blocks[a] = s.block
	}
	s.place = s.list().PushBack(s)
	l.count(s.block, 1)
}

func (s *slot) list() *list.List { return &s.block.slots[s.state] }

// count adds to the number of a block's connections, and moves it into the list
// of that number.
func (l *limiter) count(b *addrBlock, by int) {
	if b.n > 0 {
		l.byCount[b.n].Remove(b.place)
	}
	b.n += by
	for len(l.byCount) <= b.n {
		l.byCount = append(l.byCount, list.New())
	}
	if b.n == 0 {
		delete(l.blocks, b.addr)
	} else {
		b.place = l.byCount[b.n].PushBack(b)
	}
	l.most = max(l.most, b.n)
	for l.most > 0 && l.byCount[l.most].Len() == 0 {
		l.most--
	}
}

// connections returns how many stay, in all and in each state.
func (l *limiter) connections() (all int, states [connStates]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n, l.states
}

// room returns how many more connections fit. Evicted ones count until they are closed.
func (l *limiter) room() int {
	if l.total <= 0 {
		return math.MaxInt
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total - l.n - l.evicted
}

// maxLooks is at how many connections of a block silent looks.
const maxLooks = 4

// silent returns the oldest connection without a request, nil if there is none: where the
// machine has much to do, requests arrive that nothing has read yet.
func (b *addrBlock) silent() *slot {
	if s := b.oldest(lingering); s != nil {
		return s
	}
	e := b.slots[reading].Front()
	for range maxLooks {
		if e == nil {
			break
		}
		if s := e.Value.(*slot); s.unread == nil || !s.unread() {
			return s
		}
		e = e.Next()
	}
	return nil
}

// oldest returns the connection to evict first, in the states up to last; nil if none.
func (b *addrBlock) oldest(last connState) *slot {
	if b == nil {
		return nil
	}
	for i := range b.slots[:last+1] {
		if e := b.slots[i].Front(); e != nil {
			return e.Value.(*slot)
		}
	}
	return nil
}
