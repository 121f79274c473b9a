package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
)

// client is a connection of a browser.
type client struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func newClient(t *testing.T, c net.Conn) *client {
	return &client{Conn: c, t: t, in: bufio.NewReader(c)}
}

func (c *client) say(text string) {
	c.t.Helper()
	_, err := io.WriteString(c, text)
	treetest.Must(c.t, err)
}

// begin sends a request and returns the reply, whose body can be read.
func (c *client) begin(method, path string) *http.Response {
	c.t.Helper()
	c.say(method + " " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
	res, err := http.ReadResponse(c.in, &http.Request{Method: method})
	treetest.Must(c.t, err)
	return res
}

// get reads the whole reply to a request, and returns the length of its body.
func (c *client) get(path string) (res *http.Response, n int64, err error) {
	c.t.Helper()
	res = c.begin(http.MethodGet, path)
	n, err = io.Copy(io.Discard, res.Body)
	return res, n, err
}

// closesAfter checks when the server closes the connection.
func (c *client) closesAfter(want time.Duration) {
	c.t.Helper()
	began := time.Now()
	_, err := io.Copy(io.Discard, c.in)
	if took := time.Since(began); took != want {
		c.t.Errorf("the connection ended after %v, not %v (%v)", took, want, err)
	}
}

// connQueue is a listener in memory.
type connQueue struct{ conns chan net.Conn }

func (q *connQueue) Accept() (net.Conn, error) {
	if c, ok := <-q.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (q *connQueue) Close() error   { return nil }
func (q *connQueue) Addr() net.Addr { return &net.TCPAddr{} }

// large is the size of /large in fake time, in bytes.
const large = 1 << 20

// inFakeTime runs f with a connection to a server in memory, whose replies may stop
// for so long; 0 is the default. The clock goes on only when everybody waits for it,
// so that times are exact on any machine. f may begin to stop the server.
func inFakeTime(t *testing.T, stall time.Duration, f func(c *client, stop func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server.Server{StallTimeout: stall, HTTP: serving(http.HandlerFunc(func(
			w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/large" {
				_, _ = io.WriteString(w, strings.Repeat("x", large))
			}
		}))}
		p := &connQueue{make(chan net.Conn)}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Serve(ctx, p) }()
		c, conn := net.Pipe()
		p.conns <- conn
		f(newClient(t, c), stop)
		_ = c.Close()
		stop()
		close(p.conns)
		<-ended
	})
}

// A head that does not end within 10 seconds ends the connection, however its
// bytes come, and as a second request, too.
func TestSlowHead(t *testing.T) {
	inFakeTime(t, 0, func(c *client, _ func()) {
		c.say("GET / HTTP/1.1\r\nHost: x\r\n")
		c.closesAfter(10 * time.Second)
	})
	inFakeTime(t, 0, func(c *client, _ func()) {
		c.say("GET / HTTP/1.1\r\nHost: x\r\nX: ")
		go func() {
			for err := error(nil); err == nil; _, err = io.WriteString(c, "y") {
				time.Sleep(time.Second / 2)
			}
		}()
		c.closesAfter(10 * time.Second)
		time.Sleep(time.Second) // the writer notices
	})
	inFakeTime(t, 0, func(c *client, _ func()) {
		_, _, _ = c.get("/")
		time.Sleep(14 * time.Second)
		c.say("GET / HTTP/1.1\r\n")
		c.closesAfter(10 * time.Second)
	})
}

// A connection may wait 15 seconds for its next request, also where a reply may
// stop for less.
func TestIdle(t *testing.T) {
	inFakeTime(t, 5*time.Second, func(c *client, _ func()) {
		for range 3 {
			time.Sleep(9 * time.Second)
			_, _, _ = c.get("/")
		}
		c.closesAfter(15 * time.Second)
	})
}

// When the server stops, a connection that waits for another request is closed, one
// whose first request does not arrive whole soon after, and one that is being answered
// when it has all of it.
func TestDrain(t *testing.T) {
	inFakeTime(t, 0, func(c *client, stop func()) {
		_, _, _ = c.get("/")
		synctest.Wait()
		stop()
		c.closesAfter(0)
	})
	inFakeTime(t, 0, func(c *client, stop func()) {
		c.say("GET / HTTP/1.1\r\nHost: x\r\n")
		synctest.Wait()
		stop()
		c.closesAfter(time.Second)
	})
	inFakeTime(t, 0, func(c *client, stop func()) {
		res := c.begin(http.MethodGet, "/large")
		stop()
		time.Sleep(5 * time.Second)
		if n, err := io.Copy(io.Discard, res.Body); n != large || err != nil {
			c.t.Errorf("%d bytes, %v", n, err)
		}
		c.closesAfter(0)
	})
}

// A client that takes something now and then gets its reply, however long it
// lasts; one that takes nothing for a minute gets no more.
func TestReplyWithoutProgress(t *testing.T) {
	inFakeTime(t, 0, func(c *client, _ func()) {
		res := c.begin(http.MethodGet, "/large")
		for range 20 {
			time.Sleep(40 * time.Second)
			_, err := io.CopyN(io.Discard, res.Body, 8<<10)
			treetest.Must(c.t, err)
		}
		if n, err := io.Copy(io.Discard, res.Body); n != large-20*8<<10 || err != nil {
			c.t.Errorf("%d bytes more, %v", n, err)
		}
		res = c.begin(http.MethodGet, "/large")
		time.Sleep(76 * time.Second) // a minute, and a quarter: it looks so often
		if n, err := io.Copy(io.Discard, res.Body); err == nil || n >= large/2 {
			c.t.Errorf("after a minute without reading, %d bytes more, %v", n, err)
		}
	})
}
