package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/server"
)

// large is what the server in memory answers with, in bytes.
const large = 1 << 20

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

// inFakeTime runs f with a connection to a server in memory, whose replies may stop
// for so long; 0 is the default. The clock goes on only when everybody waits for it,
// so that times are exact on any machine.
func inFakeTime(t *testing.T, stall time.Duration,
	f func(t *testing.T, c net.Conn, r *bufio.Reader)) {
	t.Helper()
	untilStopped(t, stall, func(t *testing.T, c net.Conn, r *bufio.Reader, _ func()) { f(t, c, r) })
}

// untilStopped is inFakeTime, but f may begin to stop the server.
func untilStopped(t *testing.T, stall time.Duration,
	f func(t *testing.T, c net.Conn, r *bufio.Reader, stop func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/large" {
				_, _ = io.WriteString(w, strings.Repeat("x", large))
			}
		})
		web := &HTTPServer{Site: func(r *server.Request, _ string) (http.Handler, *server.Request) {
			return answer, r
		}}
		p := &connQueue{make(chan net.Conn)}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- (&server.Server{HTTP: web.Serve, StallTimeout: stall}).Serve(ctx, p)
		}()
		client, conn := net.Pipe()
		p.conns <- conn
		f(t, client, bufio.NewReader(client), stop)
		_ = client.Close()
		stop()
		close(p.conns)
		<-ended
	})
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// closesAfter checks when the server closes the connection.
func closesAfter(t *testing.T, r *bufio.Reader, want time.Duration, since time.Time) {
	t.Helper()
	_, err := io.Copy(io.Discard, r)
	if took := time.Since(since); took != want {
		t.Errorf("the connection ended after %v, not %v (%v)", took, want, err)
	}
}

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// A head that does not end within 10 seconds ends the connection, however its
// bytes come, and as a second request, too.
func TestSlowHead(t *testing.T) {
	inFakeTime(t, 0, func(t *testing.T, c net.Conn, r *bufio.Reader) {
		begin := time.Now()
		say(t, c, "GET / HTTP/1.1\r\nHost: x\r\n")
		closesAfter(t, r, 10*time.Second, begin)
	})
	inFakeTime(t, 0, func(t *testing.T, c net.Conn, r *bufio.Reader) {
		begin := time.Now()
		say(t, c, "GET / HTTP/1.1\r\nHost: x\r\nX: ")
		var writer sync.WaitGroup
		writer.Go(func() {
			for range 120 {
				time.Sleep(time.Second / 2)
				if _, err := io.WriteString(c, "y"); err != nil {
					return
				}
			}
			_ = c.Close()
		})
		closesAfter(t, r, 10*time.Second, begin)
		writer.Wait()
	})
	inFakeTime(t, 0, func(t *testing.T, c net.Conn, r *bufio.Reader) {
		say(t, c, request)
		if _, err := http.ReadResponse(r, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(14 * time.Second)
		begin := time.Now()
		say(t, c, "GET / HTTP/1.1\r\n")
		closesAfter(t, r, 10*time.Second, begin)
	})
}

// A connection may wait 15 seconds for its next request, also where a reply may
// stop for less.
func TestIdle(t *testing.T) {
	inFakeTime(t, 5*time.Second, func(t *testing.T, c net.Conn, r *bufio.Reader) {
		for range 3 {
			time.Sleep(9 * time.Second)
			say(t, c, request)
			if _, err := http.ReadResponse(r, nil); err != nil {
				t.Fatal(err)
			}
		}
		closesAfter(t, r, 15*time.Second, time.Now())
	})
}

// When the server stops, a connection that waits for another request is closed, and one
// whose first request does not arrive whole soon after.
func TestStop(t *testing.T) {
	untilStopped(t, 0, func(t *testing.T, c net.Conn, r *bufio.Reader, stop func()) {
		say(t, c, request)
		if _, err := http.ReadResponse(r, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		stop()
		closesAfter(t, r, 0, began)
	})
	untilStopped(t, 0, func(t *testing.T, c net.Conn, r *bufio.Reader, stop func()) {
		say(t, c, "GET / HTTP/1.1\r\nHost: x\r\n")
		synctest.Wait()
		began := time.Now()
		stop()
		closesAfter(t, r, time.Second, began)
	})
}

// A client that takes something now and then gets its reply, however long it
// lasts; one that takes nothing for a minute gets no more.
func TestReplyWithoutProgress(t *testing.T) {
	inFakeTime(t, 0, func(t *testing.T, c net.Conn, r *bufio.Reader) {
		say(t, c, strings.Replace(request, "/", "/large", 1))
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			time.Sleep(40 * time.Second)
			if _, err := io.CopyN(io.Discard, res.Body, 8<<10); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := io.Copy(io.Discard, res.Body); n != large-20*8<<10 || err != nil {
			t.Errorf("%d bytes more, %v", n, err)
		}
		say(t, c, strings.Replace(request, "/", "/large", 1))
		if res, err = http.ReadResponse(r, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(76 * time.Second) // a minute, and a quarter: it looks so often
		if n, err := io.Copy(io.Discard, res.Body); err == nil || n >= large/2 {
			t.Errorf("after a minute without reading, %d bytes more, %v", n, err)
		}
	})
}
