package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"
)

// A socket is what a reply is sent on and what closes it. Package poll has sockets that
// it holds while nothing is to be done; ownSocket makes one of any other net.Conn, and
// tlsSocket is TLS on one. What a socket cannot do returns errors.ErrUnsupported.
type socket interface {
	net.Conn
	FileSender
	CloseWrite() error           // shuts down the sending side
	SetNoDelay(on bool) error    // sends small segments at once
	Acknowledge() error          // acknowledges at once what was received
	SetUnsent(n int) error       // bounds how many unsent bytes the kernel buffers
	SetLinger(seconds int) error // 0: Close is a reset, which frees what was not sent
	Disconnect() error           // resets, even in the midst of a system call that sends
	Block() error                // lets calls wait; it fails if the connection was evicted
	Evict() bool                 // closes it to make room, unless a goroutine has it
	Unread() bool                // the client has sent something that nothing has read
	Refuse(body []byte)          // sends a last word, if that is quick
	Linger() bool                // closes gently, and reports whether it still does so when this returns
}

// conn is a connection. On Linux package poll holds the connections of a TCP listener:
// one gets a conn when it first waits for something, and a goroutine only if its reply
// is not at hand. Any other connection has a goroutine.
type conn struct {
	socket              // plain
	tls      *tlsSocket // nil for plain connections
	head     []byte     // bytes read so far
	ended    bool       // there is no more
	accepted time.Time
	remote   netip.AddrPort
	local    netip.AddrPort // invalid before it is asked for, or if it is unknown
	asks     string         // for this host, by TLS or as a trusted proxy says
	proxied  bool           // its PROXY header was read
	counted  bool           // by the rate limit
	tooFast  bool           // its client reads so in the session
	begun    bool           // a part of its reply was sent before it got a goroutine
	slot     *slot          // nil: it is not counted
	lingers  bool           // package poll closes it

	cancel atomic.Pointer[context.CancelFunc] // of its request
}

func newConn(c net.Conn, linger time.Duration) *conn {
	s, ok := c.(socket)
	if !ok {
		s = ownSocket{c, linger}
	}
	return &conn{socket: s, accepted: time.Now(), remote: addrPort(c.RemoteAddr()), local: addrPort(c.LocalAddr())}
}

// stream returns the socket for requests and replies: TLS, or the plain one.
func (c *conn) stream() socket {
	if c.tls != nil {
		return c.tls
	}
	return c.socket
}

// end closes gently after a reply, and with a reset after one that failed: an orderly
// close would make a truncated reply look complete; a reset also frees the kernel's send
// buffer. A file that became shorter counts as complete.
func (c *conn) end(err error) {
	if err != nil && !errors.Is(err, ErrShort) {
		_ = c.SetLinger(0)
		return
	}
	c.slot.setState(lingering)
	c.lingers = c.stream().Linger()
}

// release ends what goes with the connection, when its goroutine ends.
func (c *conn) release() {
	if !c.lingers {
		_ = c.Close()
		c.slot.release()
	}
}

// unwanted ends the context of the request, if there is one.
func (c *conn) unwanted() {
	if cancel := c.cancel.Load(); cancel != nil {
		(*cancel)()
	}
}

// cut closes a connection from outside: with a reset, if it is replied to.
func (c *conn) cut(s *slot) {
	switch {
	case c.Evict():
	case s.lingers():
		_ = c.Close()
	default:
		c.abort()
	}
}

// abort closes a connection with a reset, so that a truncated reply does not look
// complete.
func (c *conn) abort() {
	c.unwanted()
	_ = c.SetLinger(0)
	_ = c.Disconnect()
	_ = c.Close()
}

// drain closes gently in this goroutine: it shuts down the sending side and goes on
// reading, so that the kernel does not answer late bytes with a reset that would cost
// the client the reply.
func drain(s socket, timeout time.Duration) {
	if s.CloseWrite() == nil && s.SetReadDeadline(time.Now().Add(timeout)) == nil {
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{s}) // without WriteTo, a detour through splice(2)
	}
}

// ownSocket is a socket whose connection has a goroutine from its beginning to its end.
type ownSocket struct {
	net.Conn
	linger time.Duration
}

// CloseWrite shuts down the sending side.
func (s ownSocket) CloseWrite() error {
	if half, ok := s.Conn.(halfCloser); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// halfCloser is a connection of TCP, of a Unix socket or of TLS.
type halfCloser interface{ CloseWrite() error }

// SetNoDelay does nothing: package net has set it for all TCP connections.
func (s ownSocket) SetNoDelay(bool) error { return nil }

// SetLinger makes the close of a TCP connection a reset, if seconds is 0.
func (s ownSocket) SetLinger(seconds int) error {
	if tcp, ok := s.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return errors.ErrUnsupported
}

// Refuse sends a last word, and waits for a second at most.
func (s ownSocket) Refuse(body []byte) {
	if s.SetDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = s.Write(body)
	}
}

// Linger drains the connection.
func (s ownSocket) Linger() bool { drain(s, s.linger); return false }

// What package poll does for its own.

func (s ownSocket) SendFile(*os.File, int64) (int64, error) { return 0, errors.ErrUnsupported }
func (s ownSocket) Acknowledge() error                      { return errors.ErrUnsupported }
func (s ownSocket) SetUnsent(int) error                     { return errors.ErrUnsupported }
func (s ownSocket) Disconnect() error                       { return errors.ErrUnsupported }
func (s ownSocket) Block() error                            { return nil }
func (s ownSocket) Evict() bool                             { return false }
func (s ownSocket) Unread() bool                            { return false } // a goroutine reads it at once

func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
