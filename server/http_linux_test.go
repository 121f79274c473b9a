package server

import (
	"errors"
	"io"
	"net"
	"testing"
)

// TestHTTPWritesEndWithClose: HTTP/2 writes in goroutines of its own. One
// that still writes when Server.HTTP returns meets a closed connection, and does
// not touch the reply that is being counted (the race detector says so).
func TestHTTPWritesEndWithClose(t *testing.T) {
	ended := make(chan error, 1)
	addr := startTCP(t, &Server{HTTP: func(c *HTTPConn, r *Request) error {
		begun := make(chan struct{})
		go func() {
			_, err := io.WriteString(c, "first")
			close(begun)
			for err == nil {
				_, err = io.WriteString(c, "more")
			}
			ended <- err
		}()
		<-begun
		return nil
	}})
	c := dialTCP(t, addr)
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if reply, err := io.ReadAll(c); err != nil || len(reply) < len("first") {
		t.Errorf("reply %q, %v", reply, err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the last write ended with %v, not %v", err, net.ErrClosed)
	}
}
