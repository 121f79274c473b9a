package answer

import (
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/server"
)

// way is one on which a request comes to a handler.
type way struct {
	name string
	ask  func(request string) string
}

// ways serves a handler on all of them.
func ways(t testing.TB, h server.Handler) []way {
	t.Helper()
	s := func() *server.Server {
		return &server.Server{Handler: h, Host: "h", Port: 70, MaxConnsPerIP: -1,
			RequestTimeout: time.Hour}
	}
	plain := s()
	plain.TLS = certificate(t)
	addr := listen(t, plain)
	proxied := s()
	proxied.TrustProxy = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	behind := listen(t, proxied)
	return []way{
		{"plain", func(request string) string { return exchange(t, dial(t, addr), request) }},
		{"TLS", func(request string) string {
			return exchange(t, dialTLS(t, addr), request)
		}},
		{"proxy", func(request string) string {
			return exchange(t, dial(t, behind),
				"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n"+request)
		}},
		{"inetd", func(request string) string {
			client, conn := net.Pipe()
			_ = client.SetDeadline(time.Now().Add(2 * time.Minute))
			go s().ServeConn(t.Context(), conn)
			return exchange(t, client, request)
		}},
	}
}

// certificate is what a server needs for TLS.
func certificate(t testing.TB) *tls.Config {
	t.Helper()
	files, err := keypair.SelfSigned(t.TempDir(), "localhost")
	must(t, err)
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	must(t, err)
	return &tls.Config{Certificates: []tls.Certificate{cert}}
}

func dialTLS(t testing.TB, addr string) net.Conn {
	return tls.Client(dial(t, addr), &tls.Config{InsecureSkipVerify: true})
}

// exchange sends a request and returns all that comes back.
func exchange(t testing.TB, c net.Conn, request string) string {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Error(err)
	}
	got, err := io.ReadAll(c)
	if err != nil {
		t.Error(err)
	}
	_ = c.Close()
	return string(got)
}
