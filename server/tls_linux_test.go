package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// tlsConfigs makes a certificate and the configurations of a server and a client.
func tlsConfigs(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"gopher.example"},
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	must(t, err)
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der},
			PrivateKey: key}}},
		&tls.Config{RootCAs: pool, ServerName: "gopher.example"}
}

func TestTLSOnTheSamePort(t *testing.T) {
	conf, client := tlsConfigs(t)
	file := filepath.Join(t.TempDir(), "large")
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	must(t, os.WriteFile(file, large, 0o600))
	h := HandlerFunc(func(w ResponseWriter, r *Request) error {
		if r.Selector != "/large" {
			return seen(w, r)
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		_, err = w.(FileSender).SendFile(f, int64(len(large)))
		return err
	})
	for _, s := range []*Server{{Handler: h}, {Handler: quickOnly{h}}} {
		s.TLS, s.Host, s.Port, s.HTTP = conf, "gopher.example", 70, sayHTTP
		addr := startTCP(t, s)
		for request, want := range map[string]string{
			"/s\r\n": "gopher.example:70 /s", "/s": "gopher.example:70 /s",
			"\r\n":                    "gopher.example:70 ",
			"/large\r\n":              string(large),
			"GET /a HTTP/1.1\r\n\r\n": "HTTP/1.1 200 OK\r\n\r\nGET /a, TLS true",
			"PROXY TCP4 192.0.2.1 192.0.2.2 1 70\r\n": badRequest,
		} {
			c := tls.Client(dialTCP(t, addr), client)
			_, _ = io.WriteString(c, request)
			_ = c.CloseWrite()
			got, err := io.ReadAll(c)
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%q got %d bytes: %.100q, %v", request, len(got), got, err)
			}
		}
		if got := exchange(t, dialTCP(t, addr), "/plain\r\n"); !strings.Contains(got, "/plain") {
			t.Errorf("without TLS: %q", got)
		}
	}
}

// quickOnly makes the server take its fast path for a handler.
type quickOnly struct{ Handler }

func (quickOnly) Quick(*Request) (Answer, bool) { return Answer{}, false }

// The request's deadline includes the handshake: a client that trickles is closed.
func TestAbuseSlowHandshake(t *testing.T) {
	conf, _ := tlsConfigs(t)
	addr := startTCP(t, &Server{Handler: &atHand{}, TLS: conf,
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
	conf, client := tlsConfigs(t)
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
		_, _ = io.WriteString(c, "/\n")
		if got, err := io.ReadAll(c); len(got) != size || err != nil {
			t.Errorf("got %d of %d bytes, %v", len(got), size, err)
		}
		_ = raw.Close()
		<-done
	})
}

// A reply whose client reads nothing ends by the deadline of its write, with TLS or without,
// not by the timer for handlers that hang.
func TestNeverReads(t *testing.T) {
	conf, client := tlsConfigs(t)
	for name, encrypted := range map[string]bool{"plain": false, "TLS": true} {
		synctest.Test(t, func(t *testing.T) {
			told := make(witness, 1)
			s := &Server{TLS: conf, Observer: told, RequestTimeout: time.Hour,
				Handler: HandlerFunc(func(w ResponseWriter, _ *Request) error {
					_, err := w.Write(make([]byte, 1<<20))
					return err
				})}
			p, stop := start(t, s)
			raw := p.dial()
			c := raw
			if encrypted {
				c = tls.Client(raw, client)
			}
			_, _ = io.WriteString(c, "/\n")
			_, _ = io.ReadFull(c, make([]byte, 1))
			if got := <-told; !errors.Is(got.Err, errStalled) {
				t.Errorf("%s: ended after %v with %v", name, got.Took, got.Err)
			}
			_ = raw.Close()
			stop()
		})
	}
}

// When TLS reads an invalid record, it writes an alert, perhaps in the middle of a large reply.
// The alert follows the records written before it, and is never written into their buffer (which
// the race detector checks).
func TestTLSAlertWhileWriting(t *testing.T) {
	conf, client := tlsConfigs(t)
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

// A TLS handshake may follow a PROXY header.
func TestTLSBehindAProxy(t *testing.T) {
	conf, client := tlsConfigs(t)
	addr := startTCP(t, &Server{
		Handler: quickOnly{HandlerFunc(seen)}, TLS: conf,
		TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")},
	})
	for _, header := range []string{"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n",
		v2("192.0.2.1:1234", "198.51.100.1:70")} {
		raw := dialFrom(t, "127.0.0.9", addr)
		_, _ = io.WriteString(raw, header)
		c := tls.Client(raw, client)
		if got := exchange(t, c,
			"/s\r\n"); got != "192.0.2.1:1234 198.51.100.1:70 /s of gopher.example" {
			t.Errorf("%q: %q", header, got)
		}
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
	conf, client := tlsConfigs(t)
	ours, theirs := net.Pipe()
	var read, at atomic.Int64
	go (&Server{Handler: HandlerFunc(seen), TLS: conf,
		RequestTimeout: time.Hour}).ServeConn(t.Context(), acknowledging{theirs, &read, &at})
	c := tls.Client(ours, client)
	must(t, c.Handshake())
	go func() { _, _ = io.WriteString(c, "/s\r\n") }()
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = ours.Close()
	if at.Load() == 0 || at.Load() >= read.Load() {
		t.Errorf("acknowledged after %d of %d bytes", at.Load(), read.Load())
	}
}
