package robots

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"
)

// dialer connects, plain or by TLS. Its fields may be nil.
type dialer struct {
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
}

// dial gives a connection that fails as soon as the context ends.
func (d dialer) dial(ctx context.Context, address string, secure bool) (net.Conn, error) {
	connect := d.connect
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
func (d dialer) config(address string) *tls.Config {
	config := new(tls.Config)
	if d.tls != nil {
		config = d.tls.Clone()
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	return config
}

// boundConn lets go of its context when it is closed.
type boundConn struct {
	net.Conn
	release func() bool
}

func (c *boundConn) Close() error {
	c.release()
	return c.Conn.Close()
}
