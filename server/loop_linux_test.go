package server

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"

	"golang.org/x/sys/unix"
)

// atHand is a Quick handler: selectors that begin with /q are at hand.
type atHand struct {
	body  []byte
	quick atomic.Int64
}

func (h *atHand) Quick(r *Request) (Answer, bool) {
	if !strings.HasPrefix(r.Selector, "/q") {
		return Answer{}, false
	}
	h.quick.Add(1)
	return Answer{Body: h.body}, true
}

func (h *atHand) ServeGopher(w ResponseWriter, r *Request) error {
	_, err := io.WriteString(w, "slow "+r.Selector)
	return err
}

// startTCP serves on loopback. Timeouts that s does not set are an hour, for slow machines.
func startTCP(t *testing.T, s *Server) string {
	t.Helper()
	s.RequestTimeout, s.LingerTimeout = cmp.Or(s.RequestTimeout, time.Hour),
		cmp.Or(s.LingerTimeout, time.Hour)
	return treetest.Serve(t, s.Serve)
}

func listenTCP(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return l
}

func serveOn(t *testing.T, s *Server, l net.Listener) {
	t.Cleanup(serving(t, func(ctx context.Context) error { return s.Serve(ctx, l) }))
}

func dialTCP(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	return dialFrom(t, "127.0.0.1", addr)
}

// TestRequestInPieces: the loop answers requests that arrive whole or in pieces, from memory or
// with a goroutine, with all other protocols enabled. A client that only closes gets nothing.
func TestRequestInPieces(t *testing.T) {
	h := &atHand{body: bytes.Repeat([]byte("quick"), 6<<20)} // more than a socket takes at once
	conf, _ := tlsConfigs(t)
	addr := startTCP(t, &Server{Handler: h, TLS: conf,
		TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	for _, tt := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"/q\r\n"}, string(h.body)},
		{[]string{"/q\r\nmore that nobody reads\r\n"}, string(h.body)},
		{[]string{"/q", "\n"}, string(h.body)},
		{[]string{"/s\r\n"}, "slow /s"},
		{[]string{"/", "s", "\r\n"}, "slow /s"},
		{[]string{"/s", "EOF"}, "slow /s"},
		{[]string{"EOF"}, ""},

		// The first byte of other protocols delays nothing.
		{[]string{"P\n"}, "slow P"},
		{[]string{"\r\n"}, "slow "},
		{[]string{"\n"}, "slow "},
		{[]string{"G\n"}, "slow G"},
	} {
		c := dialTCP(t, addr)
		for _, piece := range tt.pieces {
			time.Sleep(10 * time.Millisecond)
			if piece == "EOF" {
				_ = c.CloseWrite()
				continue
			}
			_, _ = io.WriteString(c, piece)
		}
		time.Sleep(10 * time.Millisecond) // it reads slowly
		if got, err := io.ReadAll(c); string(got) != tt.want || err != nil {
			t.Errorf("%q: %d bytes %.20q, %v", tt.pieces, len(got), got, err)
		}
	}
	if h.quick.Load() != 3 {
		t.Errorf("%d quick answers", h.quick.Load())
	}
}

// A client that sends more than its request still gets the whole reply: a close with unread
// input would reset the connection.
func TestGentleClose(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 100<<10)
	addr := startTCP(t, &Server{Handler: &atHand{body: body}})
	for i := range 200 {
		sel, want := "/q", string(body) // from the loop
		if i%2 > 0 {
			sel, want = "/s", "slow /s" // from a goroutine
		}
		c := dialTCP(t, addr)
		_, _ = io.WriteString(c, sel+"\r\n")
		_, _ = io.WriteString(c, "and more\r\n")
		time.Sleep(time.Duration(i%5) * time.Millisecond)
		_, _ = io.WriteString(c, strings.Repeat("and more\r\n", 1000))
		got, err := io.ReadAll(c)
		if err != nil || string(got) != want {
			t.Fatalf("client %d got %d bytes, %v", i, len(got), err)
		}
		_ = c.Close()
	}
}

// The warm path allocates nothing but the selector.
func TestWarmPathAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := deferring(t)
	serveOn(t, &Server{Handler: kept{Answer{Body: []byte("quick")}}}, l)
	to := rawAddr(t, l.Addr().String())
	// The lists of closing connections grow at first.
	allocs := 2.0
	for i := 0; i < 20 && allocs > 1; i++ { // the selector
		allocs = testing.AllocsPerRun(500, func() { rawAsk(t, to) })
	}
	if allocs > 1 {
		t.Errorf("%v allocations", allocs)
	}
}

func rawAddr(t *testing.T, addr string) *unix.SockaddrInet4 {
	t.Helper()
	ap, err := netip.ParseAddrPort(addr)
	must(t, err)
	return &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}
}

// deferring returns a listener whose connections are accepted with their request.
func deferring(t *testing.T) net.Listener {
	t.Helper()
	conf := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 100)
		})
	}}
	l, err := conf.Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	return l
}

var rawBuf [64]byte

// rawAsk sends a request without allocating. It closes its sending side with the request, so
// that the server closes the connection after the reply.
func rawAsk(t *testing.T, to *unix.SockaddrInet4) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	buf := &rawBuf
	must(t, unix.Connect(fd, to))
	must(t, unix.Send(fd, append(buf[:0], "/q\r\n"...), unix.MSG_MORE))
	_ = unix.Shutdown(fd, unix.SHUT_WR)
	n, _ := unix.Read(fd, buf[:])
	if string(buf[:n]) != "quick" {
		t.Errorf("answered %q", buf[:n])
	}
	_ = unix.Close(fd)
}

// meeting is a Quick handler in which two requests for /q wait for each other.
type meeting struct{ pairs chan bool }

func (m meeting) Quick(r *Request) (Answer, bool) {
	if r.Selector == "/slow" {
		for began := time.Now(); time.Since(began) < time.Millisecond; {
		}
		return Answer{Body: []byte("slow")}, true
	}
	select {
	case m.pairs <- true:
	case <-m.pairs:
	case <-time.After(2 * time.Minute):
		return Answer{Body: []byte("alone")}, true
	}
	return Answer{Body: []byte("met")}, true
}

func (m meeting) ServeGopher(ResponseWriter, *Request) error {
	return ErrNotFound
}

// There are as many workers as processors; once replies are slow, they answer concurrently.
func TestLoopsAnswerAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	addr := startTCP(t, &Server{Handler: meeting{make(chan bool)}})
	for range 6 {
		if got := exchange(t, dialTCP(t, addr), "/slow\r\n"); got != "slow" {
			t.Fatalf("got %q", got)
		}
	}
	a, b := dialTCP(t, addr), dialTCP(t, addr)
	_, _ = io.WriteString(a, "/q\r\n")
	_, _ = io.WriteString(b, "/q\r\n")
	for _, c := range []net.Conn{a, b} {
		if got, err := io.ReadAll(c); string(got) != "met" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// Answered connections whose clients do not close count in MaxConns, and are closed without a
// reset when there is no room.
func TestAnsweredMakeRoom(t *testing.T) {
	const most = 40
	s := &Server{Handler: &atHand{body: []byte("quick")}, MaxConns: most,
		MaxConnsPerIP: -1, loops: 1}
	addr := startTCP(t, s)
	before := descriptors(t)
	for i := range 5 * most {
		c := dialTCP(t, addr)
		_, _ = io.WriteString(c, "/q\r\n")
		if got, err := io.ReadAll(c); string(got) != "quick" || err != nil {
			t.Fatalf("client %d: %q, %v", i, got, err)
		}
		if n := descriptors(t) - before - (i + 1); n > most+batch {
			t.Fatalf("the server has %d descriptors after %d clients", n, i+1)
		}
	}
	for range most {
		dialTCP(t, addr) // is silent
	}
	treetest.Until(t, "the silent ones stay", func() bool { return s.Counts().Reading == most })
}

// blocks is a Quick handler that waits until it may answer.
type blocks struct{ asked, may chan bool }

func (h blocks) Quick(r *Request) (Answer, bool) {
	switch r.Selector {
	case "/blocks":
		h.asked <- true
		<-h.may
	case "/slow":
		return meeting{}.Quick(r)
	}
	return Answer{Body: []byte("quick")}, true
}

func (h blocks) ServeGopher(ResponseWriter, *Request) error {
	return ErrNotFound
}

// At the end of Serve, only the worker that owns a connection closes it: a second close could
// hit a descriptor that was reused.
func TestEndLeavesWhatIsInHand(t *testing.T) {
	h, told := blocks{make(chan bool), make(chan bool)}, make(witness, 10)
	l := listenTCP(t)
	s := &Server{Handler: h, Observer: told, RequestTimeout: time.Hour,
		DrainTimeout: time.Millisecond, loops: 2}
	stop := serving(t, func(ctx context.Context) error { return s.Serve(ctx, l) })
	for range 6 { // after which a worker gives up the lead before it works
		_ = exchange(t, dialTCP(t, l.Addr().String()), "/slow\r\n")
		<-told
	}
	c := dialTCP(t, l.Addr().String())
	treetest.Until(t, "it stays", func() bool { return s.Counts().Reading == 1 })
	_, _ = io.WriteString(c, "/blocks\r\n")
	<-h.asked
	stop()
	var others []*os.File
	for range 20 {
		f, err := os.Open("/dev/null")
		must(t, err)
		defer func() { _ = f.Close() }()
		others = append(others, f)
	}
	h.may <- true
	if s := <-told; s.Err != nil || s.Bytes != 5 {
		t.Errorf("told %+v", s)
	}
	for _, f := range others {
		if _, err := f.Stat(); err != nil {
			t.Error(err)
		}
	}
	if got, err := io.ReadAll(c); string(got) != "quick" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A request that has arrived before the deadline is answered, however late it is read.
func TestRequestAtItsDeadline(t *testing.T) {
	const timeout = 500 * time.Millisecond
	h := blocks{make(chan bool), make(chan bool)}
	s := &Server{Handler: h, RequestTimeout: timeout, loops: 1}
	addr := startTCP(t, s)
	waits, other := dialTCP(t, addr), dialTCP(t, addr)
	began := time.Now()
	treetest.Until(t, "they stay", func() bool { return s.Counts().Reading == 2 })
	_, _ = io.WriteString(other, "/blocks\r\n")
	<-h.asked
	_, _ = io.WriteString(waits, "/q\r\n")
	late := time.Since(began) > timeout
	time.Sleep(time.Until(began.Add(timeout + lateness)))
	h.may <- true
	for _, c := range []net.Conn{waits, other} {
		if got, err := io.ReadAll(c); (string(got) != "quick" || err != nil) && !late {
			t.Errorf("%q, %v", got, err)
		}
	}
}
