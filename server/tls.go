package server

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gophd/gophd/selector"
)

// tlsHandshake is the first byte of a TLS ClientHello (RFC 8446 section 5.1).
// No Gopher request begins with it.
const tlsHandshake = 0x16

// recordLen returns how many bytes must arrive before a handshake is worth a goroutine:
// the first record, whose header of five bytes ends in its length (RFC 8446 section
// 5.1), or MaxRequest if it is longer.
func recordLen(head []byte) int {
	const header = 5
	if len(head) < header {
		return header
	}
	return min(header+int(binary.BigEndian.Uint16(head[3:])), selector.MaxRequest)
}

// tlsConn is TLS on a transport. TLS writes each record, of 16 KiB at most, by itself,
// which for a large reply costs as much as all the ciphering. So the records of one
// Write are collected, except on a busy server, where many connections could hold
// collected records for clients that do not read.
type tlsConn struct {
	*tls.Conn
	under *transport
	busy  func() bool
}

const (
	maxRecord   = 16 << 10 // bytes (RFC 8446 section 5.1)
	collectSize = 64 << 10 // bytes of records that are written at once
)

var collections = sync.Pool{New: func() any { return new([collectSize]byte) }}

// Write writes p.
func (c *tlsConn) Write(p []byte) (int, error) {
	if len(p) <= maxRecord || c.busy() {
		return c.Conn.Write(p)
	}
	room := collections.Get().(*[collectSize]byte)
	c.under.collect(room[:0])
	n, err := c.Conn.Write(p)
	if failed := c.under.flush(); err == nil && failed != nil {
		n, err = 0, failed
	}
	collections.Put(room)
	return n, err
}

// SetUnsent calls the socket's.
func (c *tlsConn) SetUnsent(n int) error {
	if s, ok := c.under.Conn.(interface{ SetUnsent(n int) error }); ok {
		return s.SetUnsent(n)
	}
	return errors.ErrUnsupported
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

	writing   sync.Mutex // held while writing: TLS writes also where it reads, an alert or a new key
	collected []byte     // records that are written together; nil: each by itself
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
	if t.stall == 0 {
		return t.Conn.Write(p)
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
	err := steadily(t.Conn, t.stall, func() (int64, error) {
		n, err := t.Conn.Write(p[sent:])
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
