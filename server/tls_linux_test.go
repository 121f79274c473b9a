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
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// tlsConfigs makes a certificate, and what a server and a client need for it.
func tlsConfigs(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"gopher.example"}, NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{RootCAs: pool, ServerName: "gopher.example"}
}

func TestTLSOnTheSamePort(t *testing.T) {
	conf, client := tlsConfigs(t)
	file := filepath.Join(t.TempDir(), "large")
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if err := os.WriteFile(file, large, 0o600); err != nil {
		t.Fatal(err)
	}
	h := HandlerFunc(func(w ResponseWriter, r *Request) error {
		if r.Selector != "/large" {
			return seen(w, r)
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		_, err = w.(io.ReaderFrom).ReadFrom(io.LimitReader(f, int64(len(large))))
		return err
	})
	for _, s := range []*Server{{Handler: h}, {Handler: quickOnly{h}}} {
		s.TLS, s.Host, s.Port, s.HTTP = conf, "gopher.example", 70, sayHTTP
		addr := startTCP(t, s)
		for request, want := range map[string]string{
			"/s\r\n": "gopher.example:70 /s", "/s": "gopher.example:70 /s", "\r\n": "gopher.example:70 ",
			"/large\r\n": string(large), "GET /a HTTP/1.1\r\n\r\n": "HTTP/1.1 200 OK\r\n\r\nGET /a, TLS true",
			"PROXY TCP4 192.0.2.1 192.0.2.2 1 70\r\n": badRequest,
		} {
			c := tls.Client(dialTCP(t, addr), client)
			_, _ = io.WriteString(c, request)
			_ = c.CloseWrite()
			got, err := io.ReadAll(c)
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%q got %d octets: %.100q, %v", request, len(got), got, err)
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

// The handshake is under the request's deadline, whatever trickles in.
func TestAbuseSlowHandshake(t *testing.T) {
	conf, _ := tlsConfigs(t)
	addr := startTCP(t, &Server{Handler: &atHand{}, TLS: conf, RequestTimeout: 400 * time.Millisecond})
	begin := time.Now()
	var all sync.WaitGroup
	for _, hello := range []string{"\x16", "\x16\x03\x01\x02\x00\x01", "\x16\x03\x01\x02\x00" + strings.Repeat("x", 512)} {
		all.Go(func() {
			c := dialTCP(t, addr)
			for _, b := range []byte(hello) {
				if _, err := c.Write([]byte{b}); err != nil {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		})
	}
	all.Wait()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("ended after %v", took)
	}
}

// A client over TLS may read as slowly as one without: what counts is progress.
func TestTLSSlowReader(t *testing.T) {
	conf, client := tlsConfigs(t)
	body := bytes.Repeat([]byte("0123456789"), 1<<20)
	addr := startTCP(t, &Server{StallTimeout: 300 * time.Millisecond, TLS: conf, Handler: HandlerFunc(
		func(w ResponseWriter, _ *Request) error { _, err := w.Write(body); return err })})
	raw := dialTCP(t, addr)
	_ = raw.SetReadBuffer(64 << 10)
	c := tls.Client(raw, client)
	_, _ = io.WriteString(c, "/\n")
	var got bytes.Buffer
	for err := error(nil); err == nil; time.Sleep(10 * time.Millisecond) { // longer in all than the stall time
		_, err = io.CopyN(&got, c, 256<<10)
	}
	if !bytes.Equal(got.Bytes(), body) {
		t.Errorf("got %d of %d octets", got.Len(), len(body))
	}
}

func TestAbuseTLSNeverReads(t *testing.T) {
	conf, client := tlsConfigs(t)
	ended := make(chan error, 1)
	addr := startTCP(t, &Server{StallTimeout: 200 * time.Millisecond, TLS: conf, Handler: HandlerFunc(
		func(w ResponseWriter, _ *Request) (err error) {
			for err == nil {
				_, err = w.Write(make([]byte, 1<<20))
			}
			ended <- err
			return err
		})})
	c := tls.Client(dialTCP(t, addr), client)
	_, _ = io.WriteString(c, "/\n")
	if err := <-ended; !errors.Is(err, errStalled) {
		t.Errorf("ended with %v", err)
	}
}

// TLS ends here, behind a proxy that tells who the client is.
func TestTLSBehindAProxy(t *testing.T) {
	conf, client := tlsConfigs(t)
	addr := startTCP(t, &Server{
		Handler: quickOnly{HandlerFunc(seen)}, TLS: conf, TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")},
	})
	for _, header := range []string{"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n", v2("192.0.2.1:1234", "198.51.100.1:70")} {
		raw := dialFrom(t, "127.0.0.9", addr)
		_, _ = io.WriteString(raw, header)
		c := tls.Client(raw, client)
		if got := exchange(t, c, "/s\r\n"); got != "192.0.2.1:1234 198.51.100.1:70 /s" {
			t.Errorf("%q: %q", header, got)
		}
	}
}

// A client that speaks plainly is not kept waiting by what else the port knows.
func TestPlainClientIsNotDelayed(t *testing.T) {
	conf, _ := tlsConfigs(t)
	for name, s := range map[string]*Server{
		"plain": {}, "all": {TLS: conf, TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Handler = &atHand{body: []byte("quick")}
			addr := startTCP(t, s)
			for _, first := range []string{"/", "\r", "P", "\n", "\x15", "G"} {
				c := dialTCP(t, addr)
				begin := time.Now()
				if got := exchange(t, c, first+"\n"); got == "" || time.Since(begin) > time.Second {
					t.Errorf("%q: %q after %v", first, got, time.Since(begin))
				}
			}
		})
	}
}

// A client that holds small segments back until the last one is acknowledged
// does not wait for the kernel's delay, which is 40 ms.
func TestTLSClientWithNagle(t *testing.T) {
	conf, client := tlsConfigs(t)
	for name, h := range map[string]Handler{"goroutine": HandlerFunc(seen), "fast": quickOnly{HandlerFunc(seen)}} {
		addr := startTCP(t, &Server{Handler: h, TLS: conf})
		least := time.Hour
		for range 10 {
			tcp := dialTCP(t, addr)
			_ = tcp.SetNoDelay(false)
			begin := time.Now()
			c := tls.Client(tcp, client)
			_, _ = io.WriteString(c, "/s\r\n")
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			least = min(least, time.Since(begin))
		}
		if least > 35*time.Millisecond {
			t.Errorf("%s: the fastest of ten took %v", name, least)
		}
	}
}
