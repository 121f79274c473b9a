package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// tlsConfigs returns the configurations of a server and a client, with the certificate of
// package httptest.
func tlsConfigs() (server, client *tls.Config) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	client = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	client.ServerName = "example.com"
	return &tls.Config{Certificates: s.TLS.Certificates}, client
}

func TestTLSOnTheSamePort(t *testing.T) {
	conf, client := tlsConfigs()
	addr := startTCP(t, &Server{TLS: conf, Host: "gopher.example", Port: 70, HTTP: sayHTTP,
		Handler: HandlerFunc(seen)})
	for request, want := range map[string]string{
		"/s\r\n": "gopher.example:70 /s", "/s": "gopher.example:70 /s",
		"\r\n":                    "gopher.example:70 ",
		"GET /a HTTP/1.1\r\n\r\n": "HTTP/1.1 200 OK\r\n\r\nGET /a, TLS true",
		"PROXY TCP4 192.0.2.1 192.0.2.2 1 70\r\n": badRequest,
	} {
		c := tls.Client(dialTCP(t, addr), client)
		send(c, request)
		_ = c.CloseWrite()
		got, err := io.ReadAll(c)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%q got %q, %v", request, got, err)
		}
	}
	if got := ask(t, dialTCP(t, addr), "/plain\r\n"); !strings.Contains(got, "/plain") {
		t.Errorf("without TLS: %q", got)
	}
}

// The request's deadline includes the handshake: a client that trickles is closed.
func TestAbuseSlowHandshake(t *testing.T) {
	conf, _ := tlsConfigs()
	addr := startTCP(t, &Server{Handler: atHand(""), TLS: conf,
		RequestTimeout: 400 * time.Millisecond})
	var all sync.WaitGroup
	for _, hello := range []string{"\x16", "\x16\x03\x01\x02\x00\x01",
		"\x16\x03\x01\x02\x00" + strings.Repeat("x", 256)} {
		all.Go(func() {
			c := dialTCP(t, addr)
			_, err := io.WriteString(c, hello)
			for err == nil {
				time.Sleep(5 * time.Millisecond)
				_, err = c.Write([]byte{0})
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%.6q is still open", hello)
			}
		})
	}
	all.Wait()
}

// heldUp is a connection one of whose writes takes longer than the stall time, whatever
// its deadline.
type heldUp struct {
	net.Conn
	writes int
}

func (c *heldUp) Write(p []byte) (int, error) {
	if c.writes++; c.writes == 10 {
		time.Sleep(DefaultStallTimeout * 3 / 2)
		_ = c.SetWriteDeadline(time.Time{})
	}
	return c.Conn.Write(p)
}

// A handler whose write is delayed is not taken for one that hangs.
func TestTLSHeldUpWrite(t *testing.T) {
	conf, client := tlsConfigs()
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		s := &Server{TLS: conf, Handler: HandlerFunc(func(w ResponseWriter, _ *Request) error {
			_, err := w.Write(make([]byte, size))
			return err
		})}
		raw, conn := net.Pipe()
		done := make(chan struct{})
		go func() { s.ServeConn(t.Context(), &heldUp{Conn: conn}); close(done) }()
		c := tls.Client(raw, client)
		send(c, "/\n")
		if got, err := io.ReadAll(c); len(got) != size || err != nil {
			t.Errorf("got %d of %d bytes, %v", len(got), size, err)
		}
		_ = raw.Close()
		<-done
	})
}

// When TLS reads an invalid record, it writes an alert, perhaps in the middle of a large reply.
// The alert follows the records written before it, and is never written into their buffer (which
// the race detector checks).
func TestTLSAlertWhileWriting(t *testing.T) {
	conf, client := tlsConfigs()
	addr := startTCP(t, &Server{TLS: conf, HTTP: func(c *HTTPConn, _ *Request) error {
		var all sync.WaitGroup
		all.Go(func() { _, _ = io.Copy(io.Discard, c) })
		all.Go(func() {
			for part := make([]byte, 1<<20); ; {
				if _, err := c.Write(part); err != nil {
					return
				}
			}
		})
		all.Wait()
		return nil
	}})
	for i := range 8 {
		raw := dialTCP(t, addr)
		c := tls.Client(raw, client)
		_, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
		if err == nil {
			_, err = io.CopyN(io.Discard, c, 1<<20+int64(i)<<14)
		}
		if err == nil {
			_, err = raw.Write(append([]byte{0x17, 3, 3, 0, 20}, make([]byte, 20)...)) // no record of this connection
		}
		must(t, err)
		_, err = io.Copy(io.Discard, c)
		if fault := (*net.OpError)(nil); errors.As(err, &fault) && fault.Op == "local error" {
			t.Errorf("the client got records that it could not read: %v", err)
		}
		_ = raw.Close()
	}
}

// acknowledging is a connection that records when Acknowledge is called: it must be after the
// handshake and before the request is read. Otherwise a client that delays small segments until
// the last one is acknowledged (Nagle) would wait for the kernel's delay of 40 ms.
type acknowledging struct {
	net.Conn
	read, at *atomic.Int64
}

func (c acknowledging) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func (c acknowledging) Acknowledge() error {
	c.at.Store(c.read.Load())
	return nil
}

func TestTLSClientWithNagle(t *testing.T) {
	conf, client := tlsConfigs()
	ours, theirs := net.Pipe()
	var read, at atomic.Int64
	go (&Server{Handler: HandlerFunc(seen), TLS: conf,
		RequestTimeout: time.Hour}).ServeConn(t.Context(), acknowledging{theirs, &read, &at})
	c := tls.Client(ours, client)
	must(t, c.Handshake())
	go send(c, "/s\r\n")
	_, err := io.ReadFull(c, make([]byte, 1))
	must(t, err)
	_ = ours.Close()
	if at.Load() == 0 || at.Load() >= read.Load() {
		t.Errorf("acknowledged after %d of %d bytes", at.Load(), read.Load())
	}
}
