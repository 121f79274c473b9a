package robotstest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
)

// Play is a server in memory that keeps to a script: it sends lines that
// begin with `< `, and expects each line it reads to begin with the text after `> `.
// It hangs at `...`, and closes at the end.
func Play(t *testing.T, conn net.Conn, script string) {
	defer func() { _ = conn.Close() }()
	input := bufio.NewScanner(conn)
	for line := range strings.Lines(script) {
		verb, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "<":
			if _, err := io.WriteString(conn, text+"\r\n"); err != nil {
				return
			}
		case ">":
			if !input.Scan() {
				t.Errorf("the client left, want %q", text)
				return
			}
			if !strings.HasPrefix(input.Text(), text) {
				t.Errorf("the client sent %q, want %q", input.Text(), text)
			}
		case "...":
			_, _ = io.Copy(io.Discard, conn)
		}
	}
}

// Scripted returns a Dial function that reaches a server in memory.
func Scripted(t *testing.T, script string, secure *tls.Config) func(context.Context, string,
	string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		if secure != nil {
			server = tls.Server(server, secure)
		}
		go Play(t, server, script)
		return client, nil
	}
}

// Certificate returns TLS configurations of a server named example.com and of a
// client that trusts it.
func Certificate(t *testing.T) (server, client *tls.Config) {
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots}
}
