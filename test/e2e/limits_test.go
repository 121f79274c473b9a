package e2e_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// robotsRequest is a request for robots.txt over a front, and how the reply begins.
type robotsRequest struct {
	front, at, request, begins string
	tls                        *tls.Config
}

// limited runs gophd with all fronts, and returns the requests for robots.txt on each.
func limited(t *testing.T, flags ...string) (requests []robotsRequest, file string) {
	t.Helper()
	root := tree(t, map[string]string{".robots": "Disallow: /private/\n", "a.txt": "a\n"})
	flags = append(flags, "-tls-self-signed", filepath.Join(t.TempDir(), "tls"), "-http", "view")
	names := []string{"gemini", "spartan", "nex"}
	for _, name := range names {
		flags = append(flags, "-"+name, "127.0.0.1:0")
	}
	d := serve(t, root, flags...)
	at := map[string]string{"gopher": d.Addr}
	for _, name := range names {
		at[name] = "127.0.0.1:" + servedPort.FindStringSubmatch(d.WaitLog("serving " + name))[1]
	}
	file, err := harness.Ask(d.Addr, "robots.txt")
	if err != nil || !strings.Contains(file, "/private/") {
		t.Fatalf("robots.txt is %q, %v", file, err)
	}
	anyone := harness.AnyCert("127.0.0.1")
	for _, sel := range []string{"robots.txt", "/robots.txt", "0/robots.txt", "/0/robots.txt"} {
		path := "/" + strings.TrimPrefix(sel, "/")
		requests = append(requests,
			robotsRequest{"gopher", at["gopher"], sel + "\r\n", "", nil},
			robotsRequest{"gopher over TLS", at["gopher"], sel + "\r\n", "", anyone},
			robotsRequest{"http", at["gopher"], "GET " + path + " HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ", nil},
			robotsRequest{"https", at["gopher"], "GET " + path + " HTTP/1.0\r\n\r\n", "HTTP/1.0 200 ", anyone},
			robotsRequest{"gemini", at["gemini"], "gemini://127.0.0.1" + path + "\r\n", "20 ", anyone},
			robotsRequest{"spartan", at["spartan"], "127.0.0.1 " + path + " 0\r\n", "2 ", nil},
			robotsRequest{"nex", at["nex"], path + "\n", "", nil},
		)
	}
	return requests, file
}

// dial connects, and performs no handshake yet. It returns nil if the client is refused.
func (r robotsRequest) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.at)
	if errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	must(t, err)
	_ = c.SetDeadline(time.Now().Add(harness.Timeout))
	if r.tls != nil {
		return tls.Client(c, r.tls)
	}
	return c
}

// ask sends the request, and reports whether it was answered with the file. An alert, a
// reset and a close without a byte are no answer; anything else is a fault.
func (r robotsRequest) ask(t *testing.T, c net.Conn, file string) bool {
	t.Helper()
	if c == nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, r.request)
	got, err := io.ReadAll(c)
	if len(got) == 0 {
		return false
	}
	if !strings.HasPrefix(string(got), r.begins) || !strings.HasSuffix(string(got), file) || err != nil {
		t.Errorf("%s, %q: %q, %v", r.front, r.request, got, err)
	}
	return true
}

// TestRobotsOverTheRate: robots.txt is answered whatever -rate is, and in a TLS session as
// often as there is one.
func TestRobotsOverTheRate(t *testing.T) {
	requests, file := limited(t, "-rate", "0.001", "-burst", "2")
	for round := range 4 {
		for _, r := range requests {
			if !r.ask(t, r.dial(t), file) && r.tls == nil {
				t.Errorf("round %d: %s, %q: no answer", round, r.front, r.request)
			}
		}
	}
	for range 3 {
		_, _ = harness.Ask(requests[0].at, "/a.txt")
	}
	if got, err := harness.Ask(requests[0].at, "/a.txt"); !strings.HasPrefix(got, "3Too many requests\t") {
		t.Errorf("another request: %q, %v", got, err)
	}
}

// TestRobotsOverTheCap: of 40 clients of one address at once, 8 more than may stay, nobody
// reads an error in place of robots.txt.
func TestRobotsOverTheCap(t *testing.T) {
	requests, file := limited(t)
	for _, r := range requests {
		var conns []net.Conn
		for range 40 {
			conns = append(conns, r.dial(t))
		}
		answered := 0
		for _, c := range conns {
			if r.ask(t, c, file) {
				answered++
			}
		}
		if answered == 0 {
			t.Errorf("%s, %q: no answer", r.front, r.request)
		}
	}
}
