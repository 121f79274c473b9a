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

// httpError is the reply to a client of HTTP that is turned away before its request is
// read whole (RFC 6585 section 4, RFC 9110 section 15.6.4).
func httpError(err error) []byte {
	status, text := statuses[KindOf(err)], ErrorMessage(err)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nRetry-After: %d\r\nConnection: close\r\n\r\n%s\n", status, text, len(text)+1, RetryAfter, text)
}

// An HTTPConn is a connection that Server.HTTP answers, whose requests may be many. Read
// first returns the bytes that the server has read already. StallTimeout bounds writes as
// it bounds replies. The connection is closed gently when Server.HTTP returns.
type HTTPConn struct {
	net.Conn
	w       *reply
	head    []byte
	counted atomic.Bool // by the rate limit: the next request
}

// MaxStreams is how many requests of an HTTP/2 connection Server.HTTP may answer at
// once: each may have a file open, and MaxConns counts them.
const MaxStreams = 4

// preface begins HTTP/2 (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n"

// handOver lets Server.HTTP answer, and returns its error.
func (w *reply) handOver() error {
	r, c := w.run, w.conn
	w.watch()
	if bytes.HasPrefix(c.head, []byte(preface)) {
		c.slot.reserve(MaxStreams - 1)
	}
	setNoDelay(c.Conn) // what follows the head would wait until the client has acknowledged it
	h := &HTTPConn{Conn: w.to, w: w, head: c.head}
	h.counted.Store(c.counted)
	return r.protect(w.req, func() error { return r.HTTP(h, w.req) })
}

// Read reads what the client sends.
func (c *HTTPConn) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p)
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
func (c *HTTPConn) SendFile(f *os.File, n int64) (int64, error) { return c.w.SendFile(f, n) }

// Draining returns the context that ends when the server takes no more requests.
func (c *HTTPConn) Draining() context.Context { return c.w.run.soft }

// LastCall returns how long a request may take to arrive when the server is draining.
func (c *HTTPConn) LastCall() time.Duration { return c.w.run.lastCall() }

// Idle records whether the connection waits for another request. Idle connections are
// evicted first.
func (c *HTTPConn) Idle(idle bool) {
	if idle {
		c.w.conn.socket.pause()
		c.w.conn.slot.setState(reading)
		return
	}
	c.w.conn.socket.send(false)
	c.w.conn.slot.setState(writing)
}

// Allow counts a request of the client, and reports whether it may send one now
// (Server.Rate). It must not be called for robots.txt, which is always allowed.
func (c *HTTPConn) Allow(r *Request) bool {
	if c.counted.Swap(false) { // by its connection's first bytes
		return !c.w.conn.tooFast
	}
	from := r.Remote.Addr()
	if c.w.run.within(from) {
		return true
	}
	c.w.run.unanswered(from, tooFast)
	return false
}

// Protect calls f for one request on the connection. A panic is logged, and returned as
// an error of this request alone.
func (c *HTTPConn) Protect(r *Request, f func()) error {
	return c.w.run.protect(r, func() error { f(); return nil })
}

// Served logs one request on the connection, and passes it to the observer. If it
// is not called, the connection is logged as one request.
// The outcome needs no Protocol, Port and Remote.
func (c *HTTPConn) Served(r *Request, s Served) {
	c.w.logged.Store(true)
	c.w.run.ended(r.outcome(s))
}
