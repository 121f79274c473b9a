package server

import (
	"crypto/tls"
	"fmt"
	"net"
)

// tlsHandshake is the first byte of a TLS ClientHello (RFC 8446 section 5.1).
// No Gopher request begins with it.
const tlsHandshake = 0x16

// tlsAlert refuses a handshake: a fatal internal_error, in a record of its own (RFC 8446
// sections 5.1 and 6).
var tlsAlert = []byte{21, 3, 3, 0, 2, 2, 80}

// tlsConn is a TLS connection.
type tlsConn struct {
	*tls.Conn
	below net.Conn
}

// startTLS performs the TLS handshake. It begins with the bytes in c.head.
func (r *run) startTLS(c *conn) error {
	session := tls.Server(&headed{c.socket, c.head}, r.tlsConfig)
	c.head = nil
	if err := session.HandshakeContext(r.hard); err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	if ack, ok := c.Conn.(interface{ Acknowledge() error }); ok {
		_ = ack.Acknowledge()
	}
	state := session.ConnectionState()
	c.tls = &tlsConn{session, c.socket}
	c.serverName = state.ServerName
	if len(state.PeerCertificates) > 0 {
		c.cert = state.PeerCertificates[0]
	}
	return nil
}

// CloseWrite sends a close_notify alert and shuts down the sending side.
func (c *tlsConn) CloseWrite() error {
	if err := c.Conn.CloseWrite(); err != nil {
		return err
	}
	return closeWrite(c.below)
}

// headed is a connection whose first bytes have been read already. Read returns them again.
type headed struct {
	net.Conn
	head []byte
}

func (c *headed) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}
