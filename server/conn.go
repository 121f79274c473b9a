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

// conn is a connection. On Linux the event loop owns the connections of a TCP listener until
// they need a goroutine. Any other connection has a goroutine from accept to close.
type conn struct {
	net.Conn            // the plain connection; nil while the event loop owns it
	polled              // the state in the event loop
	socket     *socket  // wraps Conn
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

// cancelRequest ends the context of the request, if there is one.
func (c *conn) cancelRequest() {
	if cancel := c.cancel.Load(); cancel != nil {
		(*cancel)()
	}
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
	case interface{ SetReset() error }: // poll.Conn
		_ = c.SetReset()
	case *net.TCPConn:
		_ = c.SetLinger(0)
	}
}

// halfCloser is implemented by connections of TCP, Unix sockets and TLS.
type halfCloser interface{ CloseWrite() error }

func closeWrite(c net.Conn) error {
	if half, ok := c.(halfCloser); ok {
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
