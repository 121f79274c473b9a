package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// pipes is a listener in memory: no kernel, so it works with fake time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

var must = treetest.Must

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

// start serves h on a listener in memory; the returned function stops it.
func start(t *testing.T, s *Server) (*pipes, func()) {
	t.Helper()
	p := newPipes()
	return p, serving(t, func(ctx context.Context) error { return s.Serve(ctx, p) })
}

// serving serves until stop is called.
func serving(t *testing.T, serve func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	}
}

func echoSelector(w ResponseWriter, r *Request) error {
	_, err := io.WriteString(w, "<"+r.Selector+"|"+r.Query+">")
	return err
}

// ask sends a request and reads the whole reply.
func ask(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	go func() { _, _ = io.WriteString(c, request) }()
	got, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("reading the reply: %v", err)
	}
	_ = c.Close()
	return string(got)
}

// TestRequestsAndReplies: where a request line ends, what is in it, and how a menu ends.
func TestRequestsAndReplies(t *testing.T) {
	handler := HandlerFunc(func(w ResponseWriter, r *Request) error {
		switch r.Selector {
		case "":
			return errors.Join(w.WriteItem(menu.Info("hello")),
				w.WriteItem(menu.Item{Type: '0', Label: "a", Selector: "/a"}))
		case "/panic":
			panic("oops")
		}
		return echoSelector(w, r)
	})
	synctest.Test(t, func(t *testing.T) {
		p, stop := start(t, &Server{Host: "gopher.example", Port: 7070, Handler: handler})
		for _, tt := range []struct{ request, want string }{
			{"/a\n", "</a|>"},
			{"/a\r\n", "</a|>"},
			{"/a\r", "</a|>"},
			{"/a\r\nrest is not a request\r\n", "</a|>"},
			{"/a\n/b\n", "</a|>"},
			{"/search\tsome words\r\n", "</search|some words>"},
			{"\r\n", string(menu.Info("hello").AppendTo(nil)) +
				"0a\t/a\tgopher.example\t7070\r\n.\r\n"},
			{"/panic\n", "3Server error\t\terror.host\t1\r\n.\r\n"}, // of this request alone
			{strings.Repeat("x", 4<<10), "3Request too long\t\terror.host\t1\r\n.\r\n"},
			{strings.Repeat("x", 1<<20), "3Request too long\t\terror.host\t1\r\n.\r\n"},
		} {
			if got := ask(t, p.dial(), tt.request); got != tt.want {
				t.Errorf("%.40q answered with %q, want %q", tt.request, got, tt.want)
			}
		}
		stop()
	})
}

// TestRequestDeadline: a client has as long as RequestTimeout, and no longer if it trickles.
func TestRequestDeadline(t *testing.T) {
	for name, more := range map[string]bool{"once": false, "trickling": true} {
		synctest.Test(t, func(t *testing.T) {
			p, stop := start(t, &Server{Handler: HandlerFunc(echoSelector)})
			c := p.dial()
			began := time.Now()
			go func() {
				for _, err := c.Write([]byte("robots.txt")); more &&
					err == nil; _, err = c.Write([]byte("x")) {
					time.Sleep(2 * time.Second)
				}
			}()
			if got, _ := io.ReadAll(c); len(got) > 0 || time.Since(began) != DefaultRequestTimeout {
				t.Errorf("%s: %q after %v", name, got, time.Since(began))
			}
			_ = c.Close()
			time.Sleep(3 * time.Second) // the writer notices
			stop()
		})
	}
}

func TestErrorsTellStrangersNothing(t *testing.T) {
	secret := &fs.PathError{Op: "open", Path: "/srv/secret/place", Err: fs.ErrPermission}
	tests := map[string]error{
		"Not found: nothing here has that name": &Error{Kind: NotFound, Err: secret},
		"Server error":                          secret,
		"Server busy": fmt.Errorf("asking: %w",
			&Error{Kind: Busy, Err: errors.New("disk /dev/sda1 on fire")}),
		"Full": &Error{Message: "Full", Err: secret},
	}
	for want, err := range tests {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			s := &Server{
				Handler: HandlerFunc(func(ResponseWriter, *Request) error { return err }),
				Log:     slog.New(slog.NewTextHandler(&log, nil)),
			}
			p, stop := start(t, s)
			if got := ask(t, p.dial(), "/x\n"); got != "3"+want+"\t\terror.host\t1\r\n.\r\n" {
				t.Errorf("%v: %q", err, got)
			}
			stop()
			if !strings.Contains(log.String(), err.Error()) {
				t.Errorf("the log does not tell %q: %s", err, log.String())
			}
		})
	}
}

func TestDrain(t *testing.T) {
	tests := []struct {
		name     string
		needs    time.Duration
		want     string
		stopped  time.Duration
		handling bool
	}{
		{"finishes", 3 * time.Second, "done", 3 * time.Second, true},
		{"too slow", time.Minute, "", DefaultDrainTimeout, true},
		{"no request", 0, "", time.Second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Server{Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
					select {
					case <-time.After(tt.needs):
					case <-r.Context().Done():
						return &Error{Message: "", Err: errSilent}
					}
					_, err := io.WriteString(w, "done")
					return err
				})}
				p, stop := start(t, s)
				c := p.dial()
				if tt.handling {
					_, _ = io.WriteString(c, "/x\n")
				}
				synctest.Wait()
				begin := time.Now()
				go stop()
				got, _ := io.ReadAll(c)
				got = bytes.TrimPrefix(got, ErrorBody(&Error{})) // the last word, if it still got out
				if string(got) != tt.want || time.Since(begin) != tt.stopped {
					t.Errorf("got %q after %v, want %q after %v", got, time.Since(begin),
						tt.want, tt.stopped)
				}
				_ = c.Close()
			})
		})
	}
}

func TestLogQuotesOutsideBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p, stop := start(t, &Server{Log: slog.New(slog.NewTextHandler(&log, nil))})
		_ = ask(t, p.dial(), "/a b\xff\"=x\n")
		_ = ask(t, p.dial(), "/\x1b[31m\n")
		stop()
		if out := log.String(); strings.Contains(out, "\x1b") || strings.Contains(out, "\xff") ||
			strings.Count(out, "\n") != 2 {
			t.Errorf("log: %q", log.String())
		}
	})
}

func TestMux(t *testing.T) {
	var m ServeMux
	say := func(s string) HandlerFunc {
		return func(w ResponseWriter, _ *Request) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	m.Handle("/", say("root"))
	m.Handle("/a", say("a"))
	m.Handle("/dir/", say("dir"))
	m.Handle("/dir/sub/", say("sub"))
	m.Handle("/dir/sub/mine", HandlerFunc(func(ResponseWriter, *Request) error {
		return fmt.Errorf("not for you: %w", ErrDeclined)
	}))
	for sel, want := range map[string]string{
		"": "root", "/": "root", "/x": "root", "/a": "a", "a": "a", "/ab": "root",
		"/dir": "dir", "dir/": "dir", "/dir/x": "dir", "/dir/sub": "sub", "/dir/sub/x": "sub",
		"/dirt": "root", "/dir/sub/mine": "sub",
	} {
		var got strings.Builder
		w := &recorder{Writer: &got}
		if err := m.ServeGopher(w, &Request{RequestLine: reqOf(sel)}); err != nil ||
			got.String() != want {
			t.Errorf("%q went to %q (%v), want %q", sel, got.String(), err, want)
		}
	}

	// The mux is Quick where the handler is.
	m.Handle("/q", kept{Answer{Body: []byte("at once")}})
	for sel, want := range map[string]string{"/q": "at once", "q": "at once",
		"/a": "", "/none": ""} {
		if a, ok := m.Quick(&Request{RequestLine: reqOf(sel)}); ok != (want != "") ||
			string(a.Body) != want {
			t.Errorf("%s: %q, %v", sel, a.Body, ok)
		}
	}
}

// kept is a Quick handler with one answer to all.
type kept struct{ answer Answer }

func (k kept) Quick(*Request) (Answer, bool) {
	return k.answer, true
}
func (k kept) ServeGopher(ResponseWriter, *Request) error { return ErrNotFound }

type recorder struct{ io.Writer }

func (r *recorder) WriteItem(it menu.Item) error {
	_, err := r.Write(it.AppendTo(nil))
	return err
}

func reqOf(sel string) selector.RequestLine {
	return selector.RequestLine{Selector: sel}
}
