package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/pires/go-proxyproto"
)

// The PROXY protocol, versions 1 and 2: a reverse proxy tells in a header who
// its client is. From a trusted peer it is believed; without one, the peer is
// the client. The header has to come in one piece, as its specification wants
// it sent (section 2), so that nobody waits for the rest of what is none.

// signature1 and signature2 open the header's versions.
var (
	signature1 = []byte("PROXY ")
	signature2 = []byte("\r\n\r\n\x00\r\nQUIT\n")
)

// errProxy is a PROXY header from somebody who is not trusted, or a second one.
var errProxy = &Error{Kind: BadRequest, Err: errors.New("a PROXY header that is not expected")}

// trusts says whether a peer may tell a client's address in a PROXY header.
func (s *Server) trusts(a netip.Addr) bool {
	if len(s.TrustProxy) == 0 {
		return false
	}
	a = a.WithZone("") // no prefix contains an address with a zone
	return slices.ContainsFunc(s.TrustProxy, func(p netip.Prefix) bool { return p.Contains(a) })
}

func startsProxy(head []byte) bool {
	return bytes.HasPrefix(head, signature1) || bytes.HasPrefix(head, signature2)
}

// proxyLine says whether a request line is a PROXY header of version 1, which is
// no request.
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

// proxied reads the header of a trusted peer: from there on the client is the
// one that the header names, and the limits are those of its address.
func (r *run) proxied(c *conn) error {
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(c.head), c.Conn))
	h, err := proxyproto.Read(in)
	if err != nil {
		return &Error{Kind: BadRequest, Err: fmt.Errorf("reading the PROXY header of %s: %w", c.remote, err)}
	}
	c.head, _ = in.Peek(in.Buffered())
	client, here, ok := h.TCPAddrs()
	if h.Command.IsLocal() || !ok {
		return nil // of the proxy's own
	}
	c.remote, c.local = addrPort(client), addrPort(here)
	return r.readmit(c)
}

// readmit counts a connection for the address it turned out to have.
func (r *run) readmit(c *conn) error {
	c.stay.leave()
	c.stay = &stay{cut: c.cut, phase: waits}
	why := r.enter(c.remote.Addr(), c.stay)
	if why != admitted {
		r.refused(c.remote.Addr(), why)
		return errBusy
	}
	if !r.within(c.remote.Addr()) {
		return errTooFast
	}
	return nil
}
