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
// sleep. When more connections may be in the queue, or recent requests were slow, it gives up
// the lead before it handles its events, so that another worker accepts meanwhile.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
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
	// see gather.
	slow    = 200 * time.Microsecond
	slowFor = 64

	// tick is how often look checks what depends on the time. Most clients have closed
	// an answered connection by the first tick.
	tick = 25 * time.Millisecond

	// lateness is how often deadlines are checked.
	lateness = 4 * tick

	// stragglers is how long handshakes that are under way at the soft end may take.
	stragglers = 2 * tick
)

// phase is the owner of a connection.
type phase uint8

const (
	working  phase = iota // a worker; the loop: it was answered; or nobody: it is closed
	waiting               // loop.table: it may be evicted or time out
	detached              // a goroutine
)

// polled is the event loop's part of a conn. The loop's mutex guards the fields after fd.
type polled struct {
	loop *loop
	fd   int

	phase      phase
	evicted    bool // while a worker owned it: the worker closes it
	registered bool // with epoll; events are disabled unless it waits

	// Once it is answered from memory and its sending side is shut down:
	answered time.Time
	wait     time.Duration // from then until it is checked for the client's close
}

// loop is the event loop of one listener.
type loop struct {
	*run
	file   *os.File // the epoll instance, which the runtime's poller waits for
	raw    syscall.RawConn
	epoll  int
	shared bool // a SharedListener

	fail context.CancelCauseFunc // ends Serve

	lead    chan struct{} // a token: the worker that takes it is the leader
	workers int
	slow    atomic.Int32 // above slowFor, the loop counts as slow; see gather

	// Used by the leader only.
	fd      int       // of the listener; -1 after its close
	backlog bool      // accept(2) may return more
	paused  time.Time // until when nothing is accepted

	mu      sync.Mutex
	table   []*conn   // waiting connections, by descriptor
	closing []*conn   // answered connections, in the order of their replies
	open    int       // connections that are not closed or detached
	alarm   time.Time // when look checks again; zero: there is nothing to check
	checked time.Time // when deadlines were checked
	stopped time.Time // when stop was called
	over    bool
}

// serveListener serves l until the soft end: with the event loop if it is a TCP listener.
func (r *run) serveListener(l net.Listener) error {
	shared, isShared := l.(SharedListener)
	if isShared {
		l = shared.Listener
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return r.acceptAll(l)
	}
	serving, fail := context.WithCancelCause(r.soft)
	lp := &loop{
		run:     r,
		shared:  isShared,
		lead:    make(chan struct{}, 1),
		fail:    fail,
		workers: runtime.GOMAXPROCS(0),
	}
	if err := lp.start(tcp); err != nil {
		return fmt.Errorf("making the event loop: %w", err)
	}
	r.shed = lp.shed
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
	<-serving.Done()
	lp.stop()
	return context.Cause(serving)
}

func (l *loop) start(tcp *net.TCPListener) (err error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		l.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		poll.Close(l.fd)
		return err
	}
	_ = unix.SetNonblock(l.epoll, true) // so that os.NewFile hands it to the runtime's poller
	l.file = os.NewFile(uintptr(l.epoll), "epoll")
	l.raw, _ = l.file.SyscallConn() // fails only for a nil *os.File
	err = l.control(unix.EPOLL_CTL_ADD, l.fd, unix.EPOLLIN|unix.EPOLLET)
	if err != nil {
		_ = l.file.Close()
		poll.Close(l.fd)
	}
	return err
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
	if !l.shared {
		poll.HoldNewcomers(l.fd)
	}
	l.stopped = time.Now()
	l.lookAt(l.stopped)
}

// close makes the leader close all connections and end the loop.
func (l *loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.lookAt(time.Now())
}

// lookAt makes the leader call look at the given time, or earlier: the read deadline of the
// epoll instance wakes it.
func (l *loop) lookAt(at time.Time) {
	if l.alarm.IsZero() || at.Before(l.alarm) {
		l.alarm = at
		_ = l.file.SetReadDeadline(at)
	}
}

// overdue reports whether a connection has had its time to send a request.
func (l *loop) overdue(c *conn, now time.Time) bool {
	return l.over || now.Sub(c.accepted) >= l.requestTimeout() ||
		!l.stopped.IsZero() && now.Sub(l.stopped) >= l.lastCall()
}

// detach removes a connection that a worker owns from the loop. It returns false if the
// connection was evicted meanwhile.
func (l *loop) detach(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if !c.evicted {
		c.phase = detached
	}
	return !c.evicted
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
		l.table[p.fd] = nil
		l.open--
		_ = poll.SetReset(p.fd) // an empty reply could be taken for an empty robots.txt
		poll.Close(p.fd)
	}
	p.phase, p.evicted = working, true
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

// wait lets a connection wait until it is readable or its deadline has passed. It returns
// false if the connection was evicted meanwhile, or its deadline has passed.
func (l *loop) wait(c *conn) bool {
	const events = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	op := unix.EPOLL_CTL_ADD
	if c.registered {
		op = unix.EPOLL_CTL_MOD
	}
	if c.evicted || l.overdue(c, now) || l.control(op, c.fd, events) != nil {
		return false
	}
	c.registered = true
	c.phase = waiting
	if c.fd >= len(l.table) {
		l.table = append(l.table, make([]*conn, c.fd+1)...)
	}
	l.table[c.fd] = c
	l.lookAt(now.Add(tick))
	return true
}

// shed closes the oldest answered connections, but for keep of them, and returns how many.
func (l *loop) shed(keep int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := max(len(l.closing)-keep, 0)
	for _, c := range l.closing[:n] {
		poll.Close(c.fd)
	}
	l.closing = slices.Delete(l.closing, 0, n)
	l.open -= n
	return n
}

// worker is one goroutine's share of a loop.
type worker struct {
	*loop
	leads  bool
	ready  []*conn   // accepted or readable connections, and those whose deadline has passed
	began  time.Time // when this round of work began
	isSlow bool      // recent rounds were slow

	check func(fd uintptr) bool // calls poll
	room  [64]unix.EpollEvent   // for poll
	buf   [selector.MaxRequest]byte
	req   Request // passed to quick
}

func (w *worker) serve() {
	for w.gather() {
		for _, c := range w.ready {
			w.read(c)
		}
	}
	w.stepDown()
}

// gather becomes the leader and waits until there is work. It returns false when the loop
// has ended.
func (w *worker) gather() bool {
	// Work is slow if several recent rounds were: in a single one another program may have had
	// the processor. Changing the leader has a cost: each request then wakes two threads.
	rounds := w.slow.Load()
	if time.Since(w.began) > time.Duration(len(w.ready))*slow && len(w.ready) > 0 {
		rounds = min(rounds+slowFor/2, 2*slowFor)
	} else {
		rounds = max(rounds-1, 0)
	}
	w.slow.Store(rounds)
	w.isSlow = w.workers > 1 && rounds > slowFor
	clear(w.ready)
	w.ready = w.ready[:0]
	if !w.leads {
		<-w.lead
		w.leads = true
	}
	for len(w.ready) == 0 {
		now := time.Now()
		if !w.look(now) || len(w.ready) == 0 && !w.events(now) {
			return false
		}
	}
	w.began = time.Now()
	if w.isSlow || w.workers > 1 && w.backlog { // another worker accepts the rest
		w.stepDown()
	}
	return true
}

// stepDown gives up the lead.
func (w *worker) stepDown() {
	if w.leads {
		w.leads = false
		w.lead <- struct{}{}
	}
}

// look checks the deadlines, the answered connections and the progress of a stop, if it is
// time. It returns false when the loop has ended.
func (w *worker) look(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alarm.IsZero() || now.Before(w.alarm) {
		return true
	}
	w.alarm = time.Time{}

	// Read once more from connections whose deadline has passed: on a busy machine a
	// request may have arrived in time.
	if w.over || now.Sub(w.checked) >= lateness {
		w.checked = now
		for _, c := range w.table {
			if c != nil && w.overdue(c, now) {
				w.take(c)
			}
		}
	}
	w.checkClosing(now)

	// After a stop, accept the whole queue and close the listener.
	stopping := w.over || !w.stopped.IsZero()
	if stopping && w.fd >= 0 && (w.over || w.shared || now.Sub(w.stopped) >= stragglers) {
		if !w.shared {
			_ = w.accept(math.MaxInt)
		}
		_ = w.control(unix.EPOLL_CTL_DEL, w.fd, 0)
		poll.Close(w.fd)
		w.fd = -1
		w.backlog = false
	}

	switch {
	case w.fd < 0 && w.open == 0, w.over && len(w.ready) == 0:
		w.over = true
		for _, c := range w.closing {
			poll.Close(c.fd)
		}
		_ = w.file.Close()
		return false
	case stopping || w.open > 0 || now.Before(w.paused):
		w.lookAt(now.Add(tick))
	default:
		_ = w.file.SetReadDeadline(time.Time{})
	}
	return true
}

// take makes the worker the owner of a waiting connection.
func (w *worker) take(c *conn) {
	w.table[c.fd] = nil
	c.phase = working
	w.ready = append(w.ready, c)
}

// checkClosing discards what the clients of answered connections have sent, a bounded part of
// it at each check. It closes connections that the client has closed, or that have lingered for
// LingerTimeout.
func (w *worker) checkClosing(now time.Time) {
	most := min(maxClosing, w.limited().limiter.total/2)
	kept := w.closing[:0]
	for _, c := range w.closing {
		since := now.Sub(c.answered)
		if since < c.wait {
			kept = append(kept, c)
			continue
		}
		wait := 4 * c.wait
		n, errno := poll.Discard(c.fd)
		if n > 0 {
			wait = since + tick
		}
		if (n > 0 || errno == unix.EAGAIN) && c.wait < w.lingerTimeout() && len(kept) < most {
			c.wait = min(wait, w.lingerTimeout())
			kept = append(kept, c)
		} else {
			poll.Close(c.fd)
			w.open--
		}
	}
	clear(w.closing[len(kept):])
	w.closing = kept
}

// events waits for events and accepts. It does not wait if accept(2) may return more. It
// returns false when the loop has ended.
func (w *worker) events(now time.Time) bool {
	if w.backlog && !now.Before(w.paused) {
		w.poll()
	} else if err := w.raw.Read(w.check); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	if !w.backlog || now.Before(w.paused) || w.isSlow && len(w.ready) > 0 {
		return true
	}

	// Close answered connections that the limiter has no room for.
	w.shed(max(w.limited().limiter.room()-batch, 0))
	most := batch
	if w.isSlow {
		most = 1
	}
	w.mu.Lock()
	err := w.accept(most)
	w.mu.Unlock()
	if err == nil || len(w.ready) > 0 {
		return true // and the next accept fails again
	}

	// Free descriptors, or pause accepting. A permanent failure ends Serve.
	wait, err := w.acceptFailed(err)
	if err != nil {
		w.backlog = false
		w.fail(err)
	}
	w.paused = time.Now().Add(wait)
	w.mu.Lock()
	w.lookAt(w.paused)
	w.mu.Unlock()
	return true
}

// poll takes pending events without waiting, and reports whether there were any. When work
// is slow, it takes one and leaves the others to other workers.
func (w *worker) poll() bool {
	room := w.room[:]
	if w.isSlow {
		room = room[:1]
	}
	n := poll.EpollWait(w.epoll, room)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ev := range room[:n] {
		if int(ev.Fd) == w.fd {
			w.backlog = true
		} else if c := w.table[ev.Fd]; c != nil {
			w.take(c)
		}
	}
	return n > 0
}

// accept accepts up to most connections. w.mu must be held.
func (w *worker) accept(most int) error {
	for range most {
		fd, remote, err := poll.Accept(w.fd)
		if errors.Is(err, unix.EAGAIN) {
			w.backlog = false
			return nil
		} else if err != nil {
			return os.NewSyscallError("accept4", err)
		}
		w.accepted.Add(1)
		w.open++
		w.ready = append(w.ready, &conn{
			polled:   polled{loop: w.loop, fd: fd},
			accepted: time.Now(),
			remote:   remote,
		})
	}
	return nil
}

// read reads the bytes that have arrived, and handles the connection.
func (w *worker) read(c *conn) {
	had := copy(w.buf[:], c.head)
	n, errno := poll.Recv(c.fd, w.buf[had:])
	switch {
	case errno == unix.EAGAIN:
		w.park(c)
	case errno != 0:
		w.refuse(c, os.NewSyscallError("recv", errno))
	case n == 0 && had == 0:
		w.refuse(c, io.EOF)
	default:
		c.head, c.ended = w.buf[:had+n], n == 0
		w.handle(c)
	}
}

// handle answers a request in place, parks a connection with an incomplete one, or hands the
// connection off to a goroutine.
func (w *worker) handle(c *conn) {
	if !c.local.IsValid() {
		c.local = poll.LocalAddr(c.fd)
	}
	what, n, err := w.next(c)
	switch why := refusalOf(err); {
	case why != admitted:
		w.refuse(c, why)
	case what == readMore && err == nil:
		c.head = bytes.Clone(c.head)
		w.park(c)
	case err != nil || what != requestLine: // serve fails in the same way, and answers
		w.handOff(c, reading, w.run.serve)
	case !w.answerQuick(c, n):
		w.handOff(c, writing, w.run.serve)
	}
}

// park admits a connection and lets it wait for the rest of its request.
func (w *worker) park(c *conn) {
	if why := w.admit(c, reading); why != admitted {
		w.refuse(c, why)
	} else if !w.wait(c) {
		w.refuse(c, os.ErrDeadlineExceeded)
	}
}

func (w *worker) closeConn(c *conn) {
	w.mu.Lock()
	w.open--
	w.mu.Unlock()
	poll.Close(c.fd)
	c.slot.release()
}

// refuse closes a connection that has sent no request, or is over a limit. The latter gets
// an error message where lastWord has one. Without a message it is reset: a robot may take
// an empty reply for an empty robots.txt.
func (w *worker) refuse(c *conn, why error) {
	w.logRefusal(c.remote.Addr(), why)
	if refusal := refusalOf(why); refusal != admitted {
		word := w.lastWord(c, refusal)
		if n, _ := poll.Send(c.fd, word); n < len(word) || n == 0 || c.begun {
			_ = poll.SetReset(c.fd)
		} else {
			poll.ShutdownWrite(c.fd)
		}
	}
	w.closeConn(c)
}

// handOff starts a goroutine that serves a connection. It returns false if the connection
// was refused or evicted instead.
func (w *worker) handOff(c *conn, state connState, serve func(*conn)) bool {
	if why := w.admit(c, state); why != admitted {
		w.refuse(c, why)
		return false
	}
	c.head = bytes.Clone(c.head)
	c.socket = &socket{Conn: poll.NewConn(c.fd, c.local, c.remote)}
	if !w.detach(c) {
		c.release()
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
	quick, ok := w.proto.Handler.(Quick)
	if !ok || w.parse(&w.req, c, requestLine, n, nil) != nil {
		return false
	}
	a, ok := quick.Quick(&w.req)
	if !ok {
		return false
	}
	sent, all, err := w.send(c.fd, a)
	if err == nil && sent < all {
		w.sendRest(c, a, sent, all)
		return true // sendRest closes the file
	}
	if err != nil {
		a.Err = &Error{Kind: Gone, Err: err}
		w.closeConn(c)
	} else {
		// Closing a socket with unread input would reset the connection, and the client might
		// lose the reply. So shut down the sending side, and leave the rest to checkClosing.
		poll.ShutdownWrite(c.fd)
		now := time.Now()
		w.mu.Lock()
		c.answered = now
		c.wait = min(tick, w.lingerTimeout())
		w.closing = append(w.closing, c)
		w.lookAt(now.Add(tick))
		w.mu.Unlock()
		c.slot.release()
	}
	w.ended(w.req.outcome(Served{
		Bytes: sent,
		Took:  time.Since(c.accepted),
		Err:   a.Err,
	}))
	_ = a.File.Close() // which may be nil
	return true
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
	all = a.Size
	if !w.isBusy() {
		// If there is an error, sendRest meets it again and reports it.
		n, _ := poll.SendFile(fd, int(a.File.Fd()), int(min(all, maxUnsent<<8)))
		sent = int64(max(n, 0))
	}
	return sent, all, nil
}

// sendRest starts a goroutine that sends the rest of an answer.
func (w *worker) sendRest(c *conn, a Answer, sent, all int64) {
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
			_, reply.err = reply.SendFile(a.File, all-sent)
			_ = a.File.Close()
		}
		reply.end(reply.err, a.Err)
	})
	if !began {
		_ = a.File.Close()
	}
}
