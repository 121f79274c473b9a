package poll

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Params configures a [Poller].
type Params struct {
	// ReadTimeout is the time from accept to the whole request, LingerTimeout
	// how long a client that was answered gets to close.
	ReadTimeout, LingerTimeout time.Duration

	// Admit reports whether a connection may stay that was just accepted and
	// has sent nothing, or was answered some time ago and is not closed. If not,
	// it has closed the connection.
	Admit func(*Conn) bool

	// Room returns how many connections may stay besides those that Admit admitted.
	// Connections that loops work on use it, and so do those in their grace after a
	// reply, up to half of it. When it is used up, each loop accepts one at a time, to
	// refuse it. If nil, there is no bound.
	Room func() int

	// Accepted counts the connections that were accepted.
	Accepted *atomic.Int64

	// Shared reports whether another process has the listener, too; connections
	// that wait in its queue at the end are left there.
	Shared bool
}

// A Poller holds the connections of one listener.
type Poller struct {
	Params

	listener *os.File // nil when it was closed
	fd       int      // the listener's
	file     *os.File // the epoll instance, itself watched by the runtime's poller
	raw      syscall.RawConn
	epoll    int

	// The loop that leads accepts and waits. It owns the following fields.
	lead    chan struct{} // of one
	loops   atomic.Int32
	slow    atomic.Int32 // more than slowFor: the work took long of late
	unread  atomic.Int32 // connections that loops have accepted and are at
	backlog bool         // there may be more to accept
	final   bool         // that is the last time
	drained bool         // and it was done
	free    []*Conn      // for the next ones

	mu      sync.Mutex
	conns   []*Conn // by descriptor: those that are registered and held
	queues  [lingering + 1]queue
	open    int       // connections that were accepted and are not closed
	alarm   time.Time // when the wait ends; zero: never
	paused  time.Time // nothing is accepted until then; zero: it is
	stopped time.Time // when Stop was called
	last    time.Time // when reading connections are closed then
	woken   bool      // the wait is to end at once
	over    bool
}

// queue holds connections in the order of their deadlines: all of a state have
// the same time-out.
type queue struct {
	first, last *Conn
	n           int
}

// New makes a Poller for a listener, which stays the caller's.
func New(l *net.TCPListener, conf Params) (*Poller, error) {
	p := &Poller{Params: conf, lead: make(chan struct{}, 1)}
	p.lead <- struct{}{}
	var err error
	if p.listener, err = l.File(); err != nil { // its own SyscallConn refuses to read
		return nil, fmt.Errorf("getting at the listener: %w", err)
	}
	if err = p.start(); err != nil {
		_ = p.listener.Close()
		return nil, err
	}
	return p, nil
}

func (p *Poller) start() error {
	raw, err := p.listener.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { p.fd = int(fd) })
	}
	if err != nil {
		return fmt.Errorf("getting at the listener: %w", err)
	}
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	err = unix.SetNonblock(p.epoll, true) // so that os.NewFile hands it to the runtime's poller
	p.file = os.NewFile(uintptr(p.epoll), "epoll")
	if err == nil {
		p.raw, err = p.file.SyscallConn()
	}
	if err == nil {
		err = p.control(unix.EPOLL_CTL_ADD, p.fd, unix.EPOLLIN)
	}
	if err != nil {
		_ = p.file.Close()
		return fmt.Errorf("making the poller: %w", err)
	}
	return nil
}

// room returns how many more connections may be held here, most at most.
func (p *Poller) room(most int) int {
	if p.Room == nil {
		return most
	}
	return max(0, min(most, p.Room()))
}

// newConn makes a connection of a socket.
func (p *Poller) newConn(fd int, from netip.AddrPort) *Conn {
	var c *Conn
	if last := len(p.free) - 1; last >= 0 {
		c, p.free = p.free[last], p.free[:last]
		*c = Conn{}
	} else {
		c = new(Conn)
	}
	c.poller, c.fd, c.Remote, c.Accepted = p, fd, from, time.Now()
	return c
}

// Wait takes a connection whose request is not complete: Next returns it when
// there is more. It returns false if the connection was evicted meanwhile, or its
// time is over: then it was closed.
func (c *Conn) Wait() bool {
	p := c.poller
	c.head = append(c.head[:0], c.Data...)
	return p.keep(c, reading, c.Accepted.Add(p.ReadTimeout))
}

// keep holds a connection until there is something to read, or its deadline. One
// that was held before keeps its place among the others.
func (p *Poller) keep(c *Conn, s state, deadline time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.queue == nil && !c.late {
		c.state, c.deadline = s, deadline
		p.queues[s].push(c)
	}
	if c.evicted || c.late || p.over || !p.register(c) {
		p.close(c)
		return false
	}
	return true
}

// close closes a connection unless it is closed already: its descriptor may be
// another's by then. The caller must hold the mutex, and the connection unless the
// Poller holds it.
func (p *Poller) close(c *Conn) {
	if c.state != closed {
		p.unlink(c, closed)
		_ = c.close()
	}
}

// take takes over a connection that has something to read.
func (p *Poller) take(fd int) *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fd >= len(p.conns) || p.conns[fd] == nil || !p.conns[fd].held {
		return nil
	}
	c := p.conns[fd]
	c.held = false
	return c
}

// Linger ends a connection whose reply was sent: it shuts down the sending side, and
// closes the connection when the client has, or after LingerTimeout. It returns false
// if it closed the connection at once. The caller must not use the connection any more,
// unless it has an Owner.
func (c *Conn) Linger() bool {
	p := c.poller
	err := c.CloseWrite()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.over || c.state == closed {
		p.close(c)
		return false
	}
	p.unlink(c, closing)
	c.answered, c.evicted, c.late, c.held = true, false, false, true
	c.deadline = time.Now().Add(grace)
	p.queues[closing].push(c)
	p.ring(c.deadline.Add(grace))
	return true
}

// grace is how long a client may take to close before its connection is registered:
// longer than sixty busy clients on one core take. maxClosing bounds how many have it.
const (
	grace      = 25 * time.Millisecond
	maxClosing = 512
)

// Evict closes a connection to make room for another, and returns true; one that a loop
// has is closed when it gets back. For a blocking connection it returns false.
func (c *Conn) Evict() bool {
	p := c.poller
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case c.state == blocking:
		return false
	case c.held:
		p.close(c)
	default:
		c.evicted = true
	}
	return true
}

// Unread reports whether the client has sent something that nothing has read yet.
func (c *Conn) Unread() bool {
	c.poller.mu.Lock()
	defer c.poller.mu.Unlock()
	if c.state == closed || c.state != blocking && !c.held { // a loop has it, and looks at what came
		return c.state != closed
	}
	n := 0
	err := c.control("ioctl", func(fd int) (err error) { n, err = unix.IoctlGetInt(fd, unix.SIOCINQ); return err })
	return err == nil && n > 0
}

// events are reported once, then armed again.
const events = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT

// register waits for something to read.
func (p *Poller) register(c *Conn) bool {
	op := unix.EPOLL_CTL_ADD
	if c.registered {
		op = unix.EPOLL_CTL_MOD
	}
	var err error
	if c.raw == nil {
		err = p.control(op, c.fd, events)
	} else {
		err = c.control("epoll_ctl", func(fd int) error { return p.control(op, fd, events) })
	}
	if err != nil {
		return false
	}
	for len(p.conns) <= c.fd {
		p.conns = append(p.conns, make([]*Conn, max(64, c.fd+1-len(p.conns)))...)
	}
	p.conns[c.fd] = c
	c.registered, c.held = true, true
	p.ring(c.deadline.Add(lateness))
	return true
}

// release takes a connection out of the Poller's hands, and returns false if it
// was closed already, or is to be.
func (p *Poller) release(c *Conn, to state) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.state == closed {
		return false
	}
	if to == blocking && c.evicted {
		p.unlink(c, closed)
		return false
	}
	p.unlink(c, to)
	return true
}

// unlink takes a connection out of its queue and out of the table.
func (p *Poller) unlink(c *Conn, to state) {
	if c.queue != nil {
		c.queue.remove(c)
	}
	if c.fd < len(p.conns) && p.conns[c.fd] == c {
		p.conns[c.fd] = nil
	}
	if to == closed && c.state != closed {
		p.open--
		if p.open == 0 && !p.stopped.IsZero() {
			p.wakeUp()
		}
	}
	c.state, c.held = to, false
}

func (p *Poller) control(op, fd int, events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.epoll, op, fd, &ev))
}

func (q *queue) push(c *Conn) {
	c.queue, c.prev, c.next = q, q.last, nil
	if q.last != nil {
		q.last.next = c
	} else {
		q.first = c
	}
	q.last = c
	q.n++
}

func (q *queue) remove(c *Conn) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		q.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		q.last = c.prev
	}
	c.queue, c.prev, c.next = nil, nil, nil
	q.n--
}
