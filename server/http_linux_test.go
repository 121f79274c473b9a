package server

import (
	"crypto/tls"
	"fmt"
	"io"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHTTPIsNotDelayed: the second part of a reply does not wait until the client has
// acknowledged the first, which many do after 40 ms.
func TestHTTPIsNotDelayed(t *testing.T) {
	addr := startTCP(t, &Server{HTTP: func(c *HTTPConn, r *Request) error {
		raw, err := c.Conn.(*headed).Conn.(*socket).Conn.(syscall.Conn).SyscallConn()
		if err != nil {
			return err
		}
		on := 0
		err = raw.Control(func(fd uintptr) {
			on, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY)
		})
		_, _ = fmt.Fprint(c, on != 0)
		return err
	}})
	if got := ask(t, dialTCP(t, addr), "GET / HTTP/1.1\r\n\r\n"); got != "true" {
		t.Errorf("TCP_NODELAY is set: %q", got)
	}
}

// TestHTTPWritesEnd: HTTP/2 writes in goroutines of its own. A write that has begun when
// Server.HTTP returns is sent whole, and a later one fails, and does not touch the reply
// that is being counted (which the race detector checks).
func TestHTTPWritesEnd(t *testing.T) {
	conf, client := tlsConfigs()
	const size = 16 << 20 // more than client and kernel take at once
	began, ended := make(chan struct{}), make(chan error, 1)
	addr := startTCP(t, &Server{TLS: conf, HTTP: func(c *HTTPConn, r *Request) error {
		go func() {
			_, err := c.Write(make([]byte, size))
			for err == nil {
				_, err = io.WriteString(c, "more")
			}
			ended <- err
		}()
		<-began
		return nil
	}})
	c := tls.Client(dialTCP(t, addr), client)
	send(c, "GET / HTTP/1.1\r\n\r\n")
	_, err := io.ReadFull(c, make([]byte, 1))
	must(t, err)
	close(began)
	if n, err := io.Copy(io.Discard, c); err != nil || n < size-1 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := <-ended; err == nil {
		t.Error("a write succeeds after the end")
	}
}
