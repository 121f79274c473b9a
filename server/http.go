package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// httpError returns the reply to an HTTP client that is refused before its whole request was
// read (RFC 6585 section 4, RFC 9110 section 15.6.4).
func httpError(err error) []byte {
	status, text := statuses[KindOf(err)], ErrorMessage(err)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nRetry-After: %d\r\nConnection: close\r\n\r\n%s\n", status, text, len(text)+1, RetryAfter, text)
}

// An HTTPConn is a connection that Server.HTTP serves. It may carry many requests. Read
// starts with the request line that the server has already read. StallTimeout applies to
// writes. The connection is closed gracefully when Server.HTTP returns.
type HTTPConn struct {
	net.Conn
	w       *reply
	counted atomic.Bool // the rate limit has counted the next request
}

// MaxStreams is the number of concurrent requests that Server.HTTP may accept in an HTTP/2
// connection. Each may have a file open, so each counts in Server.MaxConns.
const MaxStreams = 4

// preface is the first line of an HTTP/2 connection (RFC 9113 section 3.4).
const preface = "PRI * HTTP/2.0\r\n"

// serveHTTP calls Server.HTTP and returns its error.
func (w *reply) serveHTTP() error {
	r, c := w.run, w.conn
	w.watch()
	if bytes.HasPrefix(c.head, []byte(preface)) {
		c.slot.reserve(MaxStreams / 2)
	}
	h := &HTTPConn{Conn: &headed{w.to, c.head}, w: w}
	h.counted.Store(c.counted)
	return r.protect(w.req, func() error { return r.HTTP(h, w.req) })
}

// Write sends p.
func (c *HTTPConn) Write(p []byte) (n int, err error) {
	err = c.w.sending(func() error {
		n, err = c.Conn.Write(p)
		return err
	})
	c.w.n.Add(int64(n))
	return n, err
}

// SendFile sends the next n bytes of f as a [FileSender] does.
func (c *HTTPConn) SendFile(f *os.File, n int64) (int64, error) {
	return c.w.SendFile(f, n)
}

// Draining returns a context that ends when the server accepts no more requests.
func (c *HTTPConn) Draining() context.Context { return c.w.run.soft }

// LastCall returns how long a request may take to arrive after Draining has ended.
func (c *HTTPConn) LastCall() time.Duration { return c.w.run.lastCall() }

// Idle records whether the connection is waiting for another request. The server evicts idle
// connections first.
func (c *HTTPConn) Idle(idle bool) {
	if idle {
		c.w.conn.timer.Stop()
		c.w.conn.slot.setState(reading)
		return
	}
	c.w.conn.setSending(false)
	c.w.conn.slot.setState(writing)
}

// Allow charges a request to the rate limit (Server.Rate), and reports whether it is within
// the limit. It must not be called for robots.txt, which is exempt.
func (c *HTTPConn) Allow(r *Request) bool {
	if c.counted.Swap(false) { // charged with the first bytes of the connection
		return !c.w.conn.tooFast
	}
	from := r.Remote.Addr()
	if c.w.run.allowed(from) {
		return true
	}
	c.w.run.logRefusal(from, tooFast)
	return false
}

// Protect calls f, which answers one request of the connection. It logs a panic and returns
// it as an error.
func (c *HTTPConn) Protect(r *Request, f func()) error {
	return c.w.run.protect(r, func() error { f(); return nil })
}

// Served logs one request of the connection and reports it to the Observer. It fills in
// Protocol, Port and Remote. If Served is never called, the connection is logged as one
// request.
func (c *HTTPConn) Served(r *Request, s Served) {
	c.w.logged.Store(true)
	c.w.run.ended(r.outcome(s))
}
