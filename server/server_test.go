package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

var must = treetest.Must

// pipes is a listener in memory: no kernel, so it works with fake time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes {
	return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}
func (p *pipes) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 70}
}

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// start serves on a listener in memory; the returned function stops it.
func start(t *testing.T, s *Server) (*pipes, func()) {
	t.Helper()
	p := newPipes()
	return p, serving(t, s, p, nil)
}

// serving serves Gopher or another protocol until stop is called.
func serving(t *testing.T, s *Server, l net.Listener, p *Protocol) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.ServeProtocol(ctx, l, p) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	}
}

// send sends a part of a request.
func send(c io.Writer, text string) {
	_, _ = io.WriteString(c, text)
}

// ask sends a request and returns all that comes back.
func ask(t testing.TB, c net.Conn, request string) string {
	t.Helper()
	go send(c, request)
	got, _ := io.ReadAll(c)
	_ = c.Close()
	return string(got)
}

// answers is a Quick handler made of two functions.
type answers struct {
	quick func(*Request) (Answer, bool)
	HandlerFunc
}

func (a answers) Quick(r *Request) (Answer, bool) { return a.quick(r) }

// atHand returns a handler that answers selectors that begin with /q from memory.
func atHand(text string) answers {
	body := []byte(text)
	return answers{
		func(r *Request) (Answer, bool) {
			return Answer{Body: body}, strings.HasPrefix(r.Selector, "/q")
		},
		func(w ResponseWriter, r *Request) error {
			_, err := io.WriteString(w, "slow "+r.Selector)
			return err
		},
	}
}

func echoSelector(w ResponseWriter, r *Request) error {
	_, err := io.WriteString(w, "<"+r.Selector+"|"+r.Query+">")
	return err
}

func errorItem(message string) string {
	return "3" + message + "\t\terror.host\t1\r\n.\r\n"
}

var (
	busyReply    = errorItem("Server busy")
	tooManyReply = errorItem("Too many requests")
	badRequest   = errorItem("Bad request")
)

// Clients read nothing of an error but its public text; the log has the cause.
func TestErrorsTellStrangersNothing(t *testing.T) {
	secret := &fs.PathError{Op: "open", Path: "/srv/secret/place", Err: fs.ErrPermission}
	for want, err := range map[string]error{
		"Not found: nothing here has that name": &Error{Kind: NotFound, Err: secret},
		"Server error":                          secret,
		"Server busy": fmt.Errorf("asking: %w",
			&Error{Kind: Busy, Err: errors.New("disk /dev/sda1 on fire")}),
		"Full": &Error{Message: "Full", Err: secret},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log treetest.Log
			p, stop := start(t, &Server{Log: log.Logger(),
				Handler: HandlerFunc(func(ResponseWriter, *Request) error { return err })})
			if got := ask(t, p.dial(), "/x\n"); got != errorItem(want) {
				t.Errorf("%v: %q", err, got)
			}
			stop()
			level := "level=WARN"
			if KindOf(err) == NotFound {
				level = "level=INFO"
			}
			if out := log.String(); !strings.Contains(out, err.Error()) || !strings.Contains(out, level) {
				t.Errorf("the log does not tell %q: %s", err, out)
			}
		})
	}
}

// TestRequestDeadline: a client has as long as RequestTimeout, and no longer if it trickles.
func TestRequestDeadline(t *testing.T) {
	for _, trickles := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p, stop := start(t, &Server{Handler: HandlerFunc(echoSelector)})
			c := p.dial()
			began := time.Now()
			go func() {
				_, err := io.WriteString(c, "robots.txt")
				for trickles && err == nil {
					time.Sleep(2 * time.Second)
					_, err = io.WriteString(c, "x")
				}
			}()
			if got, _ := io.ReadAll(c); len(got) > 0 ||
				time.Since(began) != DefaultRequestTimeout {
				t.Errorf("trickles: %v: %q after %v", trickles, got, time.Since(began))
			}
			_ = c.Close()
			time.Sleep(3 * time.Second) // the writer notices
			stop()
		})
	}
}

// After a stop, replies have DrainTimeout to finish. A connection without a request is closed
// after a second.
func TestDrain(t *testing.T) {
	for _, tt := range []struct {
		needs, stopped time.Duration
		want           string
	}{
		{3 * time.Second, 3 * time.Second, "done"},
		{time.Minute, DefaultDrainTimeout, ""},
		{0, time.Second, ""}, // no request
	} {
		synctest.Test(t, func(t *testing.T) {
			p, stop := start(t, &Server{Handler: HandlerFunc(func(w ResponseWriter,
				r *Request) error {
				select {
				case <-time.After(tt.needs):
				case <-r.Context().Done():
					return &Error{Err: errSilent}
				}
				_, err := io.WriteString(w, "done")
				return err
			})})
			c := p.dial()
			if tt.needs > 0 {
				send(c, "/x\n")
			}
			synctest.Wait()
			begin := time.Now()
			go stop()
			got, _ := io.ReadAll(c)
			text := strings.TrimPrefix(string(got), string(ErrorBody(&Error{}))) // the last word, if it still got out
			if text != tt.want || time.Since(begin) != tt.stopped {
				t.Errorf("got %q after %v, want %q after %v", got, time.Since(begin), tt.want,
					tt.stopped)
			}
			_ = c.Close()
		})
	}
}

// A log line has every byte of a request quoted, and no address where there is none.
func TestLogQuotesOutsideBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log treetest.Log
		p, stop := start(t, &Server{Log: log.Logger(),
			ShowIP: func(netip.Addr) string { return "somebody" }})
		_ = ask(t, p.dial(), "/a b\xff\"=x\n")
		_ = ask(t, p.dial(), "/\x1b[31m\n")
		stop()
		if out := log.String(); strings.Contains(out, "\x1b") || strings.Contains(out, "\xff") ||
			strings.Count(out, "\n") != 2 || strings.Count(out, "remote=- ") != 2 {
			t.Errorf("log: %q", out)
		}
	})
}

func TestMux(t *testing.T) {
	var m ServeMux
	for _, pattern := range []string{"/", "/a", "/dir/", "/dir/sub/"} {
		m.Handle(pattern, HandlerFunc(func(w ResponseWriter, _ *Request) error {
			_, err := io.WriteString(w, pattern)
			return err
		}))
	}
	m.Handle("/dir/sub/mine", HandlerFunc(func(ResponseWriter, *Request) error {
		return fmt.Errorf("not for you: %w", ErrDeclined)
	}))
	m.Handle("/q", atHand("at once"))
	synctest.Test(t, func(t *testing.T) {
		p, stop := start(t, &Server{Handler: &m})
		for sel, want := range map[string]string{
			"": "/", "/": "/", "/x": "/", "/a": "/a", "a": "/a", "/ab": "/",
			"/dir": "/dir/", "dir/": "/dir/", "/dir/x": "/dir/", "/dir/sub": "/dir/sub/",
			"/dir/sub/x": "/dir/sub/", "/dirt": "/", "/dir/sub/mine": "/dir/sub/",
		} {
			if got := ask(t, p.dial(), sel+"\n"); got != want {
				t.Errorf("%q went to %q, want %q", sel, got, want)
			}
		}
		stop()
	})

	// The mux is Quick where the handler is.
	for sel, want := range map[string]string{"/q": "at once", "/a": "", "/none": ""} {
		r := new(Request)
		r.Selector = sel
		if a, ok := m.Quick(r); ok != (want != "") || string(a.Body) != want {
			t.Errorf("%s: %q, %v", sel, a.Body, ok)
		}
	}
}
