package server

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestHTTPIsNotDelayed: the second part of a reply does not wait until the client has
// acknowledged the first, which many do after 40 ms.
func TestHTTPIsNotDelayed(t *testing.T) {
	off := make(chan int, 1)
	addr := startTCP(t, &Server{HTTP: func(c *HTTPConn, r *Request) error {
		raw, err := c.Conn.(syscall.Conn).SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) {
				value, _ := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY)
				off <- value
			})
		}
		return err
	}})
	c := dialTCP(t, addr)
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil || len(off) == 0 || <-off == 0 {
		t.Errorf("TCP_NODELAY is not set; %v", err)
	}
}

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

// TestHTTPCloseWaitsEachTime: HTTP/2 closes the connection, too, and may still
// wait for a write when Server.HTTP returns. The server's own Close waits as well.
func TestHTTPCloseWaitsEachTime(t *testing.T) {
	begun, closed := make(chan struct{}), make(chan struct{})
	addr := startTCP(t, &Server{HTTP: func(c *HTTPConn, r *Request) error {
		go func() { _, _ = c.Write(make([]byte, 16<<20)) }() // until the client reads
		<-begun
		go func() { _ = c.Close() }()
		<-c.Done()
		close(closed)
		_ = c.Close()
		if c.w.n != 16<<20 {
			t.Errorf("Close returned when a Write had sent %d bytes", c.w.n)
		}
		return nil
	}})
	c := dialTCP(t, addr)
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	close(begun)
	<-closed
	time.Sleep(20 * time.Millisecond) // in which a Close that does not wait returns
	if n, err := io.Copy(io.Discard, c); err != nil || n != 16<<20-1 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
