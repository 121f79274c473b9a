package server

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// conn is a connection, and what is known of it before its request. On Linux an event loop
// has those of a TCP listener until they need a goroutine. Any other connection has one from
// its beginning to its end.
type conn struct {
	net.Conn          // plain; nil while a loop has it
	polled            // by a loop
	socket   *socket  // of Conn
	tls      *tlsConn // nil for plain connections
	head     []byte   // bytes read so far
	ended    bool     // there is no more
	accepted time.Time
	remote   netip.AddrPort
	local    netip.AddrPort    // invalid before it is asked for, or if it is unknown
	asks     string            // for this host, by TLS or as a trusted proxy says
	cert     *x509.Certificate // of the client, by TLS; nil: none
	proxied  bool              // its PROXY header was read
	counted  bool              // by the rate limit
	tooFast  bool              // its client reads so in the session
	begun    bool              // a part of its reply was sent before it got a goroutine
	slot     *slot             // nil: it is not counted

	cancel atomic.Pointer[context.CancelFunc] // of its request
}

func (s *Server) newConn(c net.Conn) *conn {
	return &conn{
		Conn: c, socket: &socket{Conn: c}, accepted: time.Now(),
		remote: addrPort(c.RemoteAddr()), local: addrPort(c.LocalAddr()),
	}
}

// stream returns the connection for requests and replies: TLS, or the plain one.
func (c *conn) stream() net.Conn {
	if c.tls != nil {
		return c.tls
	}
	return c.socket
}

// end closes gracefully after a reply, and with a reset after one that failed: an orderly
// close would make a truncated reply look complete; a reset also frees the kernel's send
// buffer. A file that became shorter counts as complete.
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

// release ends what goes with the connection, when its goroutine ends.
func (c *conn) release() {
	_ = c.Close()
	c.slot.release()
}

// cancelRequest ends the context of the request, if there is one.
func (c *conn) cancelRequest() {
	if cancel := c.cancel.Load(); cancel != nil {
		(*cancel)()
	}
}

// cut closes a connection from outside: with a reset, if it is replied to.
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

// abort closes a connection with a reset, so that a truncated reply does not look
// complete, even in the midst of a system call that sends.
func (c *conn) abort() {
	c.cancelRequest()
	reset(c.Conn)
	if d, ok := c.Conn.(interface{ Disconnect() error }); ok {
		_ = d.Disconnect()
	}
	_ = c.Close()
}

// reset makes the close of a TCP connection a reset.
func reset(c net.Conn) {
	switch c := c.(type) {
	case interface{ SetReset() error }: // of package poll
		_ = c.SetReset()
	case *net.TCPConn:
		_ = c.SetLinger(0)
	}
}

// halfCloser is a connection of TCP, of a Unix socket or of TLS.
type halfCloser interface{ CloseWrite() error }

func closeWrite(c net.Conn) error {
	if half, ok := c.(halfCloser); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// drain shuts down the sending side and goes on reading, so that the kernel does not answer
// late bytes with a reset that would cost the client the reply.
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
