package e2e_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// A crowd asks one gophd for robots.txt over each front.
type crowd struct {
	t    *testing.T
	at   harness.Fronts
	file string
}

func newCrowd(t *testing.T, flags ...string) crowd {
	t.Helper()
	root := tree(t, map[string]string{".robots": "Disallow: /private/\n", "a.txt": "a\n"})
	at, d := serveFronts(t, root, flags...)
	return crowd{t, at, d.Ask("robots.txt")}
}

// each calls f for each front and each selector of robots.txt.
func (c crowd) each(f func(front, sel string)) {
	for _, front := range c.at.Names() {
		for _, sel := range harness.RobotsSelectors {
			if front != "finger" {
				f(front, sel)
			}
		}
	}
}

// dial connects, and performs no handshake yet. It returns nil if the client is refused.
func (c crowd) dial(front string) net.Conn {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.at[front])
	if errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	must(c.t, err)
	_ = conn.SetDeadline(time.Now().Add(harness.Timeout))
	if conf := c.at.Config(front, "127.0.0.1"); conf != nil {
		return tls.Client(conn, conf)
	}
	return conn
}

// ask sends the request, and reports whether it was answered with the file. An alert, a
// reset and a close without a byte are no answer; anything else is a fault.
func (c crowd) ask(conn net.Conn, front, sel string) bool {
	c.t.Helper()
	if conn == nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, c.at.Request(front, "127.0.0.1", sel, false)+"\r\n")
	reply, err := io.ReadAll(conn)
	if len(reply) == 0 {
		return false
	}
	if r := c.at.Parse(front, reply); !r.Served || r.Body != c.file || err != nil {
		c.t.Errorf("%s, %q: %q, %v", front, sel, reply, err)
	}
	return true
}

// TestRobotsOverTheRate: robots.txt is answered whatever -rate is, and in a TLS session as
// often as there is one.
func TestRobotsOverTheRate(t *testing.T) {
	c := newCrowd(t, "-rate", "0.001", "-burst", "2")
	for range 4 {
		c.each(func(front, sel string) {
			if !c.ask(c.dial(front), front, sel) && c.at.Config(front, "") == nil {
				t.Errorf("%s, %q: no answer", front, sel)
			}
		})
	}
	for range 3 {
		_, _ = harness.Ask(c.at["gopher"], "/a.txt")
	}
	if got, err := harness.Ask(c.at["gopher"], "/a.txt"); !strings.HasPrefix(got,
		"3Too many requests\t") {
		t.Errorf("another request: %q, %v", got, err)
	}
}

// TestRobotsOverTheCap: of 40 clients of one address at once, 8 more than may stay, nobody
// reads an error in place of robots.txt.
func TestRobotsOverTheCap(t *testing.T) {
	c := newCrowd(t)
	c.each(func(front, sel string) {
		var conns []net.Conn
		for range 40 {
			conns = append(conns, c.dial(front))
		}
		answered := 0
		for _, conn := range conns {
			if c.ask(conn, front, sel) {
				answered++
			}
		}
		if answered == 0 {
			t.Errorf("%s, %q: no answer", front, sel)
		}
	})
}
