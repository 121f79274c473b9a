package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// A request for which no descriptor is left is tried again, as long as a request may take; then
// it fails. Once a reply has begun, it is not begun again.
func TestOutOfFilesIsNoRequestsFault(t *testing.T) {
	for lasts, want := range map[time.Duration]string{
		3 * time.Second: "</x|>", time.Hour: errorItem("Server error"),
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p, stop := start(t, &Server{Handler: HandlerFunc(func(w ResponseWriter,
				r *Request) error {
				if r.Selector == "/begun" {
					return errors.Join(echoSelector(w, r), syscall.EMFILE)
				}
				if time.Since(began) < lasts {
					return &fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}
				}
				return echoSelector(w, r)
			})})
			if got := ask(t, p.dial(), "/x\n"); got != want ||
				time.Since(began) > DefaultRequestTimeout+time.Second {
				t.Errorf("got %q after %v", got, time.Since(began))
			}
			if got := ask(t, p.dial(), "/begun\n"); strings.Count(got, "/begun") > 1 {
				t.Errorf("begun again: %q", got)
			}
			stop()
		})
	}
}

// failing is a listener that fails once.
type failing struct {
	*pipes
	fault chan error
}

func (l failing) Accept() (net.Conn, error) {
	select {
	case err := <-l.fault:
		return nil, err
	default:
		return l.pipes.Accept()
	}
}

// A temporary failure of accept is retried; any other one ends Serve.
func TestAcceptFails(t *testing.T) {
	for fault, ends := range map[error]bool{syscall.ECONNABORTED: false, syscall.EMFILE: false,
		syscall.EINVAL: true} {
		synctest.Test(t, func(t *testing.T) {
			l := failing{newPipes(), make(chan error, 1)}
			l.fault <- fault
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if !ends {
				go func() {
					if got := ask(t, l.dial(), "/x\n"); got != "</x|>" {
						t.Errorf("after %v: %q", fault, got)
					}
					stop()
				}()
			}
			err := (&Server{Handler: HandlerFunc(echoSelector)}).Serve(ctx, l)
			if errors.Is(err, fault) != ends {
				t.Errorf("%v: ended with %v", fault, err)
			}
		})
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	err = (&Server{}).ListenAndServe(t.Context(), l.Addr().String())
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("on a port in use: %v", err)
	}
	must(t, l.Close())
	if err = (&Server{}).Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("on a closed listener: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must(t, (&Server{}).ListenAndServe(ctx, "127.0.0.1:0"))
}

// fromAddress is a connection in memory that has an address.
type fromAddress struct {
	net.Conn
	ip byte
}

func (c fromAddress) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, c.ip), Port: 1}
}

// A connection with a goroutine is refused as one in the event loop is.
func TestRefusedByAGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{MaxConnsPerIP: 1, Rate: 0.001, Burst: 1, Handler: HandlerFunc(echoSelector)}
		p, stop := start(t, s)
		dial := func(ip byte) net.Conn {
			client, server := net.Pipe()
			p.conns <- fromAddress{server, ip}
			return client
		}
		silent := dial(1)
		if got := ask(t, dial(1), ""); got != "" {
			t.Errorf("a second connection: %q", got)
		}
		_ = silent.Close()
		synctest.Wait()
		for _, want := range []string{"</x|>", tooManyReply} {
			if got := ask(t, dial(1), "/x\n"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			synctest.Wait()
		}
		if got := ask(t, dial(2), "/x\n"); got != "</x|>" {
			t.Errorf("another address: %q", got)
		}
		if n := s.Counts().Refused; n[tooFast.Error()] != 1 || n[tooManyOfBlock.Error()] != 1 {
			t.Errorf("refused: %v", n)
		}
		stop()
	})
}

// A handler that does not return costs its own client the reply, which gets an error, and
// nobody else anything. The context of its request ends. It keeps neither the server from
// ending, nor ServeConn.
func TestHandlerThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log treetest.Log
		var ended time.Time
		free := make(chan struct{})
		s := &Server{Log: log.Logger(), Handler: HandlerFunc(func(w ResponseWriter,
			r *Request) error {
			if r.Selector == "/a" {
				return echoSelector(w, r)
			}
			<-r.Context().Done()
			if r.Selector == "/x" {
				ended = time.Now()
			}
			<-free
			_, err := io.WriteString(w, "too late")
			return err
		})}
		p, stop := start(t, s)
		began := time.Now()
		go ask(t, p.dial(), "/y\n")
		got := ask(t, p.dial(), "/x\n")
		if took := time.Since(began); got != busyReply || took != DefaultStallTimeout {
			t.Errorf("got %q after %v", got, took)
		}
		if synctest.Wait(); ended.Sub(began) != DefaultStallTimeout {
			t.Errorf("the context ended after %v", ended.Sub(began))
		}
		if got := ask(t, p.dial(), "/a\n"); got != "</a|>" {
			t.Errorf("another got %q", got)
		}
		if c := s.Counts(); c.Writing != 2 {
			t.Errorf("connections: %+v", c)
		}
		client, conn := net.Pipe()
		go func() {
			if got := ask(t, client, "/inetd\n"); got != busyReply {
				t.Errorf("over inetd: %q", got)
			}
		}()
		s.ServeConn(t.Context(), conn)
		began = time.Now()
		stop()
		if took := time.Since(began); took != DefaultDrainTimeout+lastWait {
			t.Errorf("ended after %v", took)
		}
		close(free)
		synctest.Wait()
		if n := strings.Count(log.String(), "selector=/x bytes="); n != 1 ||
			!strings.Contains(log.String(), "does not answer") ||
			strings.Count(log.String(), `msg="a handler hangs"`) != 2 { // in as many minutes
			t.Errorf("the log tells of it %d times:\n%s", n, &log)
		}
	})
}

// The number of evicted connections whose handlers have not returned is bounded.
func TestEvictedAreBounded(t *testing.T) {
	g := &room{t: t, limiter: limiter{total: 2, perBlock: 1 << 10, pick: everyOne()}}
	var all []*slot
	for i := range 2 + maxEvicted { // the first two fill the server
		all = append(all, g.enter("of an address", i, writing, admitted))
	}
	g.enter("one too many", 1<<12, writing, tooMany)
	for _, s := range all {
		s.release()
	}
	if g.evicted != 0 || g.places != 0 {
		t.Errorf("%d evicted, %d places are left", g.evicted, g.places)
	}
}

// evictIdle evicts connections that are silent or linger. It spares those that were just
// accepted or have sent a request, however many there are.
func TestWhoIsSpared(t *testing.T) {
	g := &room{t: t, limiter: limiter{total: 10, perBlock: 10}}
	now := time.Now()
	enter := func(name string, a int, state connState, age time.Duration) {
		g.enter(name, a, state, admitted).since = now.Add(-age)
	}
	for range 5 {
		enter("never reads", 1, writing, time.Minute)
	}
	enter("was just accepted", 2, reading, 0)
	enter("asked", 3, writing, time.Minute)
	enter("silent", 4, reading, 2*settling)
	enter("has sent a request", 6, reading, 2*settling)
	g.blocks[addr4(6)].slots[0].unread = func() bool { return true }
	enter("had its reply", 5, lingering, 0)
	if n := g.evictIdle(10); n != 2 || !slices.Contains(g.cut, "silent") ||
		!slices.Contains(g.cut, "had its reply") {
		t.Errorf("evicted %d: %q", n, g.cut)
	}
}
