//go:build linux

package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
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

// serveProtocol serves a protocol until stop is called.
func serveProtocol(t *testing.T, s *Server, p *Protocol) (addr string, stop func()) {
	t.Helper()
	l := listenTCP(t)
	return l.Addr().String(), serving(t, func(ctx context.Context) error {
		return s.ServeProtocol(ctx, l, p)
	})
}

// A protocol has its own requests and errors; limits and the log are the server's, in the event
// loop and over TLS.
func TestProtocol(t *testing.T) {
	server, client := tlsConfigs(t)
	for name, encrypted := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := &Server{TLS: server, Log: slog.New(slog.NewTextHandler(&log, nil)),
				MaxConnsPerIP: 1, RequestTimeout: time.Minute}
			p := &Protocol{Name: "test", TLS: encrypted, Length: spartanLike,
				Error: func(err error) []byte { return []byte("! " + ErrorMessage(err)) },
				Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
					if r.Selector = "/" + strings.TrimSpace(r.Raw); strings.HasPrefix(r.Raw,
						"GET / HTTP/1.1\r\n0") {
						return ErrNotFound
					}
					_, err := io.WriteString(w, "<"+r.Raw+">")
					return err
				})}
			addr, stop := serveProtocol(t, s, p)
			dial := func() net.Conn {
				if encrypted {
					return tls.Client(dialTCP(t, addr), client)
				}
				return dialTCP(t, addr)
			}
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
				c := dial()
				_, err := io.WriteString(c, request)
				if half, ok := c.(interface{ CloseWrite() error }); ok && err == nil {
					err = half.CloseWrite()
				}
				got, readErr := io.ReadAll(c)
				_ = c.Close()
				if string(got) != want || err != nil || readErr != nil {
					t.Errorf("%.40q: %q, %v, %v; want %q", request, got, err, readErr, want)
				}
			}
			if got := exchange(t, dialTCP(t, addr), "a 0\n"); encrypted && got != "" {
				t.Errorf("without TLS: %q", got)
			}
			stop()
			if s.Counts().Accepted != 9 || !strings.Contains(log.String(), `selector="/a 3\nabc"`) {
				t.Errorf("%+v; %s", s.Counts(), log.String())
			}
		})
	}
}
