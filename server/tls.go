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

// tlsConn is a TLS connection. Package tls writes each record (at most 16 KiB) with a system
// call, which for a large reply costs as much as the encryption. So tlsConn buffers the
// records of one Write, except on a busy server, where the buffers of clients that do not
// read would take too much memory.
type tlsConn struct {
	*tls.Conn
	below   *records
	writing sync.Mutex
}

const maxRecord = 16 << 10 // bytes (RFC 8446 section 5.1)

var recordBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 4*maxRecord) }}

// startTLS performs the TLS handshake. It begins with the bytes in c.head.
func (r *run) startTLS(c *conn) error {
	below := &records{headed: headed{c.socket, c.head}, busy: r.isBusy}
	c.head = nil
	session := tls.Server(below, cmp.Or(r.tlsAskingCert, r.TLS))
	if err := session.HandshakeContext(r.hard); err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	if ack, ok := c.Conn.(interface{ Acknowledge() error }); ok {
		_ = ack.Acknowledge()
	}
	state := session.ConnectionState()
	c.tls = &tlsConn{Conn: session, below: below}
	c.serverName = state.ServerName
	if len(state.PeerCertificates) > 0 {
		c.cert = state.PeerCertificates[0]
	}
	return nil
}

// Write encrypts and sends p.
func (c *tlsConn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if len(p) <= maxRecord || c.below.busy() {
		return c.Conn.Write(p)
	}
	buffer := recordBuffers.Get().(*bufio.Writer)
	defer recordBuffers.Put(buffer)
	buffer.Reset(c.below.Conn)
	c.below.collect(buffer)
	n, err := c.Conn.Write(p)
	if failed := c.below.flush(); err == nil && failed != nil {
		n, err = 0, failed
	}
	return n, err
}

// CloseWrite sends a close_notify alert and shuts down the sending side.
func (c *tlsConn) CloseWrite() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.Conn.CloseWrite(); err != nil {
		return err
	}
	return closeWrite(c.below.Conn)
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

// records is the connection below TLS.
type records struct {
	headed
	busy func() bool // Server.isBusy

	writing sync.Mutex    // for buffer; a Read of TLS may write alerts and key updates
	buffer  *bufio.Writer // if nil, each record is written at once
}

func (r *records) Write(p []byte) (int, error) {
	r.writing.Lock()
	defer r.writing.Unlock()
	if r.buffer != nil {
		return r.buffer.Write(p)
	}
	return r.Conn.Write(p)
}

// collect buffers records until flush is called.
func (r *records) collect(buffer *bufio.Writer) {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.buffer = buffer
}

// flush writes the buffered records.
func (r *records) flush() error {
	r.writing.Lock()
	defer r.writing.Unlock()
	buffer := r.buffer
	r.buffer = nil
	return buffer.Flush()
}
