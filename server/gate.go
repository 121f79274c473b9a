package server

// The gate counts the connections that stay: those that wait for their request,
// read it, reply or linger. What is answered where it was accepted never comes
// here, so the counting costs the fast path nothing.
//
// When an address has all it may have, a newcomer takes the place of one that
// only lingers. When the server is full, it takes the place of a connection of
// the address that has the most, if that is more than the newcomer's own has.
// The addresses stand in lists by how many connections they have, and a count
// changes by one at a time, so the fullest address is always at hand.

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// gate bounds the connections that stay, in all and per address block. Limits
// that are zero or less are none.
type gate struct {
	total, perBlock int

	mu      sync.Mutex
	n       int
	guests  map[netip.Addr]*guest
	ghosts  int          // connections that had to go while they were replied to, and whose goroutines are still there
	byCount []*list.List // of guests, by how many connections they have
	fullest int          // the largest count that a guest has
}

// guest is an address block with at least one connection.
type guest struct {
	block netip.Addr
	stays [phases]list.List // of stays, oldest first
	place *list.Element
}

// phase is what a connection stays for, in the order in which they have to go.
type phase int

const (
	lingers phase = iota // it had its reply
	waits                // for its request
	replies
	phases // how many there are
)

func (g *guest) count() (n int) {
	for i := range g.stays {
		n += g.stays[i].Len()
	}
	return n
}

// oldest returns the connection that is to go first, of the phases up to last.
func (g *guest) oldest(last phase) *stay {
	if g == nil {
		return nil
	}
	for i := range g.stays[:last+1] {
		if e := g.stays[i].Front(); e != nil {
			return e.Value.(*stay)
		}
	}
	return nil
}

// stay is one connection that is counted.
type stay struct {
	cut   func() // closes the connection; called at most once, with no lock held
	phase phase
	since time.Time // when it was counted

	gate  *gate
	guest *guest // nil for one that counts in all only
	place *list.Element
	left  bool
	ghost bool
}

// block is what is counted as one address: an IPv4 address, or a /64 of IPv6,
// which is what one customer gets.
func block(a netip.Addr) netip.Addr {
	if a.Is4() || !a.IsValid() {
		return a
	}
	return netip.PrefixFrom(a.WithZone(""), 64).Masked().Addr()
}

// enter counts a connection of an address block, of an invalid one in all only,
// and says why not if there is no room. When another has to go for it, that one
// was cut.
func (g *gate) enter(a netip.Addr, s *stay) refusal {
	victim, why := g.admit(a, s)
	if victim != nil {
		victim.cut()
	}
	return why
}

// count says how many connections stay.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

func (g *gate) admit(a netip.Addr, s *stay) (victim *stay, why refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own, has := g.guests[a], 0
	if own != nil {
		has = own.count()
	}
	switch {
	case own != nil && g.perBlock > 0 && has >= g.perBlock:
		victim, why = own.oldest(lingers), tooManyOfBlock
	case g.total > 0 && g.n >= g.total && has < g.fullest:
		victim = g.victim()
	case g.total > 0 && g.n >= g.total:
		victim, why = own.oldest(lingers), tooMany
	}
	if victim != nil && victim.phase == replies {
		if g.ghosts >= maxGhosts {
			return nil, tooMany
		}
		victim.ghost = true
		g.ghosts++
	}
	if victim != nil {
		victim.remove()
	} else if why != admitted {
		return nil, why
	}
	s.gate, s.since = g, time.Now()
	g.n++
	if a.IsValid() {
		s.join(a)
	}
	return victim, admitted
}

// maxGhosts bounds the ghosts, which are gone in an instant unless their
// handlers do not return. Then nobody has to go any more while he is replied to.
const maxGhosts = 256

// patience is how many of the fullest guests are looked at for one that has a
// connection without a request.
const patience = 64

// victim returns the connection that has to go when the server is full: of the
// fullest guests, the oldest without a request, or else with one.
func (g *gate) victim() *stay {
	e := g.byCount[g.fullest].Front()
	first := e.Value.(*guest)
	for range patience {
		if s := e.Value.(*guest).oldest(waits); s != nil {
			return s
		}
		if e = e.Next(); e == nil {
			break
		}
	}
	return first.oldest(replies)
}

// settling is how old a connection is before it counts as silent: the request of
// nearly all that were just accepted is on its way.
const settling = 300 * time.Millisecond

// spare cuts up to n connections that had their reply, or have been silent since
// some time, and returns how many.
func (g *gate) spare(n int, since time.Time) int {
	for i := range n {
		s := g.silent(since)
		if s == nil {
			return i
		}
		s.cut()
	}
	return n
}

// silent takes out the connection of those that is to go first: of the fullest
// guest that has one, as far as there is patience.
func (g *gate) silent(since time.Time) *stay {
	g.mu.Lock()
	defer g.mu.Unlock()
	looked := 0
	for count := g.fullest; count > 0; count-- {
		for e := g.byCount[count].Front(); e != nil; e = e.Next() {
			s := e.Value.(*guest).oldest(waits)
			if s != nil && (s.phase == lingers || s.since.Before(since)) {
				s.remove()
				return s
			}
			if looked++; looked == patience {
				return nil
			}
		}
	}
	return nil
}

// turn says that the connection stays for something else from here on.
func (s *stay) turn(p phase) {
	if s == nil || s.gate == nil {
		return
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	switch {
	case s.left:
	case s.guest == nil:
		s.phase = p
	default:
		s.list().Remove(s.place)
		s.phase = p
		s.place = s.list().PushBack(s)
	}
}

// lingering says whether the connection had its reply.
func (s *stay) lingering() bool {
	if s == nil || s.gate == nil {
		return false
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return s.phase == lingers
}

// leave ends the counting of the connection. It may be called again, and for
// one that was never counted.
func (s *stay) leave() {
	if s == nil || s.gate == nil {
		return
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	s.remove()
	if s.ghost {
		s.ghost = false
		s.gate.ghosts--
	}
}

// gone says whether the connection had to go.
func (s *stay) gone() bool {
	if s == nil || s.gate == nil {
		return false
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return s.left
}

func (s *stay) remove() {
	if s.left {
		return
	}
	s.left = true
	s.gate.n--
	if s.guest != nil {
		s.list().Remove(s.place)
		s.gate.move(s.guest, s.guest.count()+1)
	}
}

func (s *stay) join(a netip.Addr) {
	g := s.gate
	s.guest = g.guests[a]
	if s.guest == nil {
		s.guest = &guest{block: a}
		if g.guests == nil {
			g.guests = map[netip.Addr]*guest{}
		}
		g.guests[a] = s.guest
	}
	s.place = s.list().PushBack(s)
	g.move(s.guest, s.guest.count()-1)
}

func (s *stay) list() *list.List { return &s.guest.stays[s.phase] }

// move puts a guest whose count was old into the list of its count.
func (g *gate) move(gu *guest, old int) {
	if old > 0 {
		g.byCount[old].Remove(gu.place)
	}
	n := gu.count()
	for len(g.byCount) <= n {
		g.byCount = append(g.byCount, list.New())
	}
	if n == 0 {
		delete(g.guests, gu.block)
	} else {
		gu.place = g.byCount[n].PushBack(gu)
	}
	g.fullest = max(g.fullest, n)
	for g.fullest > 0 && g.byCount[g.fullest].Len() == 0 {
		g.fullest--
	}
}
