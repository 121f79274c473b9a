package server

// Connections that have a goroutine:
//
//	accept → read the request line → handle → write → close
//
// On Linux, the event loop answers most requests without one (loop_linux.go).

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gophd/gophd/internal/limit"
)

// conn is a connection. On Linux the event loop owns the connections of a TCP listener until
// they need a goroutine. Any other connection has a goroutine from accept to close.
type conn struct {
	*socket             // the plain connection; nil while the event loop owns it
	polled              // the state in the event loop
	tls        *tlsConn // nil for plain connections
	head       []byte   // bytes read so far
	ended      bool     // the client has closed its sending side
	accepted   time.Time
	remote     netip.AddrPort
	local      netip.AddrPort    // invalid if unknown, or not looked up yet
	serverName string            // from TLS or the PROXY header
	cert       *x509.Certificate // of the client, or nil
	proxied    bool              // the PROXY header was read
	counted    bool              // the rate limit has counted the request
	tooFast    bool              // over the rate limit: the TLS client gets an error
	begun      bool              // the event loop has sent a part of the reply
	slot       *slot             // nil if the limiter does not count it

	cancel atomic.Pointer[context.CancelFunc] // ends the request's context
}

// stream returns the connection for requests and replies: TLS, or the plain one.
func (c *conn) stream() net.Conn {
	if c.tls != nil {
		return c.tls
	}
	return c.socket
}

// end closes a connection after its reply: gracefully, or with a reset if the reply failed
// with err. An orderly close would make a truncated reply look complete, and a reset frees
// the kernel's send buffer. A file that became shorter counts as complete.
func (r *run) end(c *conn, err error) {
	if err != nil && !errors.Is(err, ErrShort) {
		reset(c.Conn)
		return
	}
	c.slot.setState(lingering)
	timeout := r.lingerTimeout()
	if r.soft.Err() != nil { // a stop does not wait for clients that keep idle connections
		timeout = min(timeout, r.lastCall())
	}
	drain(c.stream(), timeout)
}

// release closes the connection and frees its slot.
func (c *conn) release() {
	_ = c.Close()
	c.slot.release()
}

// cut closes a connection that another goroutine serves. If a reply is in progress, it
// resets the connection.
func (c *conn) cut() {
	switch {
	case c.evict():
		c.slot.release()
	case c.slot.lingers():
		_ = c.Close()
	default:
		c.abort()
	}
}

// abort cancels the request and resets the connection, even while a system call is sending.
func (c *conn) abort() {
	if cancel := c.cancel.Load(); cancel != nil {
		(*cancel)()
	}
	reset(c.Conn)
	if d, ok := c.Conn.(interface{ Disconnect() error }); ok {
		_ = d.Disconnect()
	}
	_ = c.Close()
}

// reset makes the close of a TCP connection a reset.
func reset(c net.Conn) {
	if c, ok := c.(interface{ SetLinger(seconds int) error }); ok {
		_ = c.SetLinger(0)
	}
}

// closeWrite shuts down the sending side of a connection of TCP, Unix sockets or TLS.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// drain shuts down the sending side and discards what the client sends until it closes, or
// until the timeout. Without this, the kernel would answer late bytes with a reset, and the
// client might lose the reply.
func drain(c net.Conn, timeout time.Duration) {
	if closeWrite(c) == nil && c.SetReadDeadline(time.Now().Add(timeout)) == nil {
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{c}) // without WriteTo, a detour through splice(2)
	}
}

func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// acceptAll serves the connections of a listener until the soft end.
func (r *run) acceptAll(l net.Listener) error {
	stop := context.AfterFunc(r.soft, func() { _ = l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if err == nil {
			r.accepted.Add(1)
			r.begin(c)
			continue
		}
		wait, err := r.acceptFailed(err)
		if err != nil {
			return err
		}
		time.Sleep(wait)
	}
}

// acceptFailed handles a failed accept. It returns how long to wait before the next one: not at
// all if it could free descriptors. It returns the error after the soft end, and if every
// later accept would fail, too.
func (r *run) acceptFailed(err error) (wait time.Duration, failed error) {
	var errno syscall.Errno
	temporary := errors.As(err, &errno) && !slices.Contains(permanent, errno)
	if r.soft.Err() != nil || !temporary {
		return 0, fmt.Errorf("accepting connections: %w", err)
	}
	if limit.Reached(err) && r.freeDescriptors(err) {
		return 0, nil
	}
	if times := r.limited().logged.add(acceptKey, time.Now()); times > 0 {
		r.logger.Error("cannot accept connections", "error", err, "times", times)
	}
	return retryAfter, nil
}

// begin starts a goroutine that serves a connection or turns it away.
func (r *run) begin(accepted net.Conn) {
	c := &conn{
		socket:   &socket{Conn: accepted},
		accepted: time.Now(),
		remote:   addrPort(accepted.RemoteAddr()),
		local:    addrPort(accepted.LocalAddr()),
	}
	why := r.admit(c, reading)
	r.conns.Go(func() {
		defer c.release()
		if why != admitted {
			r.turnAway(c, why)
		} else {
			r.serve(c)
		}
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
// anything was written, it retries after evicting idle connections, or after retryAfter, for
// up to RequestTimeout.
func (w *reply) handle() (err error) {
	w.watch()
	end := time.Now().Add(w.run.requestTimeout())
	for {
		err = w.run.protect(w.req, func() error { return w.run.proto.Handler.ServeGopher(w, w.req) })
		if !limit.Reached(err) || w.started() || time.Now().After(end) || w.run.hard.Err() != nil {
			return err
		}
		if !w.run.freeDescriptors(err) {
			time.Sleep(retryAfter)
		}
	}
}

// protect calls f. It logs a panic and returns errPanic.
func (r *run) protect(req *Request, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.logger.Error("handler panicked", "selector", req.Selector, "panic", fmt.Sprint(p),
				"stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return f()
}

// end finishes a reply, logs the request and closes the connection. err is the handler's
// error, cause an error that the reply has already reported to the client.
func (w *reply) end(err, cause error) {
	incomplete := w.finish(err)
	if w.conn.end() {
		return // giveUp has logged and closed it
	}
	if !errors.Is(err, w.err) {
		err = errors.Join(w.err, err)
	}
	if !w.logged.Load() {
		w.run.ended(w.req.outcome(Served{
			Bytes: w.n.Load(),
			Took:  time.Since(w.conn.accepted),
			Err:   errors.Join(cause, err),
		}))
	}
	w.run.end(w.conn, incomplete)
}

// permanent lists the errors of accept(2) that are due to the listener. All others concern one
// connection, or a resource that may become available again.
var permanent = []syscall.Errno{syscall.EBADF, syscall.EINVAL, syscall.ENOTSOCK}

// retryAfter is how long to wait for a resource such as descriptors.
const retryAfter = 100 * time.Millisecond
