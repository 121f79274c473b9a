// Package dial reads URLs of hosts, and connects to them plain or by TLS.
package dial

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"
)

// Dialer connects, plain or by TLS. Its fields may be nil.
type Dialer struct {
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	TLS  *tls.Config
}

// Connect returns a connection that fails as soon as the context ends.
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
	bound.release = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	if !secure {
		return bound, nil
	}
	secured := tls.Client(bound, d.config(address))
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = bound.Close()
		return nil, fmt.Errorf("securing the connection to %s: %w", address, err)
	}
	return secured, nil
}

// config is the TLS configuration with the name of the server in it.
func (d Dialer) config(address string) *tls.Config {
	config := new(tls.Config)
	if d.TLS != nil {
		config = d.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	return config
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
