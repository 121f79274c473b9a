package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestFastDrainHearsOut: connections without a request have one more second after the end to
// send it.
func TestFastDrainHearsOut(t *testing.T) {
	for _, request := range []string{"/q\n", "/s\n", ""} {
		t.Run(fmt.Sprintf("%q", request), func(t *testing.T) {
			t.Parallel()
			l := listenTCP(t)
			end := serving(t, func(ctx context.Context) error {
				return (&Server{Handler: &atHand{body: []byte("slow /q")},
					DrainTimeout: time.Hour}).Serve(ctx, l)
			})
			waiting, other := dialTCP(t, l.Addr().String()), dialTCP(t, l.Addr().String())
			_, _ = io.WriteString(other, "/q\n") // is accepted after the first
			if _, err := io.ReadAll(other); err != nil {
				t.Error(err)
			}
			began, ended := time.Now(), make(chan bool)
			go func() { end(); close(ended) }()
			time.Sleep(100 * time.Millisecond)
			_, _ = io.WriteString(waiting, request)
			late := time.Since(began) > time.Second/2
			want := "slow " + request[:max(0, len(request)-1)]
			if request == "" {
				want = ""
			}
			if got, err := io.ReadAll(waiting); (string(got) != want || err != nil) && !late {
				t.Errorf("%q, %v", got, err)
			}
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("Serve does not end")
			}
		})
	}
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
				switch got, err := askOnce(addr, request); {
				case got == want:
					answered.Add(1)
				case !errors.Is(err, errNobody) && !errors.Is(err, errLate):
					t.Errorf("connected, and got %q, %v", got, err)
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
		end := serving(t, func(ctx context.Context) error {
			return (&Server{Handler: &atHand{body: []byte("quick")}, MaxConnsPerIP: -1,
				DrainTimeout: time.Hour}).Serve(ctx, l)
		})
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

var (
	errNobody = errors.New("nobody accepts connections")
	errLate   = errors.New("the request came late")
)

func askOnce(addr, request string) (string, error) {
	began := time.Now()
	c, err := (&net.Dialer{Timeout: 50 * time.Millisecond}).Dial("tcp", addr)
	if err != nil {
		return "", errors.Join(errNobody, err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, request)
	late := time.Since(began) > 25*time.Millisecond // half of what package poll waits for a handshake
	got, err := io.ReadAll(c)
	if late {
		err = errLate
	}
	return string(got), err
}

// Connections in the queue of the listener at the end are answered, or left to the other process
// if the listener is shared.
func TestQueueAtTheEnd(t *testing.T) {
	for name, shared := range map[string]bool{"ours": false, "shared": true} {
		t.Run(name, func(t *testing.T) {
			l := listenTCP(t)
			var waiting []*net.TCPConn
			for range 100 {
				c := dialTCP(t, l.Addr().String())
				_, _ = io.WriteString(c, "/q\r\n")
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
			s := &Server{Handler: &atHand{body: []byte("quick")}, MaxConnsPerIP: -1,
				DrainTimeout: time.Hour}
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
					t.Fatalf("client %d: %q, %v", i, got, err)
				}
			}
		})
	}
}
