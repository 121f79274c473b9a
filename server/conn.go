package server

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// conn is a connection. On Linux package poll holds the connections of a TCP listener:
// one gets a conn when it first waits for something, and a goroutine only if its reply
// is not at hand. Any other connection has a goroutine.
type conn struct {
	net.Conn          // the socket
	tls      *tlsConn // nil for plain connections
	under    *transport
	head     []byte // bytes read so far
	ended    bool   // there is no more
	accepted time.Time
	remote   netip.AddrPort
	local    netip.AddrPort // invalid: the socket knows it
	asks     string         // for this host, as a trusted proxy says
	proxied  bool           // its PROXY header was read
	counted  bool           // by the rate limit
	begun    bool           // a part of its reply was sent before it got a goroutine
	slot     *slot          // nil: it is not counted
	polled   bool           // its goroutine has given it back

	cancel atomic.Pointer[context.CancelFunc] // of its request
}

func newConn(c net.Conn) *conn {
	return &conn{Conn: c, accepted: time.Now(), remote: addrPort(c.RemoteAddr())}
}

// drain lingers in this goroutine.
func (c *conn) drain(timeout time.Duration) {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.SetReadDeadline(time.Now().Add(timeout)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{c.Conn}) // without WriteTo, a detour through splice(2)
}

// talk returns the stream of requests and replies: TLS, or the socket.
func (c *conn) talk() net.Conn {
	if c.tls != nil {
		return c.tls
	}
	return c.Conn
}

// unwanted ends the context of the request, if there is one.
func (c *conn) unwanted() {
	if cancel := c.cancel.Load(); cancel != nil {
		(*cancel)()
	}
}

// cut closes a connection from outside: with a reset, if it is replied to.
func (c *conn) cut(s *slot) {
	p, ok := c.Conn.(interface{ Evict() bool })
	switch {
	case ok && p.Evict():
	case s.lingers():
		c.close()
	default:
		c.abort()
	}
}

// abort closes a connection with a reset, so that a truncated reply does not look
// complete. It works in the midst of a system call that sends, too.
func (c *conn) abort() {
	c.unwanted()
	c.reset()
	if s, ok := c.Conn.(interface{ Disconnect() error }); ok {
		_ = s.Disconnect()
	}
	c.close()
}

// reset makes the close a reset: the client sees that the reply is truncated.
func (c *conn) reset() {
	if s, ok := c.Conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = s.SetLinger(0)
	}
}

func (c *conn) close() { _ = c.Close() }

func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
