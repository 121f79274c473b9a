package server

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
)

// tlsHandshake is the first byte of a TLS ClientHello (RFC 8446 section 5.1).
// No Gopher request begins with it.
const tlsHandshake = 0x16

// tlsAlert refuses a handshake: a fatal internal_error, in a record of its own (RFC 8446
// sections 5.1 and 6).
var tlsAlert = []byte{21, 3, 3, 0, 2, 2, 80}

// tlsConn is TLS on a socket. TLS writes each record, of 16 KiB at most, by itself,
// which for a large reply costs as much as all the ciphering. So records are buffered until
// a Write ends, except for connections that begin while the server is busy: many could hold
// records for clients that do not read.
type tlsConn struct {
	*tls.Conn
	below *records
}

const maxRecord = 16 << 10 // bytes (RFC 8446 section 5.1)

// startTLS performs the handshake, which begins with the bytes read already.
func (r *run) startTLS(c *conn) error {
	setNoDelay(c.Conn) // the records of a reply follow each other closely
	below := &records{socket: c.socket, head: c.head}
	if !r.isBusy() {
		below.buffer = bufio.NewWriterSize(c.socket, 4*maxRecord)
	}
	c.head = nil
	session := tls.Server(below, cmp.Or(r.asking, r.TLS))
	if err := session.HandshakeContext(r.hard); err != nil {
		_ = below.flush() // the alert
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	if ack, ok := c.Conn.(interface{ Acknowledge() error }); ok {
		_ = ack.Acknowledge()
	}
	state := session.ConnectionState()
	c.tls, c.asks = &tlsConn{Conn: session, below: below}, state.ServerName
	if len(state.PeerCertificates) > 0 {
		c.cert = state.PeerCertificates[0]
	}
	return below.flush()
}

// Write writes p.
func (c *tlsConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if failed := c.below.flush(); err == nil && failed != nil {
		n, err = 0, failed
	}
	return n, err
}

// CloseWrite ends the session, and then shuts down the sending side.
func (c *tlsConn) CloseWrite() error {
	err := c.Conn.CloseWrite()
	if failed := c.below.flush(); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	return c.below.CloseWrite()
}

// setNoDelay lets small segments be sent at once.
func setNoDelay(c net.Conn) {
	if c, ok := c.(interface{ SetNoDelay(on bool) error }); ok {
		_ = c.SetNoDelay(true)
	}
}

// records is the socket below TLS, with the bytes that were read before.
type records struct {
	*socket
	head []byte

	writing sync.Mutex    // TLS writes also where it reads: an alert or a new key
	buffer  *bufio.Writer // nil: each record is written by itself
}

// Read flushes first what the client may wait for, unless a Write is under way, which does.
func (r *records) Read(p []byte) (int, error) {
	if r.buffer != nil && r.writing.TryLock() {
		err := r.buffer.Flush()
		r.writing.Unlock()
		if err != nil {
			return 0, err
		}
	}
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.socket.Read(p)
}

func (r *records) Write(p []byte) (int, error) {
	if r.buffer == nil {
		return r.socket.Write(p)
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	return r.buffer.Write(p)
}

func (r *records) flush() error {
	if r.buffer == nil {
		return nil
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	return r.buffer.Flush()
}
