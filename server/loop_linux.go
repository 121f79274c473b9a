package server

// The connections of a TCP listener while they wait for their request, and after they were
// answered at once: a descriptor and a table entry each, and no goroutine.
//
//	accept → answered from memory             → closing: checked four times, then closed
//	       → nothing there yet, or part of it → waits, with epoll(7), until its deadline
//	       → anything else                    → a net.Conn with a goroutine: serve
//
// Several workers share a loop; one at a time leads, and waits for events. While it handles
// them at once it wakes no other, so an idle server costs as much as one worker. When it
// gets a full batch, or recent work took long, it lets the next worker lead before it
// starts to work. The listener is one socket with one queue, which may be inherited.

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
	// batch is how many connections are accepted before they are read: their requests
	// follow the handshake at once, but seldom as fast as we accept.
	batch = 16

	// slow is how long a connection may take before another worker leads meanwhile: more
	// than to send 1 MiB does. After slowFor rounds of work, slow ones are forgotten.
	slow    = 200 * time.Microsecond
	slowFor = 64

	// lateness is how long after its deadline a connection may be closed: so many
	// are closed at once, and an idle server sleeps.
	lateness = 100 * time.Millisecond

	// stragglers is how long after the end a handshake that was under way gets to end.
	stragglers = 50 * time.Millisecond
)

// checks are when such a connection is checked; most clients have closed by the first. The
// last is LingerTimeout.
var checks = [4]time.Duration{25 * time.Millisecond, 150 * time.Millisecond, 600 * time.Millisecond}

// closing is a connection that was answered at once.
type closing struct {
	fd     int
	remote netip.AddrPort
	at     time.Time // when it was answered
}

// place is who has a connection.
type place uint8

const (
	working place = iota // a worker
	waiting              // the table: it may be evicted, or time out
	left                 // a goroutine
	closed
)

// polled is the loop's part of a conn. Its fields after fd are guarded by the loop's mutex.
type polled struct {
	loop *loop
	fd   int

	place      place
	evicted    bool // while a worker had it
	late       bool // its deadline is over
	registered bool // with epoll; its events are off while it does not wait
	queued     bool
	deadline   time.Time
	prev, next *conn
}

// loop has the connections of one listener.
type loop struct {
	*run
	listener *os.File // nil when it was closed
	fd       int      // the listener's
	file     *os.File // the epoll instance, itself watched by the runtime's poller
	raw      syscall.RawConn
	epoll    int
	shared   bool // another process has the listener, too

	quick  Quick // nil: no reply is in memory
	failed chan error

	lead    chan struct{} // of one
	workers int
	slow    atomic.Int32 // more than slowFor: the work took long of late

	// Of the worker that leads.
	backlog bool // there may be more to accept
	final   bool // that is the last time
	drained bool // and it was done

	mu             sync.Mutex
	table          []*conn // those that wait, by descriptor
	oldest, newest *conn   // by deadline, those that workers have among them
	closing        [len(checks)][]closing
	nClosing       int
	open           int       // connections that are not closed and have not left
	alarm          time.Time // when the wait ends; zero: never
	paused         time.Time // nothing is accepted until then; zero: it is
	stopped        time.Time // when the end began
	last           time.Time // when those without a request are closed then
	woken          bool      // the wait is to end at once
	over           bool
}

// serveTCP serves l until the soft end, if it is a TCP listener, and reports
// whether it is.
func (r *run) serveTCP(l net.Listener) (bool, error) {
	shared, isShared := l.(SharedListener)
	if isShared {
		l = shared.Listener
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return false, nil
	}
	lp := &loop{run: r, shared: isShared, lead: make(chan struct{}, 1), failed: make(chan error, 1), workers: or(r.loops, runtime.GOMAXPROCS(0))}
	if err := lp.start(tcp); err != nil {
		return true, err
	}
	r.shed = lp.shed
	lp.quick, _ = r.handler().(Quick)
	if local := addrPort(tcp.Addr()); !local.Addr().IsUnspecified() {
		r.host, r.port = r.here(local)
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

// close closes all connections of the loop, and ends it.
func (l *loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeUp()
	l.over = true
}

func (l *loop) wakeUp() {
	l.woken = true
	l.ring(time.Now())
}

// ring makes the wait end at the given time at the latest: the alarm is the read deadline of
// the epoll instance.
func (l *loop) ring(at time.Time) {
	if l.over || !l.alarm.IsZero() && !at.Before(l.alarm) {
		return
	}
	l.alarm = at
	_ = l.file.SetReadDeadline(at)
}

// due returns when the time of a connection that waits is over.
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

// push puts a connection last in the list of deadlines, and remove takes it out of the list
// and the table.
func (l *loop) push(c *conn) {
	c.queued, c.prev = true, l.newest
	if l.newest != nil {
		l.newest.next = c
	} else {
		l.oldest = c
	}
	l.newest = c
}

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
	c.queued, c.prev, c.next = false, nil, nil
}

// leave takes a connection out of the loop, to a goroutine or because it is closed. It
// returns false if it was evicted meanwhile, or was closed before.
func (l *loop) leave(c *conn, to place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place == closed {
		return false
	}
	l.remove(c)
	if c.evicted {
		to = closed
	}
	c.place = to
	l.gone(1)
	return !c.evicted
}

// gone counts connections that are closed or have left.
func (l *loop) gone(n int) {
	l.open -= n
	if l.open == 0 && !l.stopped.IsZero() {
		l.wakeUp()
	}
}

// evict closes a connection to make room for another, and returns true; one that a worker
// has is closed when it is put back. For one that has left it returns false.
func (p *polled) evict() bool {
	l := p.loop
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p.place {
	case left:
		return false
	case waiting:
		l.remove(l.table[p.fd])
		p.place = closed
		poll.Close(p.fd)
		l.gone(1)
	case working:
		p.evicted = true
	}
	return true
}

// unread reports whether the client has sent something that nothing has read yet.
func (p *polled) unread() bool {
	l := p.loop
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.place == working || p.place == waiting && poll.Unread(p.fd)
}

// wait puts a connection into the table until there is something to read, or its deadline.
// It returns false if it was evicted meanwhile, or its time is over.
func (l *loop) wait(c *conn) bool {
	const events = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT // reported once, then armed again
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
	c.registered, c.place = true, waiting
	if !c.queued {
		c.deadline = c.accepted.Add(l.requestTimeout())
		l.push(c)
	}
	l.ring(l.due(c).Add(lateness))
	return true
}

// take takes over a connection that has something to read.
func (l *loop) take(fd int) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fd >= len(l.table) || l.table[fd] == nil || l.table[fd].place != waiting {
		return nil
	}
	l.table[fd].place = working
	return l.table[fd]
}

// shed closes up to n connections that were answered, the oldest first, and returns how
// many.
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
	l.gone(shed)
	return shed
}

// checkClosing checks the connections that it is time for with one recv(2), and closes those
// that their clients have closed. It adds to more those whose clients have sent more.
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
			l.ring(l.closing[i][0].at.Add(l.checkAt(i) + checks[0]/2))
		}
	}
	l.gone(had - l.nClosing - len(more))
	return more
}

// pause accepts nothing for some time.
func (l *loop) pause(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener == nil {
		return // its descriptor may be another's
	}
	l.paused = time.Now().Add(d)
	_ = l.control(unix.EPOLL_CTL_MOD, l.fd, 0)
	l.ring(l.paused)
}

// ends resumes accepting after a pause, closes the listener when its time has come, and
// everything when nothing is left, or close was called; it reports whether that was so.
func (l *loop) ends(now time.Time) bool {
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

// closeAll closes the connections that wait or were answered, when the loop is over.
func (l *loop) closeAll() {
	l.shed(math.MaxInt)
	l.mu.Lock()
	var all []*conn
	for c := l.oldest; c != nil; c = l.oldest {
		l.remove(c)
		if c.place == waiting {
			c.place = closed
			poll.Close(c.fd)
			all = append(all, c)
		}
	}
	l.mu.Unlock()
	for _, c := range all {
		c.slot.release()
		l.unanswered(c.remote.Addr(), os.ErrClosed)
	}
}

// worker is one goroutine's share of a loop.
type worker struct {
	*loop
	leads    bool
	accepted []closing // at is when
	late     []*conn
	ready    []unix.EpollEvent
	more     []closing // that were answered, and have sent more
	began    time.Time // with the work that it got last
	work     int       // how many connections that were
	isSlow   bool      // such work took long of late

	check func(fd uintptr) bool // poll
	space [batch]closing
	room  [64]unix.EpollEvent
	buf   [selector.MaxRequest]byte
	spare *conn   // for the next connection: most need none for long
	req   Request // that quick is asked about
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

// gather leads until there is something to do.
func (w *worker) gather() error {
	now := time.Now()
	w.accepted, w.ready, w.late, w.more = nil, nil, w.late[:0], w.more[:0]
	w.isSlow = w.workers > 1 && w.slowly(w.work > 0 && now.Sub(w.began) > time.Duration(w.work)*slow)
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

// slowly records whether the last work took long, and reports whether more than two
// recent ones of any workers did: other programs may have taken their processors. While
// workers lead in turn, each request wakes two threads.
func (l *loop) slowly(long bool) bool {
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

// stepDown lets another worker lead.
func (w *worker) stepDown() {
	if w.leads {
		w.leads = false
		w.lead <- struct{}{}
	}
}

// expire takes the connections whose deadline has passed, to be read once more: on a busy
// machine a request may have been there for long. It checks those that were answered, and
// reports whether the loop is over.
func (w *worker) expire(now time.Time) (over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := w.oldest; c != nil && !w.due(c).After(now); c = w.oldest {
		isWaiting := c.place == waiting
		w.remove(c)
		c.late = true
		if isWaiting {
			c.place = working
			w.late = append(w.late, c)
		}
	}
	w.more = w.checkClosing(now, w.more)
	return w.ends(now) && len(w.late)+len(w.more) == 0
}

// events waits for events, unless there may be more to accept, and accepts.
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
		return nil // it comes again
	}
	return err
}

// sleep returns when there is an event, the alarm rings, or the loop is over.
func (w *worker) sleep(now time.Time) error {
	w.mu.Lock()
	if !w.alarm.IsZero() && !w.alarm.After(now) { // it has rung
		w.alarm = time.Time{}
		_ = w.file.SetReadDeadline(time.Time{})
		w.setAlarm()
	}
	woken := w.woken
	w.woken = false
	w.mu.Unlock()
	if woken {
		return nil
	}
	return w.raw.Read(w.check)
}

// setAlarm sets the alarm for the next deadline.
func (l *loop) setAlarm() {
	if l.oldest != nil {
		l.ring(l.due(l.oldest).Add(lateness))
	}
	for i, q := range l.closing {
		if len(q) > 0 {
			l.ring(q[0].at.Add(l.checkAt(i) + checks[0]/2))
		}
	}
	if !l.paused.IsZero() {
		l.ring(l.paused)
	}
	if !l.stopped.IsZero() && l.listener != nil {
		l.ring(l.stopped.Add(stragglers))
	}
}

// poll takes the events that are there, and reports whether there were any. When
// work takes long it takes one, and leaves the others to other workers.
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

// accept accepts a batch. Those that were answered are counted in MaxConns, and go where
// there is no room for others.
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

// acceptFailed makes room, or accepts nothing for a while if the failure may pass. Any
// other failure ends Serve.
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

// read reads the bytes of a request that have arrived.
func (w *worker) read(c *conn) {
	had := copy(w.buf[:], c.head)
	n, errno := poll.Recv(c.fd, w.buf[had:])
	switch {
	case errno == unix.EAGAIN && c.late:
		w.drop(c, os.ErrDeadlineExceeded)
	case errno == unix.EAGAIN:
		w.hold(c)
	case errno != 0:
		w.drop(c, os.NewSyscallError("recv", errno))
	case n == 0 && had == 0:
		w.drop(c, io.EOF)
	default:
		c.head, c.ended = w.buf[:had+n], n == 0
		w.handle(c)
	}
}

// handle does what a connection with new bytes needs.
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
			w.hold(c)
		case what == proxyHeader:
			err = w.proxied(c, n)
			if why = refusalOf(err); why != admitted {
				w.refuse(c, why)
			} else if err != nil {
				w.goOn(c, reading, w.run.serve) // which meets it again, and answers
			} else {
				continue
			}
		case err != nil || what != requestLine:
			w.goOn(c, reading, w.run.serve)
		case !w.atHand(c, n):
			w.goOn(c, writing, w.run.serve) // its client waits, though its goroutine may begin late
		}
		return
	}
}

// newConn returns a connection, which is used again for the next one unless it is kept.
func (w *worker) newConn(a closing) *conn {
	if w.spare == nil {
		w.spare = new(conn)
	}
	*w.spare = conn{polled: polled{loop: w.loop, fd: a.fd}, accepted: a.at, remote: a.remote}
	return w.spare
}

// keep lets a connection stay beyond the work on it.
func (w *worker) keep(c *conn) {
	if c == w.spare {
		w.spare = nil
	}
}

// hold lets a connection wait for more of its request.
func (w *worker) hold(c *conn) {
	w.keep(c)
	if c.slot == nil {
		if why := w.admit(c, reading); why != admitted {
			w.refuse(c, why)
			return
		}
	}
	if !w.wait(c) {
		w.drop(c, os.ErrDeadlineExceeded)
	}
}

// drop closes a connection without a request.
func (w *worker) drop(c *conn, why error) {
	w.closeConn(c)
	w.unanswered(c.remote.Addr(), why)
}

func (w *worker) closeConn(c *conn) {
	w.leave(c, closed)
	poll.Close(c.fd)
	c.slot.release()
}

// refuse closes a connection over a limit; see lastWord. Without a word it is reset: a robot
// may take an empty reply for an empty robots.txt.
func (w *worker) refuse(c *conn, why refusal) {
	w.unanswered(c.remote.Addr(), why)
	word := w.lastWord(c, why)
	if n, _ := poll.Send(c.fd, word); n < len(word) || n == 0 || c.begun {
		_ = poll.SetReset(c.fd)
	} else {
		_ = poll.ShutdownWrite(c.fd)
	}
	w.closeConn(c)
}

// drain reads in a goroutine what the client of an answered connection still sends.
func (w *worker) drain(c *conn) {
	w.keep(c)
	if w.admit(c, lingering) != admitted { // it has what it wanted
		w.closeConn(c)
		return
	}
	w.goOn(c, lingering, func(c *conn) { w.end(c, nil) })
}

// goOn starts a goroutine for a connection, and reports whether there is room for it.
func (w *worker) goOn(c *conn, state connState, serve func(*conn)) bool {
	w.keep(c)
	if why := w.admit(c, state); why != admitted {
		w.refuse(c, why)
		return false
	}
	c.head = append([]byte(nil), c.head...)
	nc, err := poll.NewConn(c.fd, c.remote)
	if err != nil {
		w.leave(c, closed)
		c.slot.release()
		return false
	}
	c.Conn, c.socket = nc, &socket{Conn: nc}
	if !w.leave(c, left) {
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

// atHand answers a request of n bytes with a reply that the handler has in memory, and
// reports whether it has one.
func (w *worker) atHand(c *conn, n int) bool {
	if w.quick == nil || w.parse(&w.req, c, requestLine, n, nil) != nil {
		return false
	}
	a, ok := w.quick.Quick(&w.req)
	if !ok {
		return false
	}
	sent, all, err := w.send(c.fd, a)
	if err == nil && sent < all {
		w.rest(c, a, sent)
		return true // with the file
	}
	if err != nil {
		a.Err = &Error{Kind: Gone, Err: err}
		w.closeConn(c)
	} else {
		w.answered(c)
		c.slot.release()
	}
	w.ended(w.req.outcome(Served{Bytes: sent, Took: time.Since(c.accepted), Err: a.Err}))
	if a.File != nil {
		a.File.Close()
	}
	return true
}

// answered closes a connection gracefully: it shuts down the sending side, and checks later
// whether the client has closed it. A close with something unread would be a reset, which
// may cost the client the reply.
func (w *worker) answered(c *conn) {
	_ = poll.ShutdownWrite(c.fd)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remove(c)
	c.place = closed
	w.closing[0] = append(w.closing[0], closing{c.fd, c.remote, now})
	w.nClosing++
	w.ring(now.Add(checks[0] * 3 / 2))
}

// send sends as much of an answer as the socket accepts at once, and never blocks. It
// returns the number of bytes sent, and the length of the answer.
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
		sent = int64(n) // rest meets an error again, and reports it
	}
	return sent, all, nil
}

// rest sends the rest of an answer that the socket did not take at once, or that might
// block, in a goroutine.
func (w *worker) rest(c *conn, a Answer, sent int64) {
	req := w.req
	r := w.run
	c.begun = sent > 0
	began := w.goOn(c, writing, func(c *conn) {
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
