package server

import (
	"context"
	"net"

	"github.com/gophd/gophd/selector"
)

// A Protocol is a way other than Gopher to send one request on a connection and get
// one reply. Its connections share limits, deadlines, log and observer with all others
// of the Server that serves it, and may come by way of a trusted proxy.
type Protocol struct {
	// Name is for the log: "gemini".
	Name string

	// TLS: connections begin with a TLS handshake, after Server.TLS, or are closed.
	TLS bool

	// Length returns how many bytes of head are the request, or 0 if more of it must
	// come. It is called again when more has come, with at most 4,096 bytes; a longer
	// request fails with an Error of the kind BadRequest. What follows the request is
	// read and thrown away.
	Length func(head []byte) int

	// Error returns the reply to a request that failed. It must not show more of the
	// error than ErrorMessage does.
	Error func(err error) []byte

	// Handler answers. The request's Raw is as long as Length says; the Handler sets
	// its Selector and Query, which the log shows.
	Handler Handler
}

// ServeProtocol is Serve for connections of another protocol. Several calls may run at
// once, with Serve among them.
func (s *Server) ServeProtocol(ctx context.Context, l net.Listener, p *Protocol) error {
	return s.serveAs(ctx, l, p)
}

// nextOf is next for a connection of a Protocol.
func (p *Protocol) nextOf(c *conn) (what step, n int, err error) {
	if p.TLS && c.tls == nil {
		if c.head[0] != tlsHandshake {
			return requestLine, 0, errSilent
		}
		return c.ifMore(handshake, recordLen(c.head))
	}
	switch n := p.Length(c.head); {
	case n > 0:
		return requestLine, min(n, len(c.head)), nil
	case c.ended:
		return requestLine, len(c.head), nil
	case len(c.head) >= selector.MaxRequest:
		return requestLine, 0, errTooLong
	}
	return readMore, 0, nil
}

func (r *run) handler() Handler {
	if r.proto != nil {
		return r.proto.Handler
	}
	return r.Server.handler()
}

// errorBody is the reply to a request that failed.
func (r *run) errorBody(err error) []byte {
	if r.proto != nil {
		return r.proto.Error(err)
	}
	return ErrorBody(err)
}

// protocol returns the name of a request's protocol.
func (r *run) protocol(line string) string {
	switch {
	case r.proto != nil:
		return r.proto.Name
	case isHTTP([]byte(line)):
		return "http"
	}
	return "gopher"
}
