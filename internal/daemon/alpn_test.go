package daemon

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/treetest"
)

// TestALPN: only clients that offer a version of HTTP are answered one; others on
// the port, with another protocol or none, do not fail for it.
func TestALPN(t *testing.T) {
	files, err := keypair.SelfSigned(t.TempDir(), "localhost")
	treetest.Must(t, err)
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	treetest.Must(t, err)
	conf := &tls.Config{Certificates: []tls.Certificate{pair}}
	offerHTTP(conf)
	for _, test := range []struct {
		offers []string
		want   string
	}{
		{nil, ""}, {[]string{"gopher"}, ""}, {[]string{"http/1.1"}, "http/1.1"},
		{[]string{"http/1.1", "h2"}, "h2"},
		{[]string{"gopher", "h2"}, "h2"}, {[]string{"http/1.0"}, ""}, {[]string{"h3"}, ""},
	} {
		near, far := net.Pipe()
		shaken := make(chan error, 1)
		go func() { shaken <- tls.Server(far, conf).Handshake() }()
		client := tls.Client(near, &tls.Config{InsecureSkipVerify: true, NextProtos: test.offers})
		if err := client.Handshake(); err != nil {
			t.Errorf("%q: %v", test.offers, err)
		} else if err := <-shaken; err != nil {
			t.Errorf("%q: %v", test.offers, err)
		} else if got := client.ConnectionState().NegotiatedProtocol; got != test.want {
			t.Errorf("%q: %q, want %q", test.offers, got, test.want)
		}
		_, _ = near.Close(), far.Close()
	}
}
