package server

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The event loop gives connections without a request one more second after a stop to send it.
func TestFastDrainHearsOut(t *testing.T) {
	l := listenTCP(t)
	addr := l.Addr().String()
	stop := serving(t, &Server{Handler: atHand("slow /q"), DrainTimeout: time.Hour}, l, nil)
	waiting := map[string]*net.TCPConn{"/q\n": nil, "/s\n": nil, "": nil}
	for request := range waiting {
		waiting[request] = dialTCP(t, addr)
	}
	if got := ask(t, dialTCP(t, addr), "/q\n"); got != "slow /q" { // is accepted after them
		t.Errorf("before the stop: %q", got)
	}
	began, ended := time.Now(), make(chan bool)
	go func() { stop(); close(ended) }()
	time.Sleep(100 * time.Millisecond)
	for request, c := range waiting {
		send(c, request)
	}
	late := time.Since(began) > time.Second/2
	for request, c := range waiting {
		want := strings.TrimSpace("slow " + request)
		if request == "" {
			want = ""
		}
		if got, err := io.ReadAll(c); (string(got) != want || err != nil) && !late {
			t.Errorf("%q: %q, %v", request, got, err)
		}
	}
	<-ended
}

// In ten restarts under load each connected client is answered, by the old server or the next
// one. Since the port is bound again each time, connections may be refused in between. A client
// that was delayed while it connected may have come too late.
func TestRestartsLoseNobody(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	if err := attachFilter(l); err != nil {
		t.Skip("the kernel lets this user attach no filter, which holds newcomers between two servers: ", err)
	}
	addr := l.Addr().String()
	var answered atomic.Int64
	clients, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 8 {
		request, want := "/q\r\n", "quick"
		if i%3 == 0 {
			request, want = "/s\r\n", "slow /s"
		}
		all.Go(func() {
			for clients.Err() == nil {
				got, excused := askOnce(addr, request)
				if got == want {
					answered.Add(1)
				} else if !excused {
					t.Errorf("connected, and got %q", got)
				}
			}
		})
	}
	for restart := range 11 {
		if restart > 0 {
			if l, err = Listen(t.Context(), addr); err != nil {
				t.Fatal(err)
			}
		}
		end := serving(t, &Server{Handler: atHand("quick"), MaxConnsPerIP: -1,
			DrainTimeout: time.Hour}, l, nil)
		for enough := answered.Load() + 100; answered.Load() < enough && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
		end()
	}
	stop()
	all.Wait()
}

// attachFilter attaches a filter that passes everything to a listener.
func attachFilter(l net.Listener) error {
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return err
	}
	pass := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0xffff}
	refused := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: 1, Filter: &pass})
	})
	return errors.Join(refused, err)
}

// askOnce returns the reply to a request. A client that is refused, or late, is excused.
func askOnce(addr, request string) (reply string, excused bool) {
	began := time.Now()
	c, err := (&net.Dialer{Timeout: 50 * time.Millisecond}).Dial("tcp", addr)
	if err != nil {
		return "", true
	}
	defer func() { _ = c.Close() }()
	send(c, request)
	late := time.Since(began) > 25*time.Millisecond // half of what package poll waits for a handshake
	got, _ := io.ReadAll(c)
	return string(got), late
}

// Connections in the queue of the listener at the end are answered, or left to the other process
// if the listener is shared.
func TestQueueAtTheEnd(t *testing.T) {
	for _, shared := range []bool{false, true} {
		l := listenTCP(t)
		var waiting []*net.TCPConn
		for range 100 {
			c := dialTCP(t, l.Addr().String())
			send(c, "/q\r\n")
			waiting = append(waiting, c)
		}
		other, err := l.(*net.TCPListener).File() // the other process
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		served := l
		if shared {
			served = SharedListener{l}
		}
		s := &Server{Handler: atHand("quick"), MaxConnsPerIP: -1, DrainTimeout: time.Hour}
		if err := s.Serve(ctx, served); err != nil {
			t.Error(err)
		}
		if n := s.Counts().Accepted; (n == 0) != shared {
			t.Errorf("%d were accepted", n)
		}
		_ = other.Close()
		for i, c := range waiting {
			got, err := io.ReadAll(c)
			if !shared && (string(got) != "quick" || err != nil) ||
				shared && !errors.Is(err, syscall.ECONNRESET) {
				t.Fatalf("shared: %v, client %d: %q, %v", shared, i, got, err)
			}
		}
	}
}
