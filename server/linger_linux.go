package server

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lingerers are connections that were just answered. Nearly all clients close
// within milliseconds, so their sockets wait in a ring, and each round of the
// accept loop looks at the oldest: closed by the client, then closed here;
// else parked in the lot, which waits for the rest of the linger time.
type lingerers struct {
	park    func(fd int, t ticket)
	timeout time.Duration

	mu   sync.Mutex
	ring [512]lingerer
	head int // the oldest
	n    int
	wake *time.Timer // sweeps when no connection comes in any more
	set  bool        // wake is
}

type lingerer struct {
	fd       int
	from     netip.AddrPort
	answered time.Time
}

// grace is what a client gets to close before its connection costs an entry
// in the lot: more than sixty busy clients on one core take.
const grace = 25 * time.Millisecond

func newLingerers(park func(int, ticket), timeout time.Duration) *lingerers {
	g := &lingerers{park: park, timeout: timeout}
	g.wake = time.AfterFunc(time.Hour, g.woken)
	return g
}

// add takes over a connection whose reply was sent: it is shut down for
// writing and closed when the client has closed it, or after the linger time.
func (g *lingerers) add(fd int, from netip.AddrPort, now time.Time) {
	if shutdownWrite(fd) != 0 {
		closeFD(fd)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n == len(g.ring) {
		g.settle(g.pop())
	}
	g.ring[(g.head+g.n)%len(g.ring)] = lingerer{fd, from, now}
	g.n++
	g.rest()
}

// rest sets the alarm, if there is somebody to wake for.
func (g *lingerers) rest() {
	if g.n > 0 && !g.set {
		g.set = true
		g.wake.Reset(2 * grace)
	}
}

func (g *lingerers) woken() {
	g.sweep(grace)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.set = false
	g.rest()
}

// sweep settles those that were answered longer ago than that.
func (g *lingerers) sweep(older time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n == 0 {
		return
	}
	now := time.Now()
	for g.n > 0 && now.Sub(g.ring[g.head].answered) > older {
		g.settle(g.pop())
	}
}

func (g *lingerers) pop() lingerer {
	c := g.ring[g.head]
	g.head = (g.head + 1) % len(g.ring)
	g.n--
	return c
}

func (g *lingerers) settle(c lingerer) {
	var buf [64]byte
	n, errno := recv(c.fd, buf[:])
	if errno == unix.EAGAIN || errno == 0 && n > 0 {
		g.park(c.fd, ticket{from: c.from, deadline: c.answered.Add(g.timeout), lingers: true})
		return
	}
	closeFD(c.fd)
}

// close settles all.
func (g *lingerers) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.n > 0 {
		g.settle(g.pop())
	}
	g.wake.Stop()
}
