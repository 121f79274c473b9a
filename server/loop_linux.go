package server

// The connections of a TCP listener, which package poll holds while there is
// nothing to do for them. A request that the handler can answer from memory is
// answered here, where it was read, without a goroutine:
//
//	nothing there yet, or part of a line  → waits: no goroutine, no buffer
//	not in memory, or TLS                 → a goroutine: serve
//	reply larger than the socket takes    → a goroutine for the rest: finish
//	answered                              → lingers
//
// A goroutine for each connection, and the runtime's poller with it, would cost
// half as much again as all the kernel does for a request.

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"time"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server/internal/poll"
)

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
	p, err := poll.New(tcp, poll.Params{
		ReadTimeout: r.requestTimeout(), LingerTimeout: r.lingerTimeout(),
		Admit: r.admitPolled, Room: r.limited().limiter.room, Accepted: &r.accepted, Shared: isShared,
	})
	if err != nil {
		return true, err
	}
	context.AfterFunc(r.hard, p.Close)
	if r.soft.Err() != nil {
		p.Stop(r.lastCall()) // and nothing is accepted before
	}
	failed := make(chan error, 1)
	loops := make([]*loop, or(r.loops, runtime.GOMAXPROCS(0)))
	for i := range loops { // all of them before one begins, which depends on how many there are
		lp := &loop{run: r, poller: p, next: p.NewLoop(), failed: failed}
		loops[i] = lp
		lp.quick, _ = r.handler().(Quick)
		if local := addrPort(tcp.Addr()); !local.Addr().IsUnspecified() {
			lp.local = local
			lp.host, lp.port = r.here(local)
		}
	}
	for _, lp := range loops {
		r.conns.Go(lp.serve)
	}
	select {
	case <-r.soft.Done():
	case err = <-failed:
	}
	p.Stop(r.lastCall())
	return true, err
}

// loop is one of the goroutines that wait for requests.
type loop struct {
	*run
	poller *poll.Poller
	next   *poll.Loop
	quick  Quick          // nil: no reply is in memory
	local  netip.AddrPort // of all connections; zero if they differ
	host   string         // what menus name then
	port   int
	req    Request // that quick is asked about
	failed chan error
}

func (l *loop) serve() {
	var wait backoff
	for {
		pc, event, err := l.next.Next()
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			l.acceptFailed(err, &wait)
		case event == poll.Ready:
			wait.reset()
			l.ready(pc)
		default:
			l.closed(pc)
		}
	}
}

// acceptFailed makes room, or accepts nothing for a while if the failure may pass. Any
// other failure ends Serve.
func (l *loop) acceptFailed(err error, wait *backoff) {
	d, err := l.run.acceptFailed(err, wait)
	if err != nil {
		select {
		case l.failed <- err:
		default:
		}
	}
	if d > 0 || err != nil {
		l.poller.Pause(max(d, time.Millisecond))
	}
}

// ready handles a connection with new bytes.
func (l *loop) ready(pc *poll.Conn) {
	first := conn{remote: pc.Remote} // what is answered at once needs no other
	c, waited := pc.Owner.(*conn)
	if !waited {
		c = &first
	}
	c.head, c.ended = pc.Data, pc.Ended
	what, n, err := l.run.next(c)
	switch why := refusalOf(err); {
	case why != admitted:
		refused := l.owner(pc)
		refused.head = pc.Data
		l.turnAway(refused, why)
	case what == readMore && err == nil:
		if l.admitPolled(pc) && !pc.Wait() {
			l.closed(pc)
		}
	case what == proxyHeader:
		l.readProxied(pc, n)
	case err != nil || what != requestLine || !l.atHand(pc, c, c.head[:n]):
		state := reading
		if err == nil && what == requestLine {
			state = writing // its client waits, though its goroutine may begin late
		}
		l.handOver(pc, c, state)
	}
}

// readProxied reads a PROXY header, and looks at what follows it.
func (l *loop) readProxied(pc *poll.Conn, n int) {
	c := l.owner(pc)
	c.head = pc.Data
	switch err := l.proxied(c, n); {
	case refusalOf(err) != admitted:
		l.turnAway(c, err)
	case err != nil:
		l.handOver(pc, c, reading) // which meets it again, and answers
	default:
		pc.Data = c.head
		l.ready(pc)
	}
}

// handOver starts a goroutine for a connection.
func (l *loop) handOver(pc *poll.Conn, known *conn, state connState) {
	c := l.owner(pc)
	c.head, c.ended, c.counted, c.tooFast = append([]byte(nil), pc.Data...), pc.Ended, known.counted, known.tooFast
	if !c.local.IsValid() {
		c.local = l.local
	}
	if !c.local.IsValid() {
		c.local = pc.LocalAddrPort()
	}
	l.begin(c, state, l.run.serve)
}

// atHand answers with a reply that the handler has in memory, and reports whether it has one.
func (l *loop) atHand(pc *poll.Conn, c *conn, line []byte) bool {
	if l.quick == nil {
		return false
	}
	var parsed selector.RequestLine
	protocol, raw := "", ""
	if l.proto != nil {
		protocol, raw = l.proto.Name, string(line)
	} else {
		var err error
		if parsed, err = selector.Parse(line); err != nil {
			return false
		}
	}
	local := c.local
	if !local.IsValid() {
		local = l.local
	}
	if !local.IsValid() {
		local = pc.LocalAddrPort()
	}
	l.req = Request{RequestLine: parsed, Protocol: protocol, Raw: raw, Host: l.host, Port: l.port, Remote: c.remote, Local: local, ServerName: c.asks}
	if local != l.local {
		l.req.Host, l.req.Port = l.here(local)
	}
	a, ok := l.quick.Quick(&l.req)
	if !ok {
		return false
	}
	sent, all, err := l.send(pc, a)
	if err == nil && sent < all {
		l.finish(pc, l.req, a, sent)
		return true // with the file
	}
	c.slot.release()
	c.slot = nil
	accepted := pc.Accepted // after Linger pc may be another connection
	if err != nil {
		_ = pc.Close()
		a.Err = &Error{Kind: Gone, Err: err}
	} else {
		pc.Linger()
	}
	l.ended(l.req.outcome(Served{Bytes: sent, Took: time.Since(accepted), Err: a.Err}))
	if a.File != nil {
		a.File.Close()
	}
	return true
}

// send sends as much of an answer as the socket accepts at once, and never blocks. It
// returns the number of bytes sent, and the length of the answer.
func (l *loop) send(pc *poll.Conn, a Answer) (sent, all int64, err error) {
	if a.File == nil {
		if len(a.Body) > maxUnsent && l.isBusy() {
			_ = pc.SetUnsent(maxUnsent)
		}
		n, err := pc.Send(a.Body)
		return int64(n), int64(len(a.Body)), err
	}
	all = a.File.Size()
	if resident, recent := a.File.Resident(); resident && !l.isBusy() {
		sent, err = pc.SendFD(int(a.File.Fd()), all, recent)
	}
	if err != nil {
		return 0, all, nil // finish meets it again, and reports it
	}
	return sent, all, nil
}

// finish sends the rest of an answer that the socket did not take at once, or
// that might block.
func (l *loop) finish(pc *poll.Conn, req Request, a Answer, sent int64) {
	c := l.owner(pc)
	c.begun = sent > 0
	r := l.run
	began := l.begin(c, writing, func(c *conn) {
		w := r.newReply(c, &req)
		defer w.release()
		w.n = sent
		w.watch()
		if a.File == nil {
			_, _ = w.send(a.Body[sent:])
		} else {
			f := a.File.OSFile()
			if _, w.err = f.Seek(sent, io.SeekStart); w.err == nil {
				_, w.err = w.SendFile(f, a.File.Size()-sent)
			}
			_ = f.Close()
		}
		w.end(w.err, a.Err)
	})
	if !began && a.File != nil {
		a.File.Close()
	}
}

// closed removes a closed connection from the count, and logs one without a request.
func (l *loop) closed(pc *poll.Conn) {
	remote := pc.Remote
	if c, ok := pc.Owner.(*conn); ok {
		c.slot.release()
		remote = c.remote
	}
	if !pc.Answered() {
		l.unanswered(remote.Addr(), pc.Err)
	}
}

// admitPolled admits a connection that is to be held.
func (r *run) admitPolled(pc *poll.Conn) bool {
	c, state := r.owner(pc), reading
	if pc.Answered() {
		state = lingering
	}
	why := r.admit(c, state)
	switch {
	case why == admitted:
		return true
	case state == lingering: // it has what it wanted
		_ = c.Close()
	default:
		r.turnAway(c, why)
	}
	return false
}

// owner returns the conn of a connection.
func (r *run) owner(pc *poll.Conn) *conn {
	if c, ok := pc.Owner.(*conn); ok {
		return c
	}
	c := &conn{socket: pc, accepted: pc.Accepted, remote: pc.Remote}
	pc.Owner = c
	return c
}
