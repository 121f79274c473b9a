package server

// The event loop holds the connections of a TCP listener while they wait for their request,
// and after an answer from memory until the client closes. Each costs a descriptor and a
// table entry, but no goroutine.
//
//	accept → request, and the reply is in memory → answer; closing: recheck, then close
//	       → no request yet, or a part of it     → wait with epoll(7) until the deadline
//	       → anything else                       → hand off to a goroutine (conn.go)
//
// Several workers share a loop. One of them is the leader: only the leader waits for events
// and accepts. It usually handles the events itself, then waits again, so the other workers
// sleep. When it gets a full batch, or recent requests were slow, it gives up the lead
// before it handles its events, so that another worker accepts meanwhile.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server/internal/poll"
)

const (
	// batch is how many connections are accepted before the first is read. A request
	// follows its handshake closely, but seldom as fast as the next accept.
	batch = 16

	// slow is the time per connection above which work counts as slow. Sending 1 MiB
	// takes less. One slow round makes the loop count as slow for up to slowFor rounds;
	// see recordSpeed.
	slow    = 200 * time.Microsecond
	slowFor = 64

	// lateness delays the check of deadlines, so that one wake-up serves many.
	lateness = 100 * time.Millisecond

	// stragglers is how long handshakes that are under way at the soft end may take.
	stragglers = 50 * time.Millisecond
)

// checks are the times after the reply at which an answered connection is checked for the
// client's close. Most clients have closed by the first. The last time is LingerTimeout.
var checks = [4]time.Duration{25 * time.Millisecond, 150 * time.Millisecond, 600 * time.Millisecond}

// closing is a connection that was answered from memory and whose sending side is shut down.
type closing struct {
	fd     int
	remote netip.AddrPort
	at     time.Time // of the reply
}

// phase is the owner of a connection.
type phase uint8

const (
	working  phase = iota // a worker
	waiting               // the table: it may be evicted or time out
	detached              // a goroutine
	closed
)

// polled is the event loop's part of a conn. The loop's mutex guards the fields after fd.
type polled struct {
	loop *loop
	fd   int

	phase      phase
	evicted    bool // while a worker owned it: the worker closes it
	late       bool // its deadline has passed
	registered bool // with epoll; events are disabled unless it waits
	queued     bool // in the list of deadlines
	deadline   time.Time
	prev, next *conn
}

// loop is the event loop of one listener.
type loop struct {
	*run
	listener *os.File // nil after its close
	fd       int      // of the listener
	file     *os.File // the epoll instance, which the runtime's poller waits for
	raw      syscall.RawConn
	epoll    int
	shared   bool // a SharedListener

	quick  Quick      // the handler; nil if it is not Quick
	failed chan error // the error that ends Serve

	lead    chan struct{} // a token: the worker that takes it is the leader
	workers int
	slow    atomic.Int32 // above slowFor, the loop counts as slow; see recordSpeed

	// Used by the leader only.
	backlog bool // accept(2) may return more
	final   bool // the queue is accepted for the last time
	drained bool // the final queue is empty

	mu             sync.Mutex
	table          []*conn                // waiting connections, by descriptor
	oldest, newest *conn                  // the list of deadlines, of waiting and working connections
	closing        [len(checks)][]closing // by how often they were checked
	nClosing       int                    // in all lists of closing
	open           int                    // connections that are not closed or detached
	alarm          time.Time              // when the wait ends; zero: at the next event
	paused         time.Time              // until when nothing is accepted; zero: accepting
	stopped        time.Time              // when stop was called
	last           time.Time              // the deadline for requests after stop
	woken          bool                   // the wait must end at once
	over           bool
}

// serveTCP serves l until the soft end if it is a TCP listener, and reports whether it is.
func (r *run) serveTCP(l net.Listener) (bool, error) {
	shared, isShared := l.(SharedListener)
	if isShared {
		l = shared.Listener
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return false, nil
	}
	lp := &loop{
		run:     r,
		shared:  isShared,
		lead:    make(chan struct{}, 1),
		failed:  make(chan error, 1),
		workers: or(r.loops, runtime.GOMAXPROCS(0)),
	}
	if err := lp.start(tcp); err != nil {
		return true, err
	}
	r.shed = lp.shed
	lp.quick, _ = r.handler().(Quick)
	if local := addrPort(tcp.Addr()); !local.Addr().IsUnspecified() {
		r.host, r.port = r.menuAddr(local)
		r.local = local
	}
	context.AfterFunc(r.hard, lp.close)
	if r.soft.Err() != nil {
		lp.stop() // and nothing is accepted before
	}
	lp.lead <- struct{}{}
	for range lp.workers {
		w := &worker{loop: lp}
		w.check = func(uintptr) bool { return w.poll() }
		r.conns.Go(w.serve)
	}
	var err error
	select {
	case <-r.soft.Done():
	case err = <-lp.failed:
	}
	lp.stop()
	return true, err
}

func (l *loop) start(tcp *net.TCPListener) (err error) {
	if l.listener, err = tcp.File(); err != nil { // its own SyscallConn refuses to read
		return fmt.Errorf("getting at the listener: %w", err)
	}
	raw, err := l.listener.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { l.fd = int(fd) })
	}
	if err == nil {
		l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	}
	if err != nil {
		_ = l.listener.Close()
		return fmt.Errorf("making the event loop: %w", err)
	}
	err = unix.SetNonblock(l.epoll, true) // so that os.NewFile hands it to the runtime's poller
	l.file = os.NewFile(uintptr(l.epoll), "epoll")
	if err == nil {
		l.raw, err = l.file.SyscallConn()
	}
	if err == nil {
		err = l.control(unix.EPOLL_CTL_ADD, l.fd, unix.EPOLLIN)
	}
	if err != nil {
		_ = l.file.Close()
		_ = l.listener.Close()
		return fmt.Errorf("making the event loop: %w", err)
	}
	return nil
}

func (l *loop) control(op, fd int, events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.epoll, op, fd, &ev))
}

// stop starts a graceful shutdown. Connections in the listener's queue are still accepted,
// unless the listener is shared, but no later ones; those without a request are closed
// after lastCall.
func (l *loop) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped.IsZero() || l.over {
		return
	}
	if !l.shared {
		poll.HoldNewcomers(l.fd)
	}
	l.stopped = time.Now()
	l.last = l.stopped.Add(l.lastCall())
	l.wakeUp()
}

// close makes the leader close all connections and end the loop.
func (l *loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeUp()
	l.over = true
}

func (l *loop) wakeUp() {
	l.woken = true
	l.wakeBy(time.Now())
}

// wakeBy makes the wait end at the given time at the latest: the alarm is the read deadline of
// the epoll instance.
func (l *loop) wakeBy(at time.Time) {
	if l.over || !l.alarm.IsZero() && !at.Before(l.alarm) {
		return
	}
	l.alarm = at
	_ = l.file.SetReadDeadline(at)
}

// due returns the deadline of a waiting connection.
func (l *loop) due(c *conn) time.Time {
	if !l.stopped.IsZero() && l.last.Before(c.deadline) {
		return l.last
	}
	return c.deadline
}

// checkAt returns how long after its reply a connection is checked for the i-th time.
func (l *loop) checkAt(i int) time.Duration {
	if i == len(checks)-1 {
		return l.lingerTimeout()
	}
	return min(checks[i], l.lingerTimeout())
}

// remove removes a connection from the list of deadlines and from the table.
func (l *loop) remove(c *conn) {
	if c.fd < len(l.table) && l.table[c.fd] == c {
		l.table[c.fd] = nil
	}
	if !c.queued {
		return
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.oldest = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.newest = c.prev
	}
	c.queued = false
	c.prev = nil
	c.next = nil
}

// detach removes a connection that a worker owns from the loop; to is detached or closed.
// It returns false if the connection was evicted or closed meanwhile.
func (l *loop) detach(c *conn, to phase) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.phase == closed {
		return false
	}
	l.remove(c)
	if c.evicted {
		to = closed
	}
	c.phase = to
	l.decOpen(1)
	return !c.evicted
}

// decOpen subtracts connections that were closed or detached.
func (l *loop) decOpen(n int) {
	l.open -= n
	if l.open == 0 && !l.stopped.IsZero() {
		l.wakeUp()
	}
}

// evict closes a connection to make room for another. One that a worker owns is closed when
// the worker is done with it. For a detached connection, evict returns false.
func (p *polled) evict() bool {
	l := p.loop
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p.phase {
	case detached:
		return false
	case waiting:
		l.remove(l.table[p.fd])
		p.phase = closed
		_ = poll.SetReset(p.fd) // an empty reply could be taken for an empty robots.txt
		poll.Close(p.fd)
		l.decOpen(1)
	case working:
		p.evicted = true
	}
	return true
}

// unread reports whether the client has sent bytes that no one has read yet.
func (p *polled) unread() bool {
	l := p.loop
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.phase == working || p.phase == waiting && poll.Unread(p.fd)
}

// wait puts a connection into the table until it is readable or its deadline passes. It
// returns false if the connection was evicted meanwhile, or its deadline has passed.
func (l *loop) wait(c *conn) bool {
	const events = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.evicted || c.late || l.over {
		return false
	}
	op := unix.EPOLL_CTL_ADD
	if c.registered {
		op = unix.EPOLL_CTL_MOD
	}
	if l.control(op, c.fd, events) != nil {
		return false
	}
	for len(l.table) <= c.fd {
		l.table = append(l.table, make([]*conn, max(64, c.fd+1-len(l.table)))...)
	}
	l.table[c.fd] = c
	c.registered, c.phase = true, waiting
	if !c.queued {
		c.deadline = c.accepted.Add(l.requestTimeout())
		c.queued, c.prev = true, l.newest
		if l.newest != nil {
			l.newest.next = c
		} else {
			l.oldest = c
		}
		l.newest = c
	}
	l.wakeBy(l.due(c).Add(lateness))
	return true
}

// take returns the waiting connection of a readable descriptor, which a worker now owns, or
// nil if there is none.
func (l *loop) take(fd int) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fd >= len(l.table) || l.table[fd] == nil || l.table[fd].phase != waiting {
		return nil
	}
	l.table[fd].phase = working
	return l.table[fd]
}

// shed closes up to n answered connections, the oldest first, and returns how many.
func (l *loop) shed(n int) (shed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(checks) - 1; i >= 0; i-- {
		q := l.closing[i]
		k := min(n-shed, len(q))
		for _, c := range q[:k] {
			poll.Close(c.fd)
		}
		l.closing[i] = q[:copy(q, q[k:])]
		shed += k
	}
	l.nClosing -= shed
	l.decOpen(shed)
	return shed
}

// checkClosing reads once from each answered connection that is due for a check. It closes
// those that the client has closed or that were checked for the last time, and appends to
// more those whose client has sent more.
func (l *loop) checkClosing(now time.Time, more []closing) []closing {
	var buf [512]byte
	most := maxClosing
	if total := l.limited().limiter.total; total > 0 {
		most = min(most, total/2)
	}
	had := l.nClosing
	for i := range l.closing {
		q := l.closing[i]
		k := 0
		for ; k < len(q) && now.Sub(q[k].at) >= l.checkAt(i); k++ {
			n, errno := poll.Recv(q[k].fd, buf[:])
			switch {
			case errno == 0 && n > 0:
				more = append(more, q[k])
			case errno == unix.EAGAIN && i+1 < len(checks) && l.nClosing <= most:
				l.closing[i+1] = append(l.closing[i+1], q[k])
				continue
			default:
				poll.Close(q[k].fd)
			}
			l.nClosing--
		}
		if k > 0 {
			l.closing[i] = q[:copy(q, q[k:])]
		}
		if len(l.closing[i]) > 0 {
			l.wakeBy(l.closing[i][0].at.Add(l.checkAt(i) + checks[0]/2))
		}
	}
	l.decOpen(had - l.nClosing - len(more))
	return more
}

// pause stops accepting for some time.
func (l *loop) pause(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener == nil {
		return // its descriptor may have been reused
	}
	l.paused = time.Now().Add(d)
	_ = l.control(unix.EPOLL_CTL_MOD, l.fd, 0)
	l.wakeBy(l.paused)
}

// stepStop resumes accepting after a pause and advances a shutdown. It lets the queue be
// accepted for the last time, closes the listener, and ends the loop when no connection is
// open or close was called. It reports whether the loop has ended.
func (l *loop) stepStop(now time.Time) bool {
	if !l.paused.IsZero() && !now.Before(l.paused) {
		l.paused = time.Time{}
		if l.listener != nil {
			_ = l.control(unix.EPOLL_CTL_MOD, l.fd, unix.EPOLLIN)
		}
	}
	if l.stopped.IsZero() && !l.over {
		return false
	}
	if l.listener != nil && !l.shared && !l.final && !now.Before(l.stopped.Add(stragglers)) {
		l.final, l.backlog = true, true
	}
	if l.listener != nil && (l.over || l.shared || l.drained) {
		_ = l.control(unix.EPOLL_CTL_DEL, l.fd, 0)
		_ = l.listener.Close()
		l.listener, l.backlog = nil, false
	}
	if l.listener != nil || l.open > 0 && !l.over {
		return false
	}
	l.over = true
	_ = l.file.Close()
	return true
}

// closeAll closes the waiting and the answered connections when the loop has ended.
func (l *loop) closeAll() {
	l.shed(math.MaxInt)
	l.mu.Lock()
	var all []*conn
	for c := l.oldest; c != nil; c = l.oldest {
		l.remove(c)
		if c.phase == waiting {
			c.phase = closed
			poll.Close(c.fd)
			all = append(all, c)
		}
	}
	l.mu.Unlock()
	for _, c := range all {
		c.slot.release()
		l.logRefusal(c.remote.Addr(), os.ErrClosed)
	}
}

// worker is one goroutine's share of a loop.
type worker struct {
	*loop
	leads    bool
	accepted []closing         // new connections; at is the time of accept
	late     []*conn           // connections whose deadline has passed
	ready    []unix.EpollEvent // readable connections
	more     []closing         // answered connections whose client has sent more
	began    time.Time         // when this round of work began
	work     int               // connections in this round
	isSlow   bool              // recent rounds were slow

	check func(fd uintptr) bool // calls poll
	space [batch]closing        // backs accepted
	room  [64]unix.EpollEvent   // backs ready
	buf   [selector.MaxRequest]byte
	spare *conn   // reused for the next connection unless keep was called
	req   Request // passed to quick
}

func (w *worker) serve() {
	var wait backoff
	for {
		err := w.gather()
		if errors.Is(err, io.EOF) {
			w.stepDown()
			return
		}
		if err != nil {
			w.stepDown()
			w.acceptFailed(err, &wait)
			continue
		}
		if len(w.accepted) > 0 {
			wait.reset()
		}
		for _, a := range w.accepted {
			w.read(w.newConn(a))
		}
		for _, c := range w.late {
			w.read(c)
		}
		for _, ev := range w.ready {
			if c := w.take(int(ev.Fd)); c != nil {
				w.read(c)
			}
		}
		for _, a := range w.more {
			w.drain(w.newConn(a))
		}
	}
}

// gather becomes the leader and waits until there is work. It returns io.EOF when the loop
// has ended.
func (w *worker) gather() error {
	now := time.Now()
	w.accepted, w.ready, w.late, w.more = nil, nil, w.late[:0], w.more[:0]
	w.isSlow = w.workers > 1 &&
		w.recordSpeed(w.work > 0 && now.Sub(w.began) > time.Duration(w.work)*slow)
	if !w.leads {
		<-w.lead
		w.leads, now = true, time.Now()
	}
	for {
		if w.expire(now) {
			w.closeAll()
			return io.EOF
		}
		if len(w.late)+len(w.more) == 0 {
			if err := w.events(now); err != nil {
				return err
			}
		}
		now = time.Now()
		if w.work = len(w.late) + len(w.more) + len(w.accepted) + len(w.ready); w.work > 0 {
			break
		}
	}
	w.began = now
	if w.isSlow || w.workers > 1 && len(w.accepted) == batch {
		w.stepDown()
	}
	return nil
}

// recordSpeed records whether the last round of a worker was slow, and reports whether
// several recent rounds were: in a single slow round another program may have had the
// processor. Changing the leader has a cost: each request then wakes two threads.
func (l *loop) recordSpeed(long bool) bool {
	n := l.slow.Load()
	switch {
	case long:
		n = min(n+slowFor/2, 2*slowFor)
	case n > 0:
		n--
	}
	l.slow.Store(n)
	return n > slowFor
}

// stepDown gives up the lead.
func (w *worker) stepDown() {
	if w.leads {
		w.leads = false
		w.lead <- struct{}{}
	}
}

// expire collects the connections whose deadline has passed, to be read once more: on a
// busy machine a request may have arrived in time. It also checks the answered connections.
// It reports whether the loop has ended.
func (w *worker) expire(now time.Time) (over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := w.oldest; c != nil && !w.due(c).After(now); c = w.oldest {
		isWaiting := c.phase == waiting
		w.remove(c)
		c.late = true
		if isWaiting {
			c.phase = working
			w.late = append(w.late, c)
		}
	}
	w.more = w.checkClosing(now, w.more)
	return w.stepStop(now) && len(w.late)+len(w.more) == 0
}

// events waits for events and accepts. It does not wait if accept(2) may return more.
func (w *worker) events(now time.Time) error {
	if w.backlog {
		w.poll()
	} else if err := w.sleep(now); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return io.EOF
	}
	if !w.backlog || w.isSlow && len(w.ready) > 0 {
		return nil
	}
	err := w.accept()
	if err != nil && len(w.accepted)+len(w.ready) > 0 {
		return nil // the next accept fails again
	}
	return err
}

// sleep waits for an event, the alarm or the end of the loop.
func (w *worker) sleep(now time.Time) error {
	w.mu.Lock()
	if !w.alarm.IsZero() && !w.alarm.After(now) { // it has passed: set it for the next deadline
		w.alarm = time.Time{}
		_ = w.file.SetReadDeadline(time.Time{})
		if w.oldest != nil {
			w.wakeBy(w.due(w.oldest).Add(lateness))
		}
		for i, q := range w.closing {
			if len(q) > 0 {
				w.wakeBy(q[0].at.Add(w.checkAt(i) + checks[0]/2))
			}
		}
		if !w.paused.IsZero() {
			w.wakeBy(w.paused)
		}
		if !w.stopped.IsZero() && w.listener != nil {
			w.wakeBy(w.stopped.Add(stragglers))
		}
	}
	woken := w.woken
	w.woken = false
	w.mu.Unlock()
	if woken {
		return nil
	}
	return w.raw.Read(w.check)
}

// poll takes pending events without waiting, and reports whether there were any. When work
// is slow, it takes one and leaves the others to other workers.
func (w *worker) poll() bool {
	room := w.room[:]
	if w.isSlow {
		room = room[:1]
	}
	n := poll.EpollWait(w.epoll, room)
	w.ready = room[:0]
	for _, ev := range room[:n] {
		if int(ev.Fd) == w.fd {
			w.backlog = true
		} else {
			w.ready = append(w.ready, ev)
		}
	}
	return n > 0
}

// accept accepts a batch of connections. Answered connections that the limiter has no room
// for are closed first.
func (w *worker) accept() error {
	room := max(w.limited().limiter.room()-batch, 0)
	w.mu.Lock()
	answered := w.nClosing
	w.mu.Unlock()
	if answered > room {
		w.shed(answered - room)
	}
	most := batch
	if w.isSlow {
		most = 1
	}
	w.accepted = w.space[:0]
	var failed error
	for len(w.accepted) < most {
		fd, from, errno := poll.Accept(w.fd)
		if errno != 0 {
			w.backlog, w.drained = false, w.final
			if errno != unix.EAGAIN {
				failed = os.NewSyscallError("accept4", errno)
			}
			break
		}
		w.accepted = append(w.accepted, closing{fd, from, time.Now()})
	}
	w.run.accepted.Add(int64(len(w.accepted)))
	w.mu.Lock()
	w.open += len(w.accepted)
	w.mu.Unlock()
	return failed
}

// acceptFailed frees descriptors, or pauses accepting after a temporary failure. A permanent
// failure ends Serve.
func (w *worker) acceptFailed(err error, wait *backoff) {
	d, err := w.run.acceptFailed(err, wait)
	if err != nil {
		select {
		case w.failed <- err:
		default:
		}
	}
	if d > 0 || err != nil {
		w.pause(max(d, time.Millisecond))
	}
}

// read reads the bytes that have arrived, and handles the connection.
func (w *worker) read(c *conn) {
	had := copy(w.buf[:], c.head)
	n, errno := poll.Recv(c.fd, w.buf[had:])
	switch {
	case errno == unix.EAGAIN && c.late:
		w.drop(c, os.ErrDeadlineExceeded)
	case errno == unix.EAGAIN:
		w.park(c)
	case errno != 0:
		w.drop(c, os.NewSyscallError("recv", errno))
	case n == 0 && had == 0:
		w.drop(c, io.EOF)
	default:
		c.head, c.ended = w.buf[:had+n], n == 0
		w.handle(c)
	}
}

// handle answers a request in place, parks a connection with an incomplete one, or hands the
// connection off to a goroutine.
func (w *worker) handle(c *conn) {
	if !c.local.IsValid() && !c.proxied {
		if c.local = w.local; !c.local.IsValid() {
			c.local = poll.LocalAddr(c.fd)
		}
	}
	for {
		what, n, err := w.next(c)
		switch why := refusalOf(err); {
		case why != admitted:
			w.refuse(c, why)
		case what == readMore && err == nil:
			c.head = append([]byte(nil), c.head...)
			w.park(c)
		case what == proxyHeader:
			err = w.proxied(c, n)
			if why = refusalOf(err); why != admitted {
				w.refuse(c, why)
			} else if err != nil {
				w.handOff(c, reading, w.run.serve) // serve fails in the same way, and answers
			} else {
				continue
			}
		case err != nil || what != requestLine:
			w.handOff(c, reading, w.run.serve)
		case !w.answerQuick(c, n):
			w.handOff(c, writing, w.run.serve)
		}
		return
	}
}

// newConn returns a conn that the next call reuses, unless keep was called.
func (w *worker) newConn(a closing) *conn {
	if w.spare == nil {
		w.spare = new(conn)
	}
	*w.spare = conn{
		polled:   polled{loop: w.loop, fd: a.fd},
		accepted: a.at,
		remote:   a.remote,
	}
	return w.spare
}

// keep keeps newConn from reusing a connection.
func (w *worker) keep(c *conn) {
	if c == w.spare {
		w.spare = nil
	}
}

// park admits a connection and lets it wait for the rest of its request.
func (w *worker) park(c *conn) {
	if c.slot == nil {
		if why := w.admit(c, reading); why != admitted {
			w.refuse(c, why)
			return
		}
	}
	w.keep(c)
	if !w.wait(c) {
		w.drop(c, os.ErrDeadlineExceeded)
	}
}

// drop closes a connection that has sent no request.
func (w *worker) drop(c *conn, why error) {
	w.closeConn(c)
	w.logRefusal(c.remote.Addr(), why)
}

func (w *worker) closeConn(c *conn) {
	w.detach(c, closed)
	poll.Close(c.fd)
	c.slot.release()
}

// refuse closes a connection over a limit, after an error message where lastWord has one.
// Without a message it resets the connection: a robot may take an empty reply for an empty
// robots.txt.
func (w *worker) refuse(c *conn, why refusal) {
	w.logRefusal(c.remote.Addr(), why)
	word := w.lastWord(c, why)
	if n, _ := poll.Send(c.fd, word); n < len(word) || n == 0 || c.begun {
		_ = poll.SetReset(c.fd)
	} else {
		_ = poll.ShutdownWrite(c.fd)
	}
	w.closeConn(c)
}

// drain starts a goroutine that discards what the client of an answered connection sends.
func (w *worker) drain(c *conn) {
	w.keep(c)
	if w.admit(c, lingering) != admitted { // the client has its reply
		w.closeConn(c)
		return
	}
	w.handOff(c, lingering, func(c *conn) { w.end(c, nil) })
}

// handOff starts a goroutine that serves a connection. It returns false if the connection
// was refused or evicted instead.
func (w *worker) handOff(c *conn, state connState, serve func(*conn)) bool {
	w.keep(c)
	if why := w.admit(c, state); why != admitted {
		w.refuse(c, why)
		return false
	}
	c.head = append([]byte(nil), c.head...)
	nc, err := poll.NewConn(c.fd, c.remote)
	if err != nil {
		w.detach(c, closed)
		c.slot.release()
		return false
	}
	c.Conn, c.socket = nc, &socket{Conn: nc}
	if !w.detach(c, detached) {
		_ = nc.Close()
		c.slot.release()
		return false
	}
	w.conns.Go(func() {
		defer c.release()
		serve(c)
	})
	return true
}

// answerQuick answers a request of n bytes from the memory of the handler, and reports
// whether it could.
func (w *worker) answerQuick(c *conn, n int) bool {
	if w.quick == nil || w.parse(&w.req, c, requestLine, n, nil) != nil {
		return false
	}
	a, ok := w.quick.Quick(&w.req)
	if !ok {
		return false
	}
	sent, all, err := w.send(c.fd, a)
	if err == nil && sent < all {
		w.sendRest(c, a, sent)
		return true // sendRest closes the file
	}
	if err != nil {
		a.Err = &Error{Kind: Gone, Err: err}
		w.closeConn(c)
	} else {
		w.answered(c)
		c.slot.release()
	}
	w.ended(w.req.outcome(Served{
		Bytes: sent,
		Took:  time.Since(c.accepted),
		Err:   a.Err,
	}))
	if a.File != nil {
		a.File.Close()
	}
	return true
}

// answered starts a graceful close: it shuts down the sending side and leaves the rest to
// checkClosing. Closing a socket with unread input would reset the connection, and the
// client might lose the reply.
func (w *worker) answered(c *conn) {
	_ = poll.ShutdownWrite(c.fd)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remove(c)
	c.phase = closed
	w.closing[0] = append(w.closing[0], closing{c.fd, c.remote, now})
	w.nClosing++
	w.wakeBy(now.Add(checks[0] * 3 / 2))
}

// send sends as much of an answer as the socket accepts without blocking. It returns the
// number of bytes sent and the length of the answer.
func (w *worker) send(fd int, a Answer) (sent, all int64, err error) {
	if a.File == nil {
		if len(a.Body) > maxUnsent && w.isBusy() {
			_ = poll.SetUnsent(fd, maxUnsent)
		}
		n, errno := poll.Send(fd, a.Body)
		if errno != 0 && errno != unix.EAGAIN {
			err = os.NewSyscallError("send", errno)
		}
		return int64(n), int64(len(a.Body)), err
	}
	all = a.File.Size()
	if a.File.Resident() && !w.isBusy() {
		n, _ := poll.SendFile(fd, int(a.File.Fd()), new(int64), int(min(all, maxUnsent<<8)), true)
		sent = int64(n) // if there was an error, sendRest meets it again and reports it
	}
	return sent, all, nil
}

// sendRest starts a goroutine that sends the rest of an answer.
func (w *worker) sendRest(c *conn, a Answer, sent int64) {
	req := w.req
	r := w.run
	c.begun = sent > 0
	began := w.handOff(c, writing, func(c *conn) {
		reply := r.newReply(c, &req)
		defer reply.release()
		reply.n.Store(sent)
		reply.watch()
		if a.File == nil {
			_, _ = reply.send(a.Body[sent:])
		} else {
			f := a.File.OSFile()
			if _, reply.err = f.Seek(sent, io.SeekStart); reply.err == nil {
				_, reply.err = reply.SendFile(f, a.File.Size()-sent)
			}
			_ = f.Close()
		}
		reply.end(reply.err, a.Err)
	})
	if !began && a.File != nil {
		a.File.Close()
	}
}
