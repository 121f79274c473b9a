package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// httpError is the reply to a client of HTTP that is turned away before its request is
// read whole (RFC 6585 section 4, RFC 9110 section 15.6.4).
func httpError(err error) []byte {
	status, text := statuses[KindOf(err)], ErrorMessage(err)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nRetry-After: %d\r\nConnection: close\r\n\r\n%s\n", status, text, len(text)+1, RetryAfter, text)
}

// An HTTPConn is a connection that Server.HTTP answers. Read first returns the bytes
// that the server has read already. StallTimeout bounds writes as it bounds replies,
// and files are sent with sendfile(2). The connection may carry many requests.
type HTTPConn struct {
	net.Conn
	run  *run
	slot *slot
	w    *reply
	head []byte

	reading sync.Mutex // held while reading
	writing sync.Mutex // held while writing

	streams bool // it is HTTP/2, whose replies go on only as long as the client is read

	mu           sync.Mutex
	counted      bool // by the rate limit: the next request
	tooFast      bool // and it is one too many
	handled      bool // a handler answers
	refused      int  // the status of net/http's own answer to a request that it cannot read
	refusedBytes int64
	idle         bool
	ending       bool // no more requests are wanted
	closed       bool
	last         time.Time // when reading ends, if it is ending
	done         chan struct{}
}

// MaxStreams is how many requests of an HTTP/2 connection Server.HTTP may answer at
// once: each may have a file open, and MaxConns counts them.
const MaxStreams = 4

// errUnread is a request that net/http answers itself.
var errUnread = error(&Error{Kind: BadRequest, Err: errors.New("net/http cannot read the request")})

// preface begins HTTP/2 (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n"

// handOver lets Server.HTTP answer, and returns its error.
func (w *reply) handOver() error {
	r, c := w.run, w.conn
	w.watch()
	h := &HTTPConn{Conn: w.to, run: r, slot: c.slot, w: w, head: c.head, counted: c.counted, tooFast: c.tooFast, done: make(chan struct{})}
	if h.streams = bytes.HasPrefix(c.head, []byte(preface)); h.streams {
		c.slot.reserve(MaxStreams - 1)
	}
	setNoDelay(c.Conn) // what follows the head would wait until the client has acknowledged it
	stop := context.AfterFunc(r.soft, h.end)
	err := r.protect(w.req, func() error { return r.HTTP(h, w.req) })
	stop()
	_ = h.Close()
	if h.refused != 0 {
		s := Served{Status: h.refused, Bytes: h.refusedBytes, Took: time.Since(c.accepted), Err: cmp.Or(err, errUnread)}
		if w.logged.Swap(true) {
			s.Selector = "-" // a later request, whose line is not known
		}
		r.ended(w.req.outcome(s))
	}
	return err
}

// Read reads what the client sends.
func (c *HTTPConn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	return c.Conn.Read(p)
}

// Write sends p.
func (c *HTTPConn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	c.noteRefusal(p)
	return c.w.send(p)
}

// noteRefusal records the status of an answer that no handler has made.
func (c *HTTPConn) noteRefusal(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := 0
	_, _ = fmt.Sscanf(string(p[:min(len(p), 16)]), "HTTP/1.1 %d", &status)
	if status >= 400 && !c.handled && !c.streams {
		c.refused, c.refusedBytes = status, int64(len(p))
	}
}

// ReadFrom sends all of r. If r is an [io.LimitedReader] of an *os.File, or of a reader
// with a method OSFile() *os.File, it sends the file as a FileSender does.
func (c *HTTPConn) ReadFrom(r io.Reader) (int64, error) {
	var file *os.File
	part, _ := r.(*io.LimitedReader)
	if part != nil {
		switch f := part.R.(type) {
		case *os.File:
			file = f
		case interface{ OSFile() *os.File }:
			file = f.OSFile()
		}
	}
	if file == nil {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	sent, err := c.w.SendFile(file, part.N)
	if part.N -= sent; errors.Is(err, ErrShort) {
		err = nil // net/http compares the length
	}
	return sent, err
}

// Close ends reading and writing, and waits for a Write that has begun: it ends
// after StallTimeout at the latest. Each call waits, also when another has closed
// it. The connection itself is closed gently when Server.HTTP returns.
func (c *HTTPConn) Close() error {
	err := c.stop()
	c.reading.Lock() // no Read is under way any more
	defer c.reading.Unlock()
	c.writing.Lock() // HTTP/2 writes in a goroutine of its own
	defer c.writing.Unlock()
	return err
}

func (c *HTTPConn) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	close(c.done)
	return c.Conn.SetReadDeadline(time.Now().Add(-time.Second))
}

func (c *HTTPConn) isClosed() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Done is closed by Close.
func (c *HTTPConn) Done() <-chan struct{} { return c.done }

// SetDeadline sets the read deadline; writes use StallTimeout.
func (c *HTTPConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline sets until when Read waits.
func (c *HTTPConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case c.ending && (t.IsZero() || t.After(c.last)):
		t = c.last
	}
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline does nothing.
func (c *HTTPConn) SetWriteDeadline(time.Time) error { return nil }

// Idle records whether the connection waits for another request. Idle connections are
// evicted first.
func (c *HTTPConn) Idle(idle bool) {
	c.mu.Lock()
	c.idle = idle
	c.handled = c.handled && !idle
	if c.ending && c.streams {
		c.endIn(c.run.lastCall()) // in which the last of a reply is sent
	}
	c.mu.Unlock()
	c.w.progress.rest(idle)
	if idle {
		c.slot.setState(reading)
	} else {
		c.slot.setState(writing)
	}
}

// end lets the connection end after the requests that are being answered, if any.
func (c *HTTPConn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	if c.idle {
		c.endIn(0)
	} else {
		c.endIn(c.run.lastCall())
	}
}

// endIn lets reading end after some time, or, while replies need it, with the drain.
func (c *HTTPConn) endIn(d time.Duration) {
	if c.streams && !c.idle {
		d = max(c.run.drainTimeout(), 0)
	}
	c.last = time.Now().Add(d)
	if !c.closed {
		_ = c.Conn.SetReadDeadline(c.last)
	}
}

// Ending reports whether the server takes no more requests.
func (c *HTTPConn) Ending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending
}

// Allow counts a request of the client, and reports whether it may send one now
// (Server.Rate). It must not be called for robots.txt, which is always allowed.
func (c *HTTPConn) Allow(r *Request) bool {
	c.mu.Lock()
	counted, allowed := c.counted, !c.tooFast
	c.counted, c.tooFast = false, false
	c.mu.Unlock()
	if counted { // by its connection's first bytes
		return allowed
	}
	if c.run.within(r.Remote.Addr()) {
		return true
	}
	c.run.unanswered(r.Remote.Addr(), tooFast)
	return false
}

// Begin records that a handler answers a request.
func (c *HTTPConn) Begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handled = true
}

// Protect calls f for one request on the connection. A panic is logged, and returned as
// an error of this request alone.
func (c *HTTPConn) Protect(r *Request, f func()) error {
	return c.run.protect(r, func() error { f(); return nil })
}

// Served logs one request on the connection, and passes it to the observer. If it
// is not called, the connection is logged as one request.
// The outcome needs no Protocol, Port and Remote.
func (c *HTTPConn) Served(r *Request, s Served) {
	c.w.logged.Store(true)
	c.run.ended(r.outcome(s))
}
