package server

// Connections that have a goroutine:
//
//	accept → read the request line → handle → write → close
//
// On Linux, the event loop answers most requests without one (loop_linux.go).

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/gophd/gophd/internal/limit"
)

// acceptAll serves the connections of a listener until the soft end.
func (r *run) acceptAll(l net.Listener) error {
	stop := context.AfterFunc(r.soft, func() { _ = l.Close() })
	defer stop()
	var wait backoff
	for {
		c, err := l.Accept()
		if err == nil {
			wait.reset()
			r.accepted.Add(1)
			r.begin(r.newConn(c))
			continue
		}
		d, err := r.acceptFailed(err, &wait)
		if err != nil {
			return err
		}
		select {
		case <-time.After(d):
		case <-r.soft.Done():
		}
	}
}

// acceptFailed handles a failed accept. After a temporary failure it returns how long to wait
// before the next one: not at all if it could free descriptors. It returns the error if the
// failure is permanent, or after the soft end.
func (r *run) acceptFailed(err error, wait *backoff) (time.Duration, error) {
	if r.soft.Err() != nil || !passes(err) {
		return 0, fmt.Errorf("accepting connections: %w", err)
	}
	if limit.Reached(err) && r.freeDescriptors(err) {
		return 0, nil
	}
	d := wait.next()
	r.logger.Error("cannot accept connections", "error", err, "retry_in", d)
	return d, nil
}

// begin starts a goroutine that serves a connection or turns it away.
func (r *run) begin(c *conn) {
	if why := r.admit(c, reading); why != admitted {
		r.conns.Go(func() { r.turnAway(c, why) })
		return
	}
	r.conns.Go(func() {
		defer c.release()
		r.serve(c)
	})
}

// serve reads one request and answers it.
func (r *run) serve(c *conn) {
	req, err := r.readRequest(c)
	if req == nil {
		r.turnAway(c, err)
		return
	}
	w := r.newReply(c, req)
	defer w.release()
	switch {
	case err != nil:
		w.end(err, nil)
	case req.http:
		err = w.serveHTTP()
		w.end(w.err, err)
	default:
		w.end(w.handle(), nil)
	}
}

// handle calls the handler. If the process has reached its limit of open files before
// anything was written, it retries after evicting idle connections, or after a backoff, for
// up to RequestTimeout.
func (w *reply) handle() (err error) {
	w.watch()
	end := time.Now().Add(w.run.requestTimeout())
	for wait := (backoff{}); ; {
		err = w.run.protect(w.req, func() error { return w.run.handler().ServeGopher(w, w.req) })
		if !limit.Reached(err) || w.started() || !time.Now().Before(end) {
			return err
		}
		if !w.run.freeDescriptors(err) {
			select {
			case <-time.After(wait.next()):
			case <-w.run.hard.Done():
				return err
			}
		}
	}
}

// protect calls f. It logs a panic and returns errPanic.
func (r *run) protect(req *Request, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.logger.Error("handler panicked", "selector", req.Selector, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return f()
}

// end finishes a reply, logs the request and closes the connection. err is the handler's
// error, cause an error that the reply has already reported to the client.
func (w *reply) end(err, cause error) {
	incomplete := w.finish(err)
	if w.conn.socket.end() {
		return // giveUp has logged and closed it
	}
	if !errors.Is(err, w.err) {
		err = errors.Join(w.err, err)
	}
	if !w.logged.Load() {
		w.run.ended(w.req.outcome(Served{Bytes: w.n.Load(), Took: time.Since(w.conn.accepted), Err: errors.Join(cause, err)}))
	}
	w.run.end(w.conn, incomplete)
}

// passes reports whether an error of accept(2) is temporary: it concerns one connection, or
// a resource that may become available again.
func passes(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EPROTO, syscall.EPERM, syscall.EINTR,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// backoff doubles from 5 ms to 1 s.
type backoff struct{ d time.Duration }

func (b *backoff) reset() { b.d = 0 }

func (b *backoff) next() time.Duration {
	b.d = min(max(2*b.d, 5*time.Millisecond), time.Second)
	return b.d
}
