package server

// What comes before the request line, all of it under the request's deadline:
//
//	PROXY header, from a trusted peer → TLS, if the next byte is 0x16 → request line
//
// A client that begins with anything else is not kept waiting: its first bytes
// begin its request line.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/gophd/gophd/selector"
)

var (
	// errSilent is a connection that ended, or ran out of time, without a request.
	errSilent = errors.New("no request line")

	// errRefused is a connection that was refused, and is closed.
	errRefused = errors.New("refused")

	// errProxy is a PROXY header from an address that is not trusted, or a second one.
	errProxy = &Error{Kind: BadRequest, Err: errors.New("a PROXY header that is not expected")}
)

// A step comes next on a connection.
type step int

const (
	readMore    step = iota
	proxyHeader      // to be read
	handshake        // of TLS
	requestLine      // it is there, or can be none
)

// next returns what a connection needs next, and the length of the header or line
// with which head begins. An error is one of the request line, or errSilent.
func (r *run) next(c *conn) (what step, n int, err error) {
	switch {
	case len(c.head) == 0 && c.ended:
		return readMore, 0, errSilent
	case len(c.head) == 0:
		return readMore, 0, nil
	case c.tls != nil && r.proto == nil:
	case c.tls == nil && !c.proxied && startsProxy(c.head) && r.trusts(c.remote.Addr()):
		return c.ifMore(proxyHeader, headerLen(c.head))
	case bytes.HasPrefix(c.head, signature2):
		return requestLine, 0, errProxy
	case r.proto != nil:
		return r.proto.nextOf(c)
	case c.head[0] == tlsHandshake && (r.TLS == nil || len(c.head) >= selector.MaxRequest):
		return handshake, 0, nil
	case c.head[0] == tlsHandshake:
		return c.ifMore(handshake, recordLen(c.head))
	}
	line, whole := selector.Line(c.head)
	switch {
	case whole || c.ended: // bytes before an end of stream are a request
		return requestLine, len(line), proxyLine(line)
	case len(c.head) >= selector.MaxRequest:
		return requestLine, 0, errTooLong
	}
	return readMore, 0, nil
}

// ifMore returns the step then if n bytes are there, and otherwise readMore, or
// errSilent if no more will come.
func (c *conn) ifMore(then step, n int) (step, int, error) {
	switch {
	case len(c.head) >= n:
		return then, n, nil
	case c.ended:
		return readMore, 0, errSilent
	}
	return readMore, 0, nil
}

// readRequest returns the request line.
func (r *run) readRequest(c *conn) ([]byte, error) {
	stop := func() bool { return true }
	defer func() { stop() }()
	for began := false; ; {
		what, n, err := r.next(c)
		if !r.count(c, what) {
			r.refuse(c, tooFast)
			return nil, errRefused
		}
		switch {
		case err != nil:
			return nil, err
		case what == requestLine:
			return c.head[:n], nil
		case what == proxyHeader:
			err = r.proxied(c, n)
		case !began:
			began = true
			stop, err = r.limitReading(c)
		case what == handshake:
			err = r.startTLS(c)
		default:
			err = c.readMore()
		}
		if err != nil {
			return nil, err
		}
	}
}

// startTLS performs the handshake, which begins with the bytes read already. Without a
// certificate it closes the connection: the client could not read an error item.
func (r *run) startTLS(c *conn) error {
	if r.TLS == nil {
		r.refuse(c, noTLS)
		return errRefused
	}
	noDelay(c.Conn) // the records of a reply follow each other closely
	t := &transport{Conn: c.Conn, head: c.head}
	c.head = nil
	shaken := tls.Server(t, r.TLS)
	if err := shaken.HandshakeContext(r.hard); err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	if s, ok := c.Conn.(interface{ Acknowledge() error }); ok {
		_ = s.Acknowledge()
	}
	t.stall = r.stallTimeout()
	c.tls, c.under = &tlsConn{shaken, t, r.isBusy}, t
	return nil
}

// count counts a request once, and reports whether its address may send it.
func (r *run) count(c *conn, what step) bool {
	if c.counted || what < handshake {
		return true
	}
	c.counted = true
	return r.within(c.remote.Addr())
}

// limitReading sets the deadline of the request.
func (r *run) limitReading(c *conn) (stop func() bool, err error) {
	deadline := c.accepted.Add(r.requestTimeout())
	if c.SetDeadline(deadline) != nil {
		err = errSilent
	}
	return context.AfterFunc(r.soft, func() {
		if last := time.Now().Add(r.lastCall()); last.Before(deadline) {
			_ = c.SetReadDeadline(last)
		}
	}), err
}

// readMore reads what there is.
func (c *conn) readMore() error {
	if len(c.head) == cap(c.head) {
		c.head = append(make([]byte, 0, min(max(512, 4*len(c.head)), selector.MaxRequest)), c.head...)
	}
	n, err := c.talk().Read(c.head[len(c.head):cap(c.head)])
	c.head = c.head[:len(c.head)+n]
	switch {
	case n > 0 || err == nil:
		return nil
	case errors.Is(err, io.EOF) && len(c.head) > 0:
		c.ended = true
		return nil
	}
	return fmt.Errorf("%w: %w", errSilent, err)
}

// The PROXY protocol, versions 1 and 2: a reverse proxy names its client in a header.
// Only trusted peers are believed; without a header, the peer is the client. The
// signature must arrive in one piece, as the specification demands of the whole header
// (section 2), so that no request waits because it begins like a signature.

// signature1 and signature2 open the header's versions.
var (
	signature1 = []byte("PROXY ")
	signature2 = []byte("\r\n\r\n\x00\r\nQUIT\n")
)

func startsProxy(head []byte) bool {
	return bytes.HasPrefix(head, signature1) || bytes.HasPrefix(head, signature2)
}

// headerLen returns how many bytes must arrive before a PROXY header can be read. A
// malformed or overlong header is read as it is.
func headerLen(head []byte) int {
	const longest1, fixed2 = 107, 16
	if bytes.HasPrefix(head, signature1) {
		if i := bytes.Index(head, []byte("\r\n")); i >= 0 {
			return i + 2
		}
		return min(longest1, max(len(head)+1, len(signature1)+1))
	}
	if len(head) < fixed2 {
		return fixed2
	}
	n := fixed2 + int(binary.BigEndian.Uint16(head[14:]))
	if head[12]>>4 != 2 || n > selector.MaxRequest {
		return fixed2
	}
	return n
}

// proxyLine returns an error for a PROXY header of version 1, which is no request
// line.
func proxyLine(line []byte) error {
	rest, ok := bytes.CutPrefix(line, signature1)
	if !ok {
		return nil
	}
	family, _, _ := bytes.Cut(rest, []byte(" "))
	if slices.Contains([]string{"TCP4", "TCP6", "UNKNOWN"}, string(family)) {
		return errProxy
	}
	return nil
}

// proxied reads the header of a trusted peer: from then on the header names the client,
// and the limits of that client's address apply.
func (r *run) proxied(c *conn, n int) error {
	h, err := proxyproto.Read(bufio.NewReader(bytes.NewReader(c.head[:n])))
	if err != nil {
		return &Error{Kind: BadRequest, Err: fmt.Errorf("reading the PROXY header of %s: %w", c.remote, err)}
	}
	c.head, c.proxied = c.head[n:], true
	client, here, ok := h.TCPAddrs()
	if h.Command.IsLocal() || !ok {
		return nil // of the proxy's own
	}
	c.remote, c.local = addrPort(client), addrPort(here)
	if more, err := h.TLVs(); err == nil {
		for _, v := range more {
			if v.Type == proxyproto.PP2_TYPE_AUTHORITY {
				c.asks = string(v.Value)
			}
		}
	}
	if c.slot == nil {
		return nil
	}
	c.slot.leave()
	c.slot = nil
	if why := r.admit(c, reading); why != admitted {
		r.refuse(c, why)
		return errRefused
	}
	return nil
}
