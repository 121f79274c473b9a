package server

// The way of a request, for a connection that has a goroutine:
//
//	accept → read the request line → handle → write → close
//
// On Linux most requests take a shorter one: see loop_linux.go.

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

// acceptFailed makes room, or returns how long to wait if the failure may pass, or the
// error if it cannot.
func (r *run) acceptFailed(err error, wait *backoff) (time.Duration, error) {
	if r.soft.Err() != nil || !passes(err) {
		return 0, fmt.Errorf("accepting connections: %w", err)
	}
	if limit.Reached(err) && r.spareFiles(err) {
		return 0, nil
	}
	d := wait.next()
	r.logger.Error("cannot accept connections", "error", err, "retry_in", d)
	return d, nil
}

// begin serves a connection in a goroutine of its own, if there is room for it.
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

// serve takes one request and answers it.
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
		err = w.handOver()
		w.end(w.err, err)
	default:
		w.end(w.handle(), nil)
	}
}

// handle lets the handler answer a request. If it reached a limit, which is not the
// request's fault, it is called again after silent connections were closed, or a while.
// It is given up after RequestTimeout.
func (w *reply) handle() (err error) {
	w.watch()
	end := time.Now().Add(w.run.requestTimeout())
	for wait := (backoff{}); ; {
		err = w.run.protect(w.req, func() error { return w.run.handler().ServeGopher(w, w.req) })
		if !limit.Reached(err) || w.started() || !time.Now().Before(end) {
			return err
		}
		if !w.run.spareFiles(err) {
			select {
			case <-time.After(wait.next()):
			case <-w.run.hard.Done():
				return err
			}
		}
	}
}

// protect calls f, and turns a panic into an error of this request alone.
func (r *run) protect(req *Request, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.logger.Error("handler panicked", "selector", req.Selector, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return f()
}

// end finishes a reply and closes the connection. The log gets err, and a cause that the
// client has read.
func (w *reply) end(err, cause error) {
	cut := w.finish(err)
	if w.conn.socket.end() {
		return // giveUp has done the rest
	}
	if !errors.Is(err, w.err) {
		err = errors.Join(w.err, err)
	}
	if !w.logged.Load() {
		w.run.ended(w.req.outcome(Served{Bytes: w.n.Load(), Took: time.Since(w.conn.accepted), Err: errors.Join(cause, err)}))
	}
	w.run.end(w.conn, cut)
}

// passes reports whether an error of accept(2) is about one connection or about
// resources that may come back.
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
