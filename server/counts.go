package server

import "net/netip"

// Counts is how a Server does at one time.
type Counts struct {
	// Accepted is how many connections were accepted since the start.
	Accepted int64

	// Connections that stay, by what for. One that is answered where it was
	// accepted is never among them.
	Waiting, Replying, Lingering int

	// Refused is how many connections or requests were refused since the start,
	// by reason. All reasons are there.
	Refused map[string]int64

	// Refusers are the address blocks (an IPv4 address, a /64 of IPv6) that
	// were refused most often, at most 10, the first first.
	Refusers []Refuser
}

// Refuser is an address block and how often it was refused, at most.
type Refuser struct {
	Block netip.Addr // its first address
	Times int64
}

// Counts returns how the server does.
func (s *Server) Counts() Counts {
	g := s.guard()
	c := Counts{Accepted: s.accepted.Load(), Refused: map[string]int64{}}
	stays := g.gate.stays()
	c.Waiting, c.Replying, c.Lingering = stays[waits], stays[replies], stays[lingers]
	for why := admitted + 1; why < reasons; why++ {
		c.Refused[why.String()] = g.refused[why].Load()
	}
	for _, t := range g.refusers.List(10) {
		c.Refusers = append(c.Refusers, Refuser{t.Key, t.Times})
	}
	return c
}

// stays counts the connections that stay, by what for. Those behind a proxy
// that is trusted are counted as waiting: the gate does not follow them.
func (g *gate) stays() (n [phases]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n[waits] = g.n
	for _, guest := range g.guests {
		for p := range phases {
			k := guest.stays[p].Len()
			n[p] += k
			n[waits] -= k
		}
	}
	return n
}
