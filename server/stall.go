package server

import (
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// A client that takes nothing for the stall time is noticed where its reply is
// sent (steadily). But a handler may wait, too, for a file system that does not
// answer, and then nobody is there who could notice. So each request has an
// alarm. When it rings and nothing went on for the stall time, the client is
// told, or, in the middle of a reply, reset; the connection is closed and the
// request logged. The goroutine stays until the handler returns, and counts as a
// connection as long.

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

// watch sets the alarm for the reply to a request.
func (r *run) watch(c *conn, w *reply, sel string) {
	p := &w.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.under != nil {
		c.under.progress = p
	}
	p.last = time.Now()
	p.alarm = time.AfterFunc(w.stall, func() {
		if stuck, sending := p.stuck(w.stall); stuck {
			r.giveUp(c, w, sel, sending)
		}
	})
}

// stuck reports whether nothing went on for too long; then the reply is over.
// What is being sent has a time limit of its own; where it does not hold, the
// kernel waits for a file.
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
	if rest := stall - time.Since(p.last); rest > 0 {
		p.alarm.Reset(rest)
		return false, false
	}
	p.over = true
	return true, p.sending
}

// send notes that something is to be sent, and reports whether it may be.
func (p *progress) send() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending = !p.over
	return p.sending
}

// moved notes that something was sent, or that nothing is sent any more.
func (p *progress) moved(sending bool) {
	if p.alarm == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending, p.last = sending, time.Now()
}

// rest reports whether nothing is to go on for a while.
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

// giveUp ends a request whose handler is stuck. Nobody else sends any more,
// unless the handler is just sending: then what it has sent is not known.
func (r *run) giveUp(c *conn, w *reply, sel string, sending bool) {
	var n int64
	if !sending {
		n = w.n
	}
	if times := r.limited().logged.add(stuckKey, time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelError, "a request does not end", slog.String("selector", sel), slog.Int("times", times))
	}
	if sending || n > 0 || isHTTP([]byte(sel)) {
		c.unwanted()
		r.logRequest(sel, c.remote, n, time.Since(c.accepted), errStuck)
		c.abort()
	} else {
		body := ErrorBody(errStuck)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		sent, _ := c.talk().Write(body)
		c.unwanted() // not before: a handler that ends then closes the connection
		r.logRequest(sel, c.remote, int64(sent), time.Since(c.accepted), errStuck)
		if c.tls == nil || c.tls.CloseWrite() == nil {
			c.drain(r.lingerTimeout())
		}
		c.close()
	}
	r.gaveUp.Do(func() { close(r.stuck) })
}

// stuckKey stands for requests that do not end among the addresses that the
// log names.
var stuckKey = netip.AddrFrom4([4]byte{255, 255, 255, 255})
