package server

// What comes before the request line, all of it under the request's deadline:
//
//	first octets → PROXY header, from a trusted peer → TLS, if the next is 0x16 → request line
//
// A client that begins with anything else is not kept waiting: its first octets
// are the begin of its request line.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/gophd/gophd/selector"
)

// errSilent is a connection that ended, or ran out of time, without a request.
var errSilent = errors.New("no request line")

// special says whether a connection that begins with head may be more than a
// request line.
func (s *Server) special(from netip.Addr, head []byte) bool {
	return head[0] == tlsHandshake || head[0] == '\r' && len(head) > len("\r\n") || s.trusts(from)
}

// unfinished says whether a connection that begins with head has to send more
// before anybody needs to look at it: the rest of a line, or of the record that
// holds a ClientHello.
func (s *Server) unfinished(from netip.Addr, head []byte, line bool) bool {
	switch {
	case len(head) >= selector.MaxRequest || s.trusts(from):
		return false
	case head[0] == tlsHandshake:
		return s.TLS != nil && !wholeRecord(head)
	}
	return !line && !s.special(from, head)
}

// hear returns the request line.
func (r *run) hear(c *conn) ([]byte, error) {
	if line, ok := selector.Line(c.head); ok && !r.special(c.remote.Addr(), c.head) {
		return line, proxyLine(line)
	}
	if err := c.SetDeadline(c.deadline); err != nil {
		return nil, errSilent
	}
	stop := context.AfterFunc(r.soft, func() {
		if last := time.Now().Add(r.lastCall()); last.Before(c.deadline) {
			_ = c.SetReadDeadline(last)
		}
	})
	defer stop()
	if err := r.open(c); err != nil {
		return nil, err
	}
	line, err := c.readLine()
	if err != nil {
		return nil, err
	}
	return line, proxyLine(line)
}

// open takes what a connection may begin with before its request line.
func (r *run) open(c *conn) error {
	if err := c.begin(); err != nil {
		return err
	}
	if r.trusts(c.remote.Addr()) && startsProxy(c.head) {
		if err := r.proxied(c); err != nil {
			return err
		}
		if err := c.begin(); err != nil {
			return err
		}
	}
	switch {
	case c.head[0] == tlsHandshake:
		return r.startTLS(c)
	case bytes.HasPrefix(c.head, signature2):
		return errProxy
	}
	return nil
}

// begin waits for the first octets, if there are none yet.
func (c *conn) begin() error {
	if len(c.head) > 0 {
		return nil
	}
	buf := make([]byte, 512)
	n, err := c.Read(buf)
	if n == 0 {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	c.head = buf[:n]
	return nil
}

// readLine reads the request line. Octets before an end of stream are one,
// those before a time-out are not.
func (c *conn) readLine() ([]byte, error) {
	buf := c.head
	for {
		if line, ok := selector.Line(buf); ok {
			c.head = buf
			return line, nil
		}
		if len(buf) >= selector.MaxRequest {
			return nil, errTooLong
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(max(512, 4*len(buf)), selector.MaxRequest)), buf...)
		}
		n, err := c.talk().Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil && n == 0 {
			if errors.Is(err, io.EOF) && len(buf) > 0 {
				c.head = buf
				return buf, nil
			}
			return nil, fmt.Errorf("%w: %w", errSilent, err)
		}
	}
}
