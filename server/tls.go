package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
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
// Write are collected, except on a busy server, where many connections could hold
// collected records for clients that do not read.
type tlsSocket struct {
	*transport
	session *tls.Conn
	busy    func() bool
}

const (
	maxRecord   = 16 << 10 // bytes (RFC 8446 section 5.1)
	collectSize = 64 << 10 // bytes of records that are written at once
)

var collections = sync.Pool{New: func() any { return new([collectSize]byte) }}

// startTLS performs the handshake, which begins with the bytes read already.
func (r *run) startTLS(c *conn) error {
	_ = c.SetNoDelay(true) // the records of a reply follow each other closely
	t := &transport{socket: c.socket, head: c.head}
	c.head = nil
	session := tls.Server(t, r.TLS)
	if err := session.HandshakeContext(r.hard); err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	_ = c.Acknowledge()
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
	room := collections.Get().(*[collectSize]byte)
	s.collect(room[:0])
	n, err := s.session.Write(p)
	if failed := s.flush(); err == nil && failed != nil {
		n, err = 0, failed
	}
	collections.Put(room)
	return n, err
}

// SendFile is for plain sockets.
func (s *tlsSocket) SendFile(*os.File, int64) (int64, error) { return 0, errors.ErrUnsupported }

// CloseWrite ends the session, and then shuts down the sending side.
func (s *tlsSocket) CloseWrite() error {
	if err := s.session.CloseWrite(); err != nil {
		return err
	}
	return s.transport.CloseWrite()
}

// Linger ends the session, and closes gently.
func (s *tlsSocket) Linger() bool { return s.session.CloseWrite() == nil && s.transport.Linger() }

// transport is the socket below TLS, with the bytes that were read before.
//
// A TLS connection is unusable after a write has timed out. So the deadlines of a
// reply, which measure progress, must not end its writes: each write here goes on as
// long as it makes progress.
type transport struct {
	socket
	head     []byte
	stall    time.Duration // 0 during the handshake, which has a deadline
	progress *progress     // of the reply; nil: none yet

	writing   sync.Mutex // held while writing: TLS writes also where it reads, an alert or a new key
	collected []byte     // records that are written together; nil: each by itself
}

func (t *transport) Read(p []byte) (int, error) {
	if len(t.head) > 0 {
		n := copy(p, t.head)
		t.head = t.head[n:]
		return n, nil
	}
	return t.socket.Read(p)
}

func (t *transport) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.stall == 0 {
		return t.socket.Write(p)
	}
	if all := t.collected; len(all) > 0 && len(all)+len(p) > cap(all) {
		t.collected = all[:0]
		if _, err := t.send(all); err != nil {
			return 0, err
		}
	}
	if len(t.collected)+len(p) <= cap(t.collected) {
		t.collected = append(t.collected, p...)
		return len(p), nil
	}
	return t.send(p)
}

// collect lets records be collected in an empty slice, until flush is called.
func (t *transport) collect(room []byte) {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.collected = room
}

// flush writes what was collected.
func (t *transport) flush() error {
	t.writing.Lock()
	defer t.writing.Unlock()
	rest := t.collected
	t.collected = nil
	_, err := t.send(rest)
	return err
}

// send sends p, as long as there is progress.
func (t *transport) send(p []byte) (int, error) {
	sent := 0
	err := steadily(t.socket, t.stall, func() (int64, error) {
		n, err := t.socket.Write(p[sent:])
		sent += n
		if n > 0 && t.progress != nil {
			t.progress.moved(true)
		}
		return int64(n), err
	})
	return sent, err
}

// SetWriteDeadline does nothing: see transport.
func (t *transport) SetWriteDeadline(time.Time) error { return nil }
