package server

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// A reply ends when it makes no progress for the stall time. Each write has a deadline for
// that (steadily). A timer covers what has none: a handler that does not return, and
// sendfile(2) from a disk that does not answer. If it fires, the client gets an error, or a
// reset in the middle of a reply; the connection is closed and the request logged. The
// goroutine stays until the handler returns, and counts as a connection until then.

var (
	// errStuck is a handler that neither returned nor wrote for the stall time.
	errStuck = &Error{Kind: Busy, Err: errors.New("the handler does not answer")}

	// errStalled ends a reply whose client takes nothing. It is no time-out error: those
	// are retried.
	errStalled = &Error{Kind: Gone, Err: errors.New("no progress")}
)

// steadily repeats step, which sends and returns how much, until it is done, fails, or
// sends nothing for the stall time. It asks before each step whether it still may; a reply
// that was given up sets no deadline any more.
func steadily(conn net.Conn, stall time.Duration, may func() bool, step func() (int64, error)) error {
	for {
		if !may() {
			return errStuck
		}
		if err := conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
			return err
		}
		n, err := step()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if n == 0 {
			return errStalled
		}
	}
}

// progress has the timer of a reply.
type progress struct {
	mu      sync.Mutex
	timer   *time.Timer // nil: there is none
	stall   time.Duration
	sending bool // the handler is where it sends
	over    bool // the reply has ended, or was given up
}

// watch sets the timer for the reply.
func (w *reply) watch() {
	p := &w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	known := w.req.outcome(Served{Err: errStuck}) // the handler may change the request
	p.stall = w.stall
	if w.conn.tls != nil {
		w.conn.tls.progress = p
	}
	p.timer = time.AfterFunc(w.stall, func() {
		p.mu.Lock()
		over, sending := p.over, p.sending
		p.over = true
		p.mu.Unlock()
		if !over {
			w.giveUp(known, sending)
		}
	})
}

// move records progress, and whether the handler is sending. A write has a deadline of its
// own, which it overruns only while the kernel waits for a file. It returns false if the
// reply was given up.
func (p *progress) move(sending bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.timer == nil {
		return !p.over
	}
	p.sending = sending
	after := p.stall
	if sending {
		after *= 2
	}
	p.timer.Reset(after)
	return true
}

// rest stops the timer while the connection waits for another request.
func (p *progress) rest(idle bool) {
	if !idle {
		p.move(false)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
}

// end stops the timer, and reports whether the reply was given up.
func (p *progress) end() (givenUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	givenUp, p.over = p.over, true
	if p.timer != nil {
		p.timer.Stop()
	}
	return givenUp
}

// stuckKey stands for requests that do not end among the addresses that the log names.
var stuckKey = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// giveUp ends a request whose handler is stuck. The handler cannot send any more. If it
// is just sending, the number of bytes sent is unknown.
func (w *reply) giveUp(s Served, sending bool) {
	r, c := w.run, w.conn
	if times := r.limited().logged.add(stuckKey, time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelError, "a handler hangs", slog.String("selector", s.Selector), slog.Int("times", times))
	}
	if !sending {
		s.Bytes = w.n
	}
	gently := !sending && w.n == 0 && !w.req.http && !w.req.robots
	if gently {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		sent, _ := w.to.Write(r.errorBody(errStuck))
		s.Bytes = int64(sent)
	}
	c.cancelRequest() // not before: a handler that ends then closes the connection
	s.Took = time.Since(c.accepted)
	r.ended(s)
	if gently {
		drain(w.to, r.lingerTimeout())
		_ = c.Close()
	} else {
		c.abort()
	}
	r.gaveUp.Do(func() { close(r.stuck) })
}
