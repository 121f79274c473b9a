// Package ask is the client's side of protocols that take one line and send one reply:
// it connects, plain or inside TLS, sends a request, and reads the reply up to a bound.
package ask

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/menu"
)

// A Dialer connects to servers. The zero value uses net.Dialer and verifies certificates.
type Dialer struct {
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	TLS  *tls.Config
}

// Connect returns a connection, inside TLS if secure. It fails as soon as ctx ends.
func (d Dialer) Connect(ctx context.Context, address string, secure bool) (net.Conn, error) {
	connect := d.Dial
	if connect == nil {
		connect = new(net.Dialer).DialContext
	}
	conn, err := connect(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	bound := &boundConn{Conn: conn}
	bound.release = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	if !secure {
		return bound, nil
	}

	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if d.TLS != nil {
		config = d.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	secured := tls.Client(bound, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = bound.Close()
		return nil, fmt.Errorf("securing the connection to %s: %w", address, err)
	}
	return secured, nil
}

// boundConn releases its context when it is closed.
type boundConn struct {
	net.Conn
	release func() bool
}

func (c *boundConn) Close() error {
	c.release()
	return c.Conn.Close()
}

// CloseWrite ends the request, and lets the reply come.
func (c *boundConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// ErrTooLarge is the error of a reply that exceeds its limit.
var ErrTooLarge = errors.New("the reply is too large")

// A Reply is the reply to one request, while it is read.
type Reply struct {
	conn net.Conn
	left int64
	err  error
}

// Send connects and sends a request. The caller reads at most limit bytes of the reply,
// and closes it.
func (d Dialer) Send(ctx context.Context, address string, secure bool, request string,
	limit int64) (*Reply, error) {
	conn, err := d.Connect(ctx, address, secure)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("asking %s: %w", address, err)
	}
	return &Reply{conn: conn, left: limit}, nil
}

// Read returns the same error from then on: bufio's Peek drops an error, and after a
// reset the next Read would report an end.
func (r *Reply) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.conn.Read(p)
	if int64(n) > r.left {
		n = int(r.left)
		r.err = ErrTooLarge
	}
	r.left -= int64(n)
	return n, r.err
}

// Close closes the connection.
func (r *Reply) Close() error { return r.conn.Close() }

// All sends a request and returns the whole reply. With an error, it returns what came
// before.
func (d Dialer) All(ctx context.Context, address string, secure bool, request string,
	limit int64) ([]byte, error) {
	r, err := d.Send(ctx, address, secure, request, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// IsError reports whether a reply is an error of Gopher, and returns its message: one item
// of type 3 with all four fields, followed by nothing but text for people and a dot. A text
// may begin with a line that resembles an error item.
func IsError(reply []byte) (message string, is bool) {
	first, rest, _ := strings.Cut(string(reply), "\n")
	it, err := menu.ParseItem(first)
	if err != nil || it.Type != menu.TypeError {
		return "", false
	}
	fields := strings.Split(strings.TrimRight(first, "\r"), "\t")
	if len(fields) < 4 {
		return "", false
	}
	if _, err := strconv.ParseUint(strings.TrimSpace(fields[3]), 10, 16); err != nil {
		return "", false
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line != "." &&
			(line[0] != menu.TypeInfo || !strings.Contains(line, "\t")) {
			return "", false
		}
	}
	return it.Label, true
}

// IsBusy reports whether an error is temporary, so that it does not depend on the resource that
// was requested.
func IsBusy(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"busy", "too many", "again", "later", "limit",
		"overload", "temporar"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// Sleep waits between two requests, or until ctx ends, whose error it returns then.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
