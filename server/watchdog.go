package server

import (
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// The watchdog of a reply. A client that takes nothing for the stall time is
// noticed where its reply is sent (steadily). But a handler may wait, too, for a
// file system that does not answer, and then nobody is there who could notice.
// So each request has an alarm. When it rings and nothing went on for the stall
// time, the client is told, or, in the middle of a reply, reset; the connection
// is closed and the request logged. The goroutine stays until the handler
// returns, and counts as a connection as long.

// errStuck is a handler that neither returned nor wrote for the stall time.
var errStuck = &Error{Kind: Busy, Err: errors.New("the handler does not answer")}

// watchdog is the state of a reply that the alarm looks at.
type watchdog struct {
	mu      sync.Mutex
	alarm   *time.Timer // nil: there is none
	last    time.Time   // when something went on
	sending bool        // the handler is where it sends
	over    bool        // the reply has ended, or was given up
}

// watch sets the alarm for the reply to a request.
func (r *run) watch(c *conn, w *reply, sel string) {
	w.dog.mu.Lock()
	defer w.dog.mu.Unlock()
	if c.under != nil {
		c.under.dog = &w.dog
	}
	w.dog.last = time.Now()
	w.dog.alarm = time.AfterFunc(w.stall, func() {
		if ended, sending := w.dog.ring(w.stall); ended {
			r.giveUp(c, w, sel, sending)
		}
	})
}

// ring says whether nothing went on for too long. What is being sent has a time
// limit of its own; where it does not hold, the kernel waits for a file.
func (d *watchdog) ring(stall time.Duration) (ended, sending bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return false, false
	}
	if d.sending {
		stall *= 2
	}
	if rest := stall - time.Since(d.last); rest > 0 {
		d.alarm.Reset(rest)
		return false, false
	}
	d.over = true
	return true, d.sending
}

// send says that something is to be sent, and whether it may be.
func (d *watchdog) send() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sending = !d.over
	return d.sending
}

// moved says that something was sent, or that nothing is sent any more.
func (d *watchdog) moved(sending bool) {
	if d.alarm == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sending, d.last = sending, time.Now()
}

// rest takes the alarm back, and says whether the reply was given up.
func (d *watchdog) rest() (givenUp bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	givenUp, d.over = d.over, true
	if d.alarm != nil {
		d.alarm.Stop()
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
	if times := r.guard().told.again(stuckKey, time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelError, "a request does not end", slog.String("selector", sel), slog.Int("times", times))
	}
	if sending || n > 0 {
		r.logRequest(sel, c.remote, n, time.Since(c.accepted), errStuck)
		c.abort()
	} else {
		body := ErrorBody(errStuck)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		sent, _ := c.talk().Write(body)
		r.logRequest(sel, c.remote, int64(sent), time.Since(c.accepted), errStuck)
		c.drain(r.lingerTimeout())
		c.close()
	}
	r.gaveUp.Do(func() { close(r.stuck) })
}

// stuckKey stands for requests that do not end among the addresses that the
// log tells of.
var stuckKey = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// abort closes a connection so that the client can tell: what it got is not
// all there is. It works in the midst of a system call that sends, too.
func (c *conn) abort() {
	c.reset()
	if s, ok := c.Conn.(interface{ Disconnect() error }); ok {
		_ = s.Disconnect()
	}
	c.close()
}
