//go:build linux

package server

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// spartanLike expects a line and as many bytes as its last digit.
func spartanLike(head []byte) int {
	i := bytes.IndexByte(head, '\n')
	if i < 1 {
		return 0
	}
	if n := i + 1 + int(head[i-1]-'0'); len(head) >= n {
		return n
	}
	return 0
}

// A protocol has its own requests and errors; limits and the log are the server's, in the event
// loop and over TLS.
func TestProtocol(t *testing.T) {
	conf, client := tlsConfigs()
	for _, encrypted := range []bool{false, true} {
		var log treetest.Log
		s := &Server{TLS: conf, Log: log.Logger(), MaxConnsPerIP: 1, RequestTimeout: time.Minute}
		l := listenTCP(t)
		client.Certificates = conf.Certificates
		stop := serving(t, s, l, &Protocol{Name: "test", TLS: encrypted, Length: spartanLike,
			ClientCert: encrypted,
			Error:      func(err error) []byte { return []byte("! " + ErrorMessage(err)) },
			Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
				if (r.Certificate != nil) != encrypted || r.TLS != encrypted {
					t.Errorf("TLS: %v, certificate %v", r.TLS, r.Certificate)
				}
				if r.Selector = "/" + strings.TrimSpace(r.Raw); strings.HasPrefix(r.Raw,
					"GET / HTTP/1.1\r\n0") {
					return ErrNotFound
				}
				_, err := io.WriteString(w, "<"+r.Raw+">")
				return err
			})})
		for request, want := range map[string]string{
			"a 0\nrest":                        "<a 0\n>",
			"a 3\nabcd":                        "<a 3\nabc>",
			"GET / HTTP/1.1\r\n0":              "! Not found: nothing here has that name", // what is HTTP elsewhere
			strings.Repeat("x", 4100):          "! Request too long",
			"\x16 is no handshake here, 0\n":   "<\x16 is no handshake here, 0\n>",
			"unfinished":                       "<unfinished>",
			string(signature2) + "a 0\n":       "! Bad request",
			"PROXY TCP4 1.2.3.4 5.6.7.8 1 0\n": "<PROXY TCP4 1.2.3.4 5.6.7.8 1 0\n>", // of a peer that is not trusted
		} {
			c := net.Conn(dialTCP(t, l.Addr().String()))
			if encrypted {
				c = tls.Client(c, client)
			}
			send(c, request)
			must(t, closeWrite(c))
			got, err := io.ReadAll(c)
			_ = c.Close()
			if string(got) != want || err != nil {
				t.Errorf("TLS: %v, %.40q: %q, %v; want %q", encrypted, request, got, err, want)
			}
		}
		got := ask(t, dialTCP(t, l.Addr().String()), "a 0\n")
		if encrypted && got != "" {
			t.Errorf("without TLS: %q", got)
		}
		stop()
		if s.Counts().Accepted != 9 || !strings.Contains(log.String(), `selector="/a 3\nabc"`) {
			t.Errorf("%+v; %s", s.Counts(), &log)
		}
	}
}
