package poll

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/selector"
)

// An Event says what happened to a connection.
type Event int

// The events. After the last two the connection is closed.
const (
	Ready    Event = iota // there is something of a request, or an end
	Closed                // the client has closed it, or it was evicted
	TimedOut              // it was held for as long as that may be
)

// A Loop is one goroutine's share of a [Poller].
type Loop struct {
	p        *Poller
	accepted []*Conn // to be looked at, as are these:
	ready    []unix.EpollEvent
	late     []*Conn
	ended    []*Conn
	unread   int32 // of those accepted last: until all of them were looked at
	leads    bool
	began    time.Time // with the work that it got last
	work     int       // how many connections that were
	slow     bool      // such work took long of late

	check    func(fd uintptr) bool // asks for events
	conns    [batch]*Conn
	settling []*Conn // those whose grace is over
	room     [64]unix.EpollEvent
	buf      [selector.MaxRequest]byte
}

// batch is how many connections are accepted before they are looked at: their
// requests follow the handshake at once, but seldom as fast as we accept, and to
// register them would cost half as much as to answer them.
const batch = 16

// slow is how long a connection may take before others are let to lead meanwhile:
// more than to send 1 MiB does.
const slow = 200 * time.Microsecond

// NewLoop makes a loop.
func (p *Poller) NewLoop() *Loop {
	l := &Loop{p: p}
	l.check = func(uintptr) bool { return l.poll() }
	p.loops.Add(1)
	return l
}

// Next waits until something happens to a connection, and returns it. The error
// is io.EOF after the end, or one of accept(2): then it may be called again.
func (l *Loop) Next() (*Conn, Event, error) {
	for {
		if c, ev := l.pending(); c != nil {
			return c, ev, nil
		}
		if err := l.gather(); err != nil {
			l.stepDown()
			return nil, 0, err
		}
	}
}

// pending handles the gathered connections, and returns the next one that has an event
// to report; nil if none has.
func (l *Loop) pending() (*Conn, Event) {
	for len(l.ended) > 0 {
		c := l.ended[0]
		l.ended = l.ended[1:]
		return c, c.end()
	}
	for len(l.accepted) > 0 {
		c := l.accepted[0]
		l.accepted = l.accepted[1:]
		if ev, ok := l.read(c); ok {
			return c, ev
		}
	}
	for len(l.late) > 0 {
		c := l.late[0]
		l.late = l.late[1:]
		if ev, ok := l.read(c); ok {
			return c, ev
		}
	}
	for len(l.ready) > 0 {
		c := l.p.take(int(l.ready[0].Fd))
		l.ready = l.ready[1:]
		switch {
		case c == nil:
		case c.answered:
			if !l.drain(c) {
				return c, c.end()
			}
		default:
			if ev, ok := l.read(c); ok {
				return c, ev
			}
		}
	}
	return nil, 0
}

// read reads the bytes of a request that have arrived, or lets the connection wait. It
// returns false if there is no event to report.
func (l *Loop) read(c *Conn) (Event, bool) {
	had := copy(l.buf[:], c.head)
	n, errno := recv(c.fd, l.buf[had:])
	switch {
	case errno == unix.EAGAIN:
		c.Data = l.buf[:had]
		if !l.p.Admit(c) || c.Wait() {
			return 0, false
		}
		if c.late {
			c.Err = os.ErrDeadlineExceeded
		}
		return c.end(), true
	case errno != 0:
		c.Err = os.NewSyscallError("recv", errno)
	case n == 0 && had == 0:
		c.Err = io.EOF
	default:
		c.Data, c.Ended = l.buf[:had+n], n == 0
		return Ready, true
	}
	_ = c.Close()
	return Closed, true
}

// drain throws away what an answered client sends, and reports whether it still
// may.
func (l *Loop) drain(c *Conn) bool {
	for range 16 {
		n, err := c.recv(l.buf[:])
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil || n == 0 {
			c.Err = io.EOF
			_ = c.Close()
			return false
		}
	}
	return l.p.keep(c, lingering, c.deadline)
}

// gather leads until there is something to look at.
func (l *Loop) gather() error {
	p := l.p
	now := time.Now()
	p.unread.Add(-l.unread)
	l.unread = 0
	l.slow = p.loops.Load() > 1 && p.slowly(l.work > 0 && now.Sub(l.began) > time.Duration(l.work)*slow)
	if !l.leads {
		<-p.lead
		l.leads, now = true, time.Now()
	}
	for {
		if l.expire(now, now) {
			return io.EOF
		}
		if len(l.ended)+len(l.late) == 0 {
			if err := l.events(now); err != nil {
				return err
			}
		}
		now = time.Now()
		if l.work = len(l.ended) + len(l.late) + len(l.accepted) + len(l.ready); l.work > 0 {
			break
		}
	}
	l.began = now
	if l.slow || p.loops.Load() > 1 && len(l.accepted) == batch {
		l.stepDown()
	}
	return nil
}

// slowly records whether the last work took long, and reports whether more than two
// recent ones of any loops did: other programs may have taken their processors. While
// loops lead in turn, each request wakes two threads.
func (p *Poller) slowly(long bool) bool {
	n := p.slow.Load()
	switch {
	case long:
		n = min(n+slowFor/2, 2*slowFor)
	case n > 0:
		n--
	}
	p.slow.Store(n)
	return n > slowFor
}

// slowFor is after how many rounds of work slow ones are forgotten. Most rounds only
// find that a request has not arrived yet.
const slowFor = 64

// stepDown lets another loop lead.
func (l *Loop) stepDown() {
	if l.leads {
		l.leads = false
		l.p.lead <- struct{}{}
	}
}

// events waits for events, unless there may be more to accept, and accepts.
func (l *Loop) events(now time.Time) error {
	p := l.p
	if p.backlog {
		l.poll()
	} else if err := p.sleep(now, l.check); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return io.EOF
	}
	if !p.backlog || l.slow && len(l.ready) > 0 {
		return nil
	}
	err := l.accept()
	if err != nil && len(l.accepted)+len(l.ready) > 0 {
		return nil // it comes again
	}
	return err
}

// poll takes the events that are there, and reports whether there were any. When
// work takes long it takes one, and leaves the others to other loops.
func (l *Loop) poll() bool {
	room := l.room[:]
	if l.slow {
		room = room[:1]
	}
	n := epollWait(l.p.epoll, room)
	l.ready = room[:0]
	for _, ev := range room[:n] {
		if int(ev.Fd) == l.p.fd {
			l.p.backlog = true
		} else {
			l.ready = append(l.ready, ev)
		}
	}
	return n > 0
}

// accept accepts a batch.
func (l *Loop) accept() error {
	p := l.p
	p.mu.Lock()
	others := p.queues[closing].n
	p.mu.Unlock()
	others += int(p.unread.Load())
	most := max(1, p.room(others+batch)-others)
	if l.slow {
		most = 1
	}
	l.accepted = l.conns[:0]
	defer func() {
		l.unread = int32(len(l.accepted))
		p.unread.Add(l.unread)
		p.Accepted.Add(int64(len(l.accepted)))
		p.mu.Lock()
		p.open += len(l.accepted)
		p.mu.Unlock()
	}()
	for len(l.accepted) < most {
		fd, from, errno := accept(p.fd)
		if errno != 0 {
			p.backlog, p.drained = false, p.final
			if errno == unix.EAGAIN {
				return nil
			}
			now := time.Now()
			l.expire(now, now.Add(grace)) // what was closed meanwhile makes room
			return os.NewSyscallError("accept4", errno)
		}
		l.accepted = append(l.accepted, p.newConn(fd, from))
	}
	return nil
}

// expire ends connections whose deadline has passed, settles those whose grace ends by
// until, and reports whether the Poller is over.
func (l *Loop) expire(now, until time.Time) (over bool) {
	p := l.p
	most := p.room(2*maxClosing) / 2
	p.mu.Lock()
	for _, s := range [...]state{reading, lingering} {
		for c := p.queues[s].first; c != nil && !p.due(c).After(now); c = p.queues[s].first {
			l.timeout(c)
		}
	}
	settling := l.settling[:0]
	q := &p.queues[closing]
	for c := q.first; c != nil && (q.n > most || !c.deadline.After(until)); c = q.first {
		p.unlink(c, closing)
		settling = append(settling, c)
	}
	over = l.ends(now)
	p.mu.Unlock()
	l.settling = settling
	for _, c := range settling {
		l.settle(c)
	}
	return over && len(l.ended)+len(l.late) == 0
}

// timeout ends a connection whose time is over. One that has no request yet is
// looked at once more: on a busy machine its request may have been there for long.
func (l *Loop) timeout(c *Conn) {
	if c.held && c.answered {
		c.Err = os.ErrDeadlineExceeded
		l.p.close(c)
		l.ended = append(l.ended, c)
		return
	}
	c.queue.remove(c)
	c.late = true // it is closed when it gets back
	if c.held {
		c.held = false
		l.late = append(l.late, c)
	}
}

// settle closes a connection that the client has closed; otherwise it lingers.
func (l *Loop) settle(c *Conn) {
	n, err := c.recv(l.buf[:64])
	if open := errors.Is(err, unix.EAGAIN) || err == nil && n > 0; open {
		if l.p.Admit(c) && !l.p.keep(c, lingering, time.Now().Add(l.p.LingerTimeout)) {
			l.ended = append(l.ended, c)
		}
		return
	}
	c.Err = io.EOF
	_ = c.Close()
	switch {
	case c.Owner != nil:
		l.ended = append(l.ended, c)
	case !c.registered && len(l.p.free) < maxClosing: // no other code refers to it
		l.p.free = append(l.p.free, c)
	}
}

func (c *Conn) end() Event {
	if errors.Is(c.Err, os.ErrDeadlineExceeded) {
		return TimedOut
	}
	return Closed
}

// recv reads available bytes; it does not block.
func (c *Conn) recv(b []byte) (int, error) {
	if c.raw != nil {
		return c.recvHeld(b)
	}
	n, errno := recv(c.fd, b)
	return n, errnoErr(errno)
}

// recvHeld is recv for a socket that another goroutine may close meanwhile.
func (c *Conn) recvHeld(b []byte) (n int, err error) {
	err = c.control("recv", func(fd int) error {
		var errno unix.Errno
		n, errno = recv(fd, b)
		return errnoErr(errno)
	})
	return n, err
}
