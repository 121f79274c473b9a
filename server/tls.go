package server

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

// tlsHandshake is the first octet of a TLS ClientHello (RFC 8446 section 5.1).
// No Gopher request begins with it.
const tlsHandshake = 0x16

// wholeRecord says whether the first record is there: five octets, the last two
// of them the length of the rest (RFC 8446 section 5.1).
func wholeRecord(head []byte) bool {
	const header = 5
	return len(head) >= header && len(head) >= header+int(binary.BigEndian.Uint16(head[3:]))
}

// errNoTLS is a ClientHello to a server without a certificate: an error item
// would be nothing that the client can read.
var errNoTLS = fmt.Errorf("%w: TLS is not offered", errSilent)

// startTLS shakes hands; what was read already is the begin of it.
func (r *run) startTLS(c *conn) error {
	if r.TLS == nil {
		r.refused(c.remote.Addr(), noTLS)
		return errNoTLS
	}
	if s, ok := c.Conn.(interface{ SetNoDelay(bool) error }); ok {
		_ = s.SetNoDelay(true) // the records of a reply follow each other closely
	}
	t := &transport{Conn: c.Conn, head: c.head}
	c.head = nil
	shaken := tls.Server(t, r.TLS)
	if err := shaken.HandshakeContext(r.hard); err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	acknowledge(c.Conn)
	t.stall = r.stallTimeout()
	c.tls, c.under = shaken, t
	return nil
}

// transport is what TLS runs on: the socket, with what was read of it already.
//
// A write of TLS that runs out of time is lost for good, so the deadlines of a
// reply, which are about progress, cannot be those of its writes. Instead each
// write here goes on as long as there is progress.
type transport struct {
	net.Conn
	head  []byte
	stall time.Duration // 0 during the handshake, which has a deadline
	dog   *watchdog     // of the reply; nil: none yet
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
	if t.stall == 0 {
		return t.Conn.Write(p)
	}
	sent := 0
	err := steadily(t.Conn, t.stall, func() (int64, error) {
		n, err := t.Conn.Write(p[sent:])
		sent += n
		if n > 0 && t.dog != nil {
			t.dog.moved(true)
		}
		return int64(n), err
	})
	return sent, err
}

// SetWriteDeadline does nothing: see transport.
func (t *transport) SetWriteDeadline(time.Time) error { return nil }
