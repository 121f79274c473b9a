package server

import (
	"cmp"
	"errors"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server/internal/poll"

	"golang.org/x/sys/unix"
)

// processors sets the number of processors, and so of workers.
func processors(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
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

func dialTCP(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	return dialFrom(t, "127.0.0.1", addr)
}

// TestRequestsAndReplies: where a request line ends, what is in it, and how a menu ends; in the
// event loop, with all other protocols enabled, and in a goroutine. Requests arrive in pieces,
// between bars. What follows a request resets no connection.
func TestRequestsAndReplies(t *testing.T) {
	texts := map[string]string{"/q": "quick",
		"/q/large": strings.Repeat("large", 6<<20)} // more than a socket takes at once
	quick := func(r *Request) (Answer, bool) {
		text, ok := texts[r.Selector]
		return Answer{Body: []byte(text)}, ok
	}
	h := answers{quick, func(w ResponseWriter, r *Request) error {
		switch r.Selector {
		case "":
			return errors.Join(w.WriteItem(menu.Info("hello")),
				w.WriteItem(menu.Item{Type: '0', Label: "a", Selector: "/a"}))
		case "/panic":
			panic("oops")
		}
		return echoSelector(w, r)
	}}
	conf, _ := tlsConfigs()
	s := func() *Server {
		return &Server{Host: "gopher.example", Port: 7070, Handler: h, TLS: conf,
			TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	}
	hello := string(menu.Info("hello").AppendTo(nil)) + "0a\t/a\tgopher.example\t7070\r\n.\r\n"
	more := "|" + strings.Repeat("and more\r\n", 1000)
	tests := map[string]string{
		"/q/large\r\n": texts["/q/large"], "/q|\n": texts["/q"],
		"/q\r\n" + more[1:] + more + more + more: texts["/q"],
		"/q|\r\n" + strings.Repeat("x", 1<<20):   texts["/q"], // discarded after the reply
		"/a\n":                                   "</a|>",
		"/a\r\n":                                 "</a|>",
		"/a\r":                                   "</a|>",
		"/|a|\r\n" + more[1:] + more + more:      "</a|>",
		"/a\r\nrest is not a request\r\n":        "</a|>", "/a\n/b\n": "</a|>",
		"/search\tsome words\r\n": "</search|some words>", "\r\n": hello, "\n": hello,
		"/panic\n":                 errorItem("Server error"), // of this request alone
		strings.Repeat("x", 4<<10): errorItem("Request too long"),
		strings.Repeat("x", 1<<20): errorItem("Request too long"),
		"P\n":                      "<P|>", // the first byte of another protocol delays nothing
		"G\n":                      "<G|>",
		"/a|EOF":                   "</a|>", "EOF": "",
	}
	addr := startTCP(t, s())
	for request, want := range tests {
		c := dialTCP(t, addr)
		for _, piece := range strings.Split(request, "|") {
			time.Sleep(10 * time.Millisecond)
			if piece == "EOF" {
				_ = c.CloseWrite()
				continue
			}
			send(c, piece)
		}
		time.Sleep(10 * time.Millisecond) // it reads slowly
		if got, err := io.ReadAll(c); string(got) != want || err != nil {
			t.Errorf("%.40q: %d bytes %.40q, %v", request, len(got), got, err)
		}
		_ = c.Close()
	}
	synctest.Test(t, func(t *testing.T) {
		p, stop := start(t, s())
		for request, want := range tests {
			request = strings.ReplaceAll(request, "|", "")
			if strings.HasPrefix(request, "/q") || strings.HasSuffix(request, "EOF") {
				continue
			}
			if got := ask(t, p.dial(), request); got != want {
				t.Errorf("in memory: %.40q answered with %q, want %q", request, got, want)
			}
		}
		stop()
	})
}

// The warm path allocates nothing but the selector and the connection.
func TestWarmPathAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := deferring(t)
	t.Cleanup(serving(t, &Server{Handler: atHand("quick"), Host: "gopher.example"}, l, nil))
	to := rawAddr(t, l.Addr().String())
	// The lists of closing connections grow at first.
	allocs := 3.0
	for i := 0; i < 20 && allocs > 2; i++ {
		allocs = testing.AllocsPerRun(500, func() { rawAsk(t, to) })
	}
	if allocs > 2 {
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

// slowly answers after a millisecond of work, which the loop finds slow.
func slowly() (Answer, bool) {
	for began := time.Now(); time.Since(began) < time.Millisecond; {
	}
	return Answer{Body: []byte("slow")}, true
}

// There are as many workers as processors; once replies are slow, they answer concurrently.
func TestLoopsAnswerAtOnce(t *testing.T) {
	processors(t, 2)
	pairs := make(chan bool)
	addr := startTCP(t, &Server{Handler: answers{quick: func(r *Request) (Answer, bool) {
		if r.Selector == "/slow" {
			return slowly()
		}
		select { // two requests wait for each other
		case pairs <- true:
		case <-pairs:
		case <-time.After(2 * time.Minute):
			return Answer{Body: []byte("alone")}, true
		}
		return Answer{Body: []byte("met")}, true
	}}})
	for range 6 {
		if got := ask(t, dialTCP(t, addr), "/slow\r\n"); got != "slow" {
			t.Fatalf("got %q", got)
		}
	}
	a, b := dialTCP(t, addr), dialTCP(t, addr)
	send(a, "/q\r\n")
	if got := ask(t, b, "/q\r\n"); got != "met" {
		t.Errorf("got %q", got)
	}
	if got := ask(t, a, ""); got != "met" {
		t.Errorf("got %q", got)
	}
}

// Answered connections whose clients do not close count in MaxConns, and are closed without a
// reset when there is no room.
func TestAnsweredMakeRoom(t *testing.T) {
	const most = 40
	s := &Server{Handler: atHand("quick"), MaxConns: most,
		MaxConnsPerIP: -1}
	processors(t, 1)
	addr := startTCP(t, s)
	before := descriptors(t)
	for i := range 5 * most {
		c := dialTCP(t, addr)
		send(c, "/q\r\n")
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
	awaitSilent(t, s, most)
}

// blocks answers from memory; to "/blocks" when it may, after it has asked.
func blocks(asked, may chan bool) answers {
	return answers{quick: func(r *Request) (Answer, bool) {
		if r.Selector == "/blocks" {
			asked <- true
			<-may
		}
		return Answer{Body: []byte("quick")}, true
	}}
}

// At the end of Serve, only the worker that owns a connection closes it: a second close could
// hit a descriptor that was reused.
func TestEndLeavesWhatIsInHand(t *testing.T) {
	asked, may, told := make(chan bool), make(chan bool), make(witness, batch)
	l := listenTCP(t)
	s := &Server{Handler: blocks(asked, may), Observer: told, RequestTimeout: time.Hour,
		DrainTimeout: time.Millisecond}
	processors(t, 2)
	c := dialTCP(t, l.Addr().String())
	send(c, "/blocks\r\n")
	for range batch - 1 { // a worker gives up the lead before it answers a full batch
		dialTCP(t, l.Addr().String())
	}
	stop := serving(t, s, l, nil)
	<-asked
	stop()
	var others []*os.File
	for range 20 {
		f, err := os.Open("/dev/null")
		must(t, err)
		defer func() { _ = f.Close() }()
		others = append(others, f)
	}
	may <- true
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
	asked, may := make(chan bool), make(chan bool)
	s := &Server{Handler: blocks(asked, may), RequestTimeout: timeout}
	processors(t, 1)
	addr := startTCP(t, s)
	waits, other := dialTCP(t, addr), dialTCP(t, addr)
	began := time.Now()
	awaitSilent(t, s, 2)
	send(other, "/blocks\r\n")
	<-asked
	send(waits, "/q\r\n")
	late := time.Since(began) > timeout
	time.Sleep(time.Until(began.Add(timeout + lateness)))
	may <- true
	for _, c := range []net.Conn{waits, other} {
		if got, err := io.ReadAll(c); (string(got) != "quick" || err != nil) && !late {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// The limiter may draw a connection that its worker is closing: there is nothing to do then. A
// loop without connections is not woken.
func TestLoopAtRest(t *testing.T) {
	tcp := listenTCP(t)
	l := &loop{run: (&Server{}).newRun(t.Context(), t.Context(), nil)}
	must(t, l.start(tcp.(*net.TCPListener)))
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	w := &worker{loop: l}
	w.check = func(uintptr) bool { return w.poll() }
	c := &conn{polled: polled{loop: l, fd: fd}}
	l.open = 1
	for _, wakes := range []bool{true, false} {
		l.alarm = time.Now()
		if !w.look(l.alarm) || l.alarm.IsZero() == wakes {
			t.Errorf("%d connections are open: woken at %v", l.open, l.alarm)
		}
		if wakes {
			w.closeConn(c)
		}
	}
	if !c.evict() {
		t.Error("the goroutine of a closed connection is to end it")
	}
	// Accepting pauses while there are no descriptors, and fails without a listener.
	l.limited().limiter.total = math.MaxInt
	w.ready = nil
	l.fail = func(err error) { t.Error("no descriptors:", err) }
	dialTCP(t, tcp.Addr().String())
	var files unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &files))
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: files.Max}))
	alive := w.events(time.Now())
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &files))
	if !alive || len(w.ready) > 0 || !w.backlog || !w.paused.After(time.Now()) || l.alarm != w.paused {
		t.Errorf("%d are accepted, paused until %v", len(w.ready), w.paused)
	}
	if w.events(w.paused); len(w.ready) != 1 || w.backlog {
		t.Errorf("after the pause %d are accepted", len(w.ready))
	}

	// With a full batch, another worker leads.
	w.paused = time.Time{}
	l.workers, l.lead = 2, make(chan struct{}, 1)
	l.lead <- struct{}{}
	for range batch {
		dialTCP(t, tcp.Addr().String())
	}
	if !w.gather() || len(w.ready) != batch || w.leads || len(l.lead) != 1 {
		t.Errorf("%d are accepted, the worker leads: %v", len(w.ready), w.leads)
	}
	w.backlog, w.ready = true, nil
	poll.Close(l.fd)
	var failed error
	l.fail = func(err error) { failed = err }
	if w.events(w.paused); !errors.Is(failed, unix.EBADF) || w.backlog {
		t.Errorf("without a listener: %v", failed)
	}
	l.over = true
	l.alarm = time.Now()
	if w.look(l.alarm) {
		t.Error("it does not end")
	}
}
