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

// A client that takes nothing for the stall time is noticed where its reply is
// sent (steadily). But a handler may wait, too, for a file system that does not
// answer, where nothing is sent. So each request has an alarm. If it fires after the
// stall time without progress, the client gets an error, or a reset in the middle of
// a reply; the connection is closed and the request logged. The goroutine stays until
// the handler returns, and counts as a connection until then.

// errStuck is a handler that neither returned nor wrote for the stall time.
var errStuck = &Error{Kind: Busy, Err: errors.New("the handler does not answer")}

// progress is the state of a reply that the alarm looks at.
type progress struct {
	mu      sync.Mutex
	alarm   *time.Timer // nil: there is none
	last    time.Time   // when something went on
	sending bool        // the handler is where it sends
	idle    bool        // nothing is to go on: the connection waits for another request
	over    bool        // the reply has ended, or was given up
}

// watch sets the alarm for the reply.
func (w *reply) watch() {
	p := &w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.conn.tls != nil {
		w.conn.tls.progress = p
	}
	p.last = time.Now()
	known := w.req.outcome(Served{Err: errStuck}) // the handler may change the request
	p.alarm = time.AfterFunc(w.stall, func() {
		if stuck, sending := p.stuck(w.stall); stuck {
			w.giveUp(known, sending)
		}
	})
}

// giveUp ends a request whose handler is stuck. The handler cannot send any more. If it
// is just sending, the number of bytes sent is unknown.
func (w *reply) giveUp(s Served, sending bool) {
	r, c := w.run, w.conn
	if times := r.limited().logged.add(stuckKey, time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelError, "a request does not end", slog.String("selector", s.Selector), slog.Int("times", times))
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
	c.unwanted() // not before: a handler that ends then closes the connection
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

// stuckKey stands for requests that do not end among the addresses that the log names.
var stuckKey = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// stuck reports whether there was no progress for too long; then the reply is over. A
// handler that is sending has twice as long: sending has its own time limit, which it
// overruns only while the kernel waits for a file.
func (p *progress) stuck(stall time.Duration) (stuck, sending bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false, false
	}
	if p.sending {
		stall *= 2
	}
	if p.idle {
		p.last = time.Now()
	}
	rest := stall - time.Since(p.last)
	if rest < -stall/steps { // the alarm is late: all of this process stood still
		p.last, rest = time.Now(), stall
	}
	if rest > 0 {
		p.alarm.Reset(rest)
		return false, false
	}
	p.over = true
	return true, p.sending
}

// send records that the handler begins to send, and reports whether it may.
func (p *progress) send() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending = !p.over
	return p.sending
}

// moved records progress, and whether the handler is still sending.
func (p *progress) moved(sending bool) {
	if p.alarm == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending, p.last = sending, time.Now()
}

// rest records whether the connection waits for another request.
func (p *progress) rest(idle bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle, p.last = idle, time.Now()
}

// end stops the alarm, and reports whether the reply was given up.
func (p *progress) end() (givenUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	givenUp, p.over = p.over, true
	if p.alarm != nil {
		p.alarm.Stop()
	}
	return givenUp
}

// steps is how many attempts to send the stall time allows.
const steps = 4

// steadily repeats step, which sends and returns how much, until it is done, fails, or
// has made no progress for the stall time. The time is counted in steps: a pause of
// this process costs the client one step at most.
func steadily(conn net.Conn, stall time.Duration, step func() (int64, error)) error {
	for idle := 0; idle < steps; idle++ {
		if err := conn.SetWriteDeadline(time.Now().Add(stall / steps)); err != nil {
			return err
		}
		n, err := step()
		if n > 0 {
			idle = -1
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return errStalled
}

// errStalled ends a reply without progress. It is no time-out error: those are
// retried.
var errStalled = &Error{Kind: Gone, Err: errors.New("no progress")}
