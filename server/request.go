package server

// Reading a request, all of it before the request's deadline:
//
//	PROXY header, from a trusted peer → TLS, if the next byte is 0x16 → request line
//
// Both the PROXY header and TLS are optional.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/gophd/gophd/selector"
)

var (
	// errSilent reports a connection that ended or timed out without a request.
	errSilent = errors.New("no request line")

	// errProxy reports a PROXY header from an untrusted address, or a second one.
	errProxy = &Error{Kind: BadRequest, Err: errors.New("a PROXY header that is not expected")}
)

// A step is what the bytes at the beginning of a connection call for.
type step int

const (
	readMore    step = iota // more bytes
	handshake               // a TLS handshake
	requestLine             // answering a request, or an error
	httpLine                // passing the connection to Server.HTTP
)

// readRequest reads the request of a connection. If the client sent none or is refused, the
// request is nil. If both results are set, the error is the reply to the request.
func (r *run) readRequest(c *conn) (*Request, error) {
	deadline := c.accepted.Add(r.requestTimeout())
	_ = c.SetDeadline(deadline)
	stop := context.AfterFunc(r.soft, func() {
		if last := time.Now().Add(r.lastCall()); last.Before(deadline) {
			_ = c.SetReadDeadline(last)
		}
	})
	defer stop()
	for {
		what, n, err := r.next(c)
		switch {
		case errors.Is(err, errSilent) || refusalOf(err) != admitted:
			return nil, err
		case err != nil || what >= requestLine:
			req := new(Request)
			return req, r.parse(req, c, what, n, err)
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

// parse fills in req from the first n bytes of a connection. It returns err, or else the
// error that answers the request.
func (r *run) parse(req *Request, c *conn, what step, n int, err error) error {
	line := c.head[:n]
	*req = Request{
		Remote:      c.remote,
		Local:       c.local,
		TLS:         c.tls != nil,
		ServerName:  c.serverName,
		Certificate: c.cert,
		http:        what == httpLine,
	}
	req.Host, req.Port = r.menuAddr(req.Local)
	switch {
	case !r.isGopher():
		req.Protocol, req.Raw = r.proto.Name, string(line)
		req.robots = r.proto.Robots != nil && r.proto.Robots(req.Raw)
	case err != nil:
	case req.http:
		req.Selector = string(line) // for the log
		at := targetOf(req.Selector)
		req.robots = at != nil && selector.IsRobots(at.Path)
	default:
		if req.RequestLine, err = selector.Parse(line); err != nil {
			return &Error{Kind: BadRequest, Err: err}
		}
		req.robots = selector.IsRobots(req.Selector)
	}
	if err == nil && c.tooFast && !req.robots && !req.http {
		err = errTooFast
	}
	return err
}

// asksRobots reports whether a connection has sent a request for robots.txt.
func (r *run) asksRobots(c *conn, what step, n int) bool {
	var req Request
	return what >= requestLine && r.parse(&req, c, what, n, nil) == nil && req.robots
}

// targetOf returns the target of an HTTP request line, or nil if it is no URL.
func targetOf(line string) *url.URL {
	_, rest, _ := strings.Cut(line, " ")
	target, _, _ := strings.Cut(rest, " ")
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil
	}
	return u
}

// next returns the next step of a connection and the length of the PROXY header, TLS record
// or request at the beginning of head. It charges the request (over TLS, the handshake) to
// the rate limit once. The error is a refusal if the client is over the limit. A TLS client
// over the limit may still get a session, so that it can read the error.
func (r *run) next(c *conn) (what step, n int, err error) {
	switch {
	case len(c.head) == 0:
	case c.tls == nil && !c.proxied && startsProxy(c.head) && r.trusts(c.remote.Addr()):
		if n = needed(c.head); n <= len(c.head) {
			if err = r.proxied(c, n); err != nil {
				return requestLine, 0, err
			}
			return r.next(c)
		}
	case bytes.HasPrefix(c.head, signature2):
		what, err = requestLine, errProxy
	case c.head[0] == tlsHandshake && c.tls == nil && (r.isGopher() || r.proto.TLS):
		if what = handshake; r.TLS != nil {
			n = needed(c.head)
		}
	default:
		what, n, err = r.nextLine(c)
	}
	if n > len(c.head) {
		what, n = readMore, 0
	}
	if what >= handshake && !c.counted && r.limited().rates != nil && !r.asksRobots(c, what, n) {
		c.counted = true
		if !r.allowed(c.remote.Addr()) {
			c.tooFast = what == handshake && r.TLS != nil &&
				r.limited().tlsRates.take(Block(c.remote.Addr()), time.Now())
			if c.tooFast {
				r.logRefusal(c.remote.Addr(), tooFast)
			} else {
				err = tooFast
			}
		}
	}
	switch {
	case err != nil:
	case what == readMore && c.ended:
		err = errSilent
	case what == handshake && r.TLS == nil:
		err = noTLS
	case what == httpLine && r.HTTP == nil:
		err = noHTTP
	}
	return what, n, err
}

// nextLine is next for the request itself. An end of stream ends the request, too.
func (r *run) nextLine(c *conn) (what step, n int, err error) {
	switch p := r.proto; {
	case r.isGopher():
		if line, whole := selector.Line(c.head); whole || c.ended {
			what, err = stepOf(line)
			return what, len(line), err
		}
	case p.TLS && c.tls == nil:
		return requestLine, 0, errSilent
	default:
		if n = min(p.Length(c.head), len(c.head)); n > 0 {
			return requestLine, n, nil
		} else if c.ended {
			return requestLine, len(c.head), nil
		}
	}
	if len(c.head) >= selector.MaxRequest {
		return requestLine, 0, errTooLong
	}
	return readMore, 0, nil
}

// Lines that stepOf tells apart.
var (
	httpRequest = regexp.MustCompile(`(?s)^[A-Z-]+ .* HTTP/[0-9.]+$`)
	proxyLine   = regexp.MustCompile(`^PROXY (TCP4|TCP6|UNKNOWN)( |$)`)
)

// stepOf returns httpLine for a line such as "GET /path HTTP/1.1", and requestLine for any
// other; "GET /path" (HTTP/0.9) is a selector. For a PROXY header of version 1 it returns
// errProxy.
func stepOf(line []byte) (step, error) {
	switch {
	case bytes.HasPrefix(line, signature1) && proxyLine.Match(line):
		return requestLine, errProxy
	case bytes.Contains(line, []byte(" HTTP/")) && httpRequest.Match(line):
		return httpLine, nil
	}
	return requestLine, nil
}

// readMore waits for bytes and appends them to head, which is shorter than MaxRequest.
func (c *conn) readMore() error {
	had := len(c.head)
	c.head = slices.Grow(c.head, selector.MaxRequest-had)
	n, err := c.stream().Read(c.head[had:selector.MaxRequest])
	c.head = c.head[:had+n]
	switch {
	case n > 0 || err == nil:
		return nil
	case errors.Is(err, io.EOF):
		c.ended = true
		return nil
	}
	return fmt.Errorf("%w: %w", errSilent, err)
}

// menuAddr returns the host and port of this server in menus, for a client that connected to
// local. The host is "" if neither is known.
func (r *run) menuAddr(local netip.AddrPort) (host string, port int) {
	host, port = r.Host, r.Port
	if host == "" && local.IsValid() && !local.Addr().IsUnspecified() {
		host = local.Addr().String()
	}
	if port == 0 {
		port = int(local.Port())
	}
	return host, port
}

// The PROXY protocol, versions 1 and 2: a reverse proxy names its client in a header before
// the request. Only trusted peers are believed; without a header, the peer is the client.
// The signature must arrive in one piece (the specification, section 2, requires it of the
// whole header), so a request that only begins like a signature is not delayed.
var (
	signature1 = []byte("PROXY ")
	signature2 = []byte("\r\n\r\n\x00\r\nQUIT\n")
)

func startsProxy(head []byte) bool {
	return bytes.HasPrefix(head, signature1) || bytes.HasPrefix(head, signature2)
}

// needed returns how many bytes must arrive before a PROXY header can be parsed, or before
// a TLS handshake gets a goroutine. For TLS this is the first record, whose header of five
// bytes ends in its length (RFC 8446 section 5.1), at most MaxRequest. For a malformed or
// overlong PROXY header it is the part that parsing fails on.
func needed(head []byte) int {
	const longest1, fixed2, record = 107, 16, 5
	isVersion2 := bytes.HasPrefix(head, signature2)
	switch {
	case bytes.HasPrefix(head, signature1):
		if i := bytes.Index(head, []byte("\r\n")); i >= 0 {
			return i + 2
		}
		return min(longest1, len(head)+1)
	case isVersion2 && len(head) < fixed2:
		return fixed2
	case isVersion2:
		n := fixed2 + int(binary.BigEndian.Uint16(head[14:]))
		if head[12]>>4 != 2 || n > selector.MaxRequest {
			return fixed2
		}
		return n
	case len(head) < record:
		return record
	}
	return min(record+int(binary.BigEndian.Uint16(head[3:])), selector.MaxRequest)
}

// proxied parses the PROXY header of a trusted peer. From then on the connection counts as
// one of the client that the header names.
func (r *run) proxied(c *conn, n int) error {
	h, err := proxyproto.Read(bufio.NewReader(bytes.NewReader(c.head[:n])))
	if err != nil {
		return &Error{
			Kind: BadRequest,
			Err:  fmt.Errorf("reading the PROXY header of %s: %w", c.remote, err),
		}
	}
	c.head, c.proxied = c.head[n:], true
	client, here, ok := h.TCPAddrs()
	if h.Command.IsLocal() || !ok {
		return nil // a connection of the proxy itself, such as a health check
	}
	c.remote, c.local = addrPort(client), addrPort(here)
	if more, err := h.TLVs(); err == nil {
		for _, v := range more {
			if v.Type == proxyproto.PP2_TYPE_AUTHORITY {
				c.serverName = string(v.Value)
			}
		}
	}
	if c.slot == nil {
		return nil
	}
	c.slot.release()
	c.slot = nil
	if why := r.admit(c, reading); why != admitted {
		return why
	}
	return nil
}
