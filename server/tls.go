package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"
)

// tlsHandshake is the first byte of a TLS ClientHello (RFC 8446 section 5.1).
// No Gopher request begins with it.
const tlsHandshake = 0x16

// tlsAlert refuses a handshake: a fatal internal_error, in a record of its own (RFC 8446
// sections 5.1 and 6).
var tlsAlert = []byte{21, 3, 3, 0, 2, 2, 80}

// tlsSocket is TLS on a transport. TLS writes each record, of 16 KiB at most, by itself,
// which for a large reply costs as much as all the ciphering. So the records of one
// Write are buffered, except on a busy server, where many connections could hold
// records for clients that do not read.
type tlsSocket struct {
	*transport
	session *tls.Conn
	busy    func() bool
}

const maxRecord = 16 << 10 // bytes (RFC 8446 section 5.1)

var recordBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 4*maxRecord) }}

// startTLS performs the handshake, which begins with the bytes read already.
func (r *run) startTLS(c *conn) error {
	setNoDelay(c.Conn) // the records of a reply follow each other closely
	t := &transport{Conn: c.Conn, head: c.head}
	c.head = nil
	session := tls.Server(t, r.TLS)
	if err := session.HandshakeContext(r.hard); err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	if ack, ok := c.Conn.(interface{ Acknowledge() error }); ok {
		_ = ack.Acknowledge()
	}
	t.stall = r.stallTimeout()
	c.tls, c.asks = &tlsSocket{t, session, r.isBusy}, session.ConnectionState().ServerName
	return nil
}

// Read reads from the session.
func (s *tlsSocket) Read(p []byte) (int, error) { return s.session.Read(p) }

// Write writes p.
func (s *tlsSocket) Write(p []byte) (int, error) {
	if len(p) <= maxRecord || s.busy() {
		return s.session.Write(p)
	}
	records := recordBuffers.Get().(*bufio.Writer)
	records.Reset(steadyWriter{s.transport})
	s.buffer(records)
	n, err := s.session.Write(p)
	if failed := s.flush(); err == nil && failed != nil {
		n, err = 0, failed
	}
	recordBuffers.Put(records)
	return n, err
}

// CloseWrite ends the session, and then shuts down the sending side.
func (s *tlsSocket) CloseWrite() error {
	if err := s.session.CloseWrite(); err != nil {
		return err
	}
	return closeWrite(s.Conn)
}

// setNoDelay lets small segments be sent at once.
func setNoDelay(c net.Conn) {
	if c, ok := c.(interface{ SetNoDelay(on bool) error }); ok {
		_ = c.SetNoDelay(true)
	}
}

// transport is the socket below TLS, with the bytes that were read before.
//
// A TLS connection is unusable after a write has timed out. So the deadlines of a
// reply, which measure progress, must not end its writes: each write here goes on as
// long as it makes progress.
type transport struct {
	net.Conn
	head     []byte
	stall    time.Duration // 0 during the handshake, which has a deadline
	progress *progress     // of the reply; nil: none yet

	writing sync.Mutex    // held while writing: TLS writes also where it reads, an alert or a new key
	records *bufio.Writer // nil: each record is written by itself
}

func (t *transport) Read(p []byte) (int, error) {
	if len(t.head) > 0 {
		n := copy(p, t.head)
		t.head = t.head[n:]
		return n, nil
	}
	return t.Conn.Read(p)
}

func (t *transport) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.records != nil {
		return t.records.Write(p)
	}
	return steadyWriter{t}.Write(p)
}

// buffer lets records be collected until flush is called.
func (t *transport) buffer(records *bufio.Writer) {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.records = records
}

// flush writes what was collected.
func (t *transport) flush() error {
	t.writing.Lock()
	defer t.writing.Unlock()
	records := t.records
	t.records = nil
	return records.Flush()
}

// steadyWriter writes to the socket below TLS as long as there is progress.
type steadyWriter struct{ *transport }

func (w steadyWriter) Write(p []byte) (sent int, err error) {
	if w.stall == 0 {
		return w.Conn.Write(p)
	}
	always := func() bool { return true } // its reply has asked
	err = steadily(w.Conn, w.stall, always, func() (int64, error) {
		n, err := w.Conn.Write(p[sent:])
		sent += n
		if n > 0 && w.progress != nil {
			w.progress.move(true)
		}
		return int64(n), err
	})
	return sent, err
}

// SetWriteDeadline does nothing: see transport.
func (t *transport) SetWriteDeadline(time.Time) error { return nil }
