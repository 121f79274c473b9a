package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/gophd/gophd/internal/treetest"
)

// lines collects what a logger writes.
type lines struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, nil))
}

// dialFrom connects from an address of this machine.
func dialFrom(t testing.TB, from, addr string) *net.TCPConn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

// exchange sends a request and returns all that comes back.
func exchange(t testing.TB, c net.Conn, request string) string {
	t.Helper()
	_, _ = io.WriteString(c, request)
	got, _ := io.ReadAll(c)
	return string(got)
}

const busyReply = "3Server busy\t\terror.host\t1\r\n.\r\n"

// refused connects, sends nothing and returns what it reads. It may be reset while it connects.
func refused(addr string) ([]byte, error) {
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return io.ReadAll(c)
}

func TestAbuseTooManyConnectionsOfAnAddress(t *testing.T) {
	var log lines
	s := &Server{Handler: &atHand{body: []byte("quick")}, MaxConnsPerIP: 4, Log: log.logger()}
	addr := startTCP(t, s)
	for range 4 {
		dialFrom(t, "127.0.0.2", addr)
	}
	treetest.Until(t, "four stay", func() bool { return s.Counts().Reading == 4 })
	if got, err := refused(addr); len(got) > 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the fifth got %q, %v before it has asked for anything", got, err)
	}
	if got := exchange(t, dialFrom(t, "127.0.0.3", addr), "/s\r\n"); got != "slow /s" {
		t.Errorf("another address got %q", got)
	}
	_, _ = refused(addr)
	if got := strings.Count(log.String(),
		`msg=refused remote=127.0.0.2 reason="per-address limit" times=1`); got != 1 {
		t.Errorf("%d log lines:\n%s", got, &log)
	}
}

// A full server answers clients from other addresses, and evicts silent ones of the address that
// has the most.
func TestAbuseServerFull(t *testing.T) {
	s := &Server{Handler: &atHand{body: []byte("quick")}, MaxConns: 20, MaxConnsPerIP: -1}
	addr := startTCP(t, s)
	oldest := dialFrom(t, "127.0.0.2", addr)
	treetest.Until(t, "the first stays", func() bool { return s.Counts().Reading == 1 })
	for range 18 {
		dialFrom(t, "127.0.0.2", addr)
	}
	trickling := dialFrom(t, "127.0.0.3", addr)
	_, _ = io.WriteString(trickling, "/s") // and no line end yet
	treetest.Until(t, "the server is full", func() bool { return s.Counts().Reading == 20 })
	for range 10 {
		if got := exchange(t, dialFrom(t, "127.0.0.4", addr), "/s\r\n"); got != "slow /s" {
			t.Fatalf("a newcomer got %q", got)
		}
	}
	if n, err := oldest.Read(make([]byte, 1)); n != 0 || !errors.Is(err, syscall.ECONNRESET) { // EOF could pass for an empty robots.txt
		t.Errorf("the oldest silent one: %d, %v", n, err)
	}
	if got := exchange(t, trickling, "\r\n"); got != "slow /s" {
		t.Errorf("the one of an address with one got %q", got)
	}
}

// The context of an evicted connection's request ends.
func TestEvictedRequestEnds(t *testing.T) {
	begun, ended := make(chan bool, 2), make(chan bool, 2)
	addr := startTCP(t, &Server{MaxConns: 2, MaxConnsPerIP: -1, DrainTimeout: time.Millisecond,
		Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
			if r.Selector == "/s" {
				return seen(w, r)
			}
			begun <- true
			<-r.Context().Done()
			ended <- true
			return context.Cause(r.Context())
		})})
	for range 2 {
		_, _ = io.WriteString(dialFrom(t, "127.0.0.2", addr), "/waits\r\n")
		<-begun
	}
	if got := exchange(t, dialFrom(t, "127.0.0.3", addr),
		"/s\r\n"); !strings.HasSuffix(got, " /s") {
		t.Errorf("a newcomer got %q", got)
	}
	<-ended
	if len(ended) > 0 {
		t.Error("both had to go")
	}
}

func TestAbuseTooManyRequests(t *testing.T) {
	var log lines
	s := &Server{Handler: &atHand{body: []byte("quick")}, Rate: 0.01, Burst: 3, Log: log.logger(),
		HTTP: func(c *HTTPConn, r *Request) error {
			_, err := fmt.Fprint(c, c.Allow(r), c.Allow(r), c.Allow(r), c.Allow(r))
			return err
		}}
	addr := startTCP(t, s)
	for i, want := range []string{"quick", "slow /s", "quick"} {
		if got := exchange(t, dialFrom(t, "127.0.0.2", addr),
			[]string{"/q\n", "/s\n"}[i%2]); got != want {
			t.Errorf("request %d: %q", i, got)
		}
	}
	for range 5 {
		if got := exchange(t, dialFrom(t, "127.0.0.2", addr),
			"/q\n"); got != "3Too many requests\t\terror.host\t1\r\n.\r\n" {
			t.Errorf("got %q", got)
		}
	}
	if got := exchange(t, dialFrom(t, "127.0.0.2", addr),
		"GET / HTTP/1.1\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 429 Too many requests\r\n") ||
		!strings.HasSuffix(got, "\r\n\r\nToo many requests\n") {
		t.Errorf("a browser got %q", got)
	}
	if got := exchange(t, dialFrom(t, "127.0.0.3", addr), "/q\n"); got != "quick" {
		t.Errorf("another address got %q", got)
	}
	if got := exchange(t, dialFrom(t, "127.0.0.4", addr),
		"GET / HTTP/1.1\r\n\r\n"); got != "true true true false" {
		t.Errorf("of the requests on a connection are allowed: %s", got)
	}
	if n := s.Counts().Refused[tooFast.Error()]; n != 7 ||
		strings.Count(log.String(), "msg=refused") != 2 {
		t.Errorf("log:\n%s", &log)
	}
}

// A server without TLS and HTTP closes their connections without a byte.
func TestAbuseOffProtocols(t *testing.T) {
	addr := startTCP(t, &Server{Handler: &atHand{body: []byte("quick")}})
	for _, request := range []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\n/q\r\n", 50),
		"GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\n\r\n",
	} {
		for _, pause := range []time.Duration{0, 20 * time.Millisecond} {
			c := dialTCP(t, addr)
			time.Sleep(pause)
			_, _ = io.WriteString(c, request)
			if got, err := io.ReadAll(c); len(got) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%.20q got %q, %v", request, got, err)
			}
		}
	}
}

// sayHTTP answers with the beginning of the request line that it reads.
func sayHTTP(c *HTTPConn, r *Request) error {
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) || strings.TrimRight(line, "\r\n") != r.Selector {
		return fmt.Errorf("read %q (%w), want %q", line, err, r.Selector)
	}
	line, _, _ = strings.Cut(line, " HTTP/")
	_, err = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n\r\n%s, TLS %v", line, r.TLS)
	return err
}

// HTTP requests go to Server.HTTP, wherever they were read; what follows is no request. Lines
// that only look like HTTP are selectors.
func TestAbuseHTTPRequests(t *testing.T) {
	addr := startTCP(t, &Server{Handler: &atHand{body: []byte("quick")}, HTTP: sayHTTP})
	for line, want := range map[string]string{
		"GET / HTTP/1.1": "GET /", "POST /q HTTP/1.0": "POST /q", "PRI * HTTP/2.0": "PRI *",
		`GET /q"> HTTP/1.1`: `GET /q">`,
		"GET /" + strings.Repeat("x", 4000) + " HTTP/1.1": "GET /" + strings.Repeat("x", 4000),
		"M-SEARCH a b HTTP/1.1":                           "M-SEARCH a b",
	} {
		for _, pause := range []time.Duration{0, 20 * time.Millisecond} {
			c := dialTCP(t, addr)
			_, _ = io.WriteString(c, line[:3])
			time.Sleep(pause)
			got := exchange(t, c, line[3:]+"\r\nHost: x\r\n/q\r\n\r\n/q\r\n")
			if got != "HTTP/1.1 200 OK\r\n\r\n"+want+", TLS false" {
				t.Errorf("%.60q: %q", line, got)
			}
		}
	}
	for _, sel := range []string{"GET x", "GET /", "get / HTTP/1.1", "GET / HTTP/", "GET HTTP/1.1",
		"HTTP/1.1", "POST", "a GET / HTTP/1.1"} {
		if got := exchange(t, dialTCP(t, addr), sel+"\r\n"); got != "slow "+sel {
			t.Errorf("%q got %q", sel, got)
		}
	}
}

// seen answers with the client's address and what it has requested.
func seen(w ResponseWriter, r *Request) error {
	_, err := io.WriteString(w, known(r))
	return err
}

func known(r *Request) string {
	text := fmt.Sprintf("%s %s:%d %s", r.Remote, r.Host, r.Port, r.Selector)
	if r.ServerName != "" {
		text += " of " + r.ServerName
	}
	return text
}

// seenQuick answers in the same way, where the request was read.
type seenQuick struct{ Handler }

func (seenQuick) Quick(r *Request) (Answer, bool) {
	return Answer{Body: []byte(known(r))}, true
}

const badRequest = "3Bad request\t\terror.host\t1\r\n.\r\n"

// v2 is a PROXY header of version 2.
func v2(from, to string) string {
	h := proxyproto.HeaderProxyFromAddrs(2, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from)),
		net.TCPAddrFromAddrPort(netip.MustParseAddrPort(to)))
	b, _ := h.Format()
	return string(b)
}

func TestAbuseProxyHeaderFromAStranger(t *testing.T) {
	for _, s := range []*Server{
		{Handler: HandlerFunc(seen)}, {Handler: &atHand{}},
		{Handler: &atHand{}, TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}},
	} {
		addr := startTCP(t, s)
		for _, header := range []string{
			"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n", "PROXY TCP6 ::1 ::1 1 70\r\n",
			"PROXY UNKNOWN\r\n",
			v2("192.0.2.1:1234", "198.51.100.1:70"), v2("[2001:db8::1]:1234", "[2001:db8::2]:70"),
		} {
			if got := exchange(t, dialTCP(t, addr), header+"/s\r\n"); got != badRequest {
				t.Errorf("%q got %q", header, got)
			}
		}
	}
}

func TestAbuseProxyHeaders(t *testing.T) {
	const v1 = "PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n"
	withName := proxyproto.HeaderProxyFromAddrs(2,
		&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1},
		&net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 70})
	must(t, withName.SetTLVs([]proxyproto.TLV{{Type: proxyproto.PP2_TYPE_AUTHORITY,
		Value: []byte("two.example")}}))
	named, err := withName.Format()
	must(t, err)
	tests := map[string]string{
		v1 + "/s\r\n": "192.0.2.1:1234 198.51.100.1:70 /s",
		"PROXY TCP6 2001:db8::1 2001:db8::2 1 70\r\n/s\r\n": "[2001:db8::1]:1 2001:db8::2:70 /s",
		v2("192.0.2.1:1234", "198.51.100.1:70") + "/s\r\n":  "192.0.2.1:1234 198.51.100.1:70 /s",
		v2("[2001:db8::1]:12", "[2001:db8::2]:70") + "\r\n": "[2001:db8::1]:12 2001:db8::2:70 ",
		"PROXY UNKNOWN ffff:: ffff:: 1 2\r\n/s\r\n":         "127.0.0.9:",
		"/no/header\r\n":   "127.0.0.9:",
		"\r\n":             "127.0.0.9:",
		v1 + v1 + "/s\r\n": badRequest,
		v1 + v2("192.0.2.1:1", "192.0.2.2:2") + "/s\r\n":       badRequest,
		v2("192.0.2.1:1", "192.0.2.2:2") + v1 + "/s\r\n":       badRequest,
		"PROXY TCP4 192.0.2.1 198.51.100.1 99999 70\r\n/s\r\n": badRequest,
		"PROXY TCP4 192.0.2.1 198.51.100.1 1234\r\n/s\r\n":     badRequest,
		"PROXY TCP4 ::1 ::1 1234 70\r\n/s\r\n":                 badRequest,
		"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\n/s\r\n":    badRequest,
		"PROXY " + strings.Repeat("x", 3000):                   badRequest,
		"\r\n\r\n\x00\r\nQUIT\n\x31\x11\x00\x0c":               badRequest,
		"\r\n\r\n\x00\r\nQUIT\n\x21\x11\xff\xff" + v1:          badRequest,
		"\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00/s\r\n":         "127.0.0.9:", // LOCAL
		v1 + "GET /s HTTP/1.1\r\n\r\n":                         "HTTP/1.1 200 OK",
		string(named) + "/s\r\n":                               "192.0.2.1:1 192.0.2.2:70 /s of two.example",
	}
	for _, h := range []Handler{HandlerFunc(seen), seenQuick{HandlerFunc(seen)}} {
		addr := startTCP(t, &Server{Handler: h,
			TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}, HTTP: sayHTTP})
		for request, want := range tests {
			if got := exchange(t, dialFrom(t, "127.0.0.9", addr),
				request); !strings.HasPrefix(got, want) {
				t.Errorf("%.60q got %q, want %q", request, got, want)
			}
		}
		c := dialFrom(t, "127.0.0.9", addr)
		_, _ = io.WriteString(c, v1)
		time.Sleep(20 * time.Millisecond)
		if got := exchange(t, c, "/later\r\n"); !strings.HasPrefix(got,
			"192.0.2.1:1234 198.51.100.1:70 /later") {
			t.Errorf("header, then the request: %q", got)
		}
	}
}

// Behind a proxy, limits apply to the client's address.
func TestAbuseCapsBehindAProxy(t *testing.T) {
	addr := startTCP(t, &Server{
		Handler: &atHand{}, TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")},
		MaxConnsPerIP: 2,
	})
	silent := func(client int) {
		_, _ = fmt.Fprintf(dialFrom(t, "127.0.0.9", addr),
			"PROXY TCP4 192.0.2.%d 198.51.100.1 1234 70\r\n", client)
	}
	for i := range 10 {
		silent(i / 2)
	}
	from := func(client string) string {
		return exchange(t, dialFrom(t, "127.0.0.9", addr),
			"PROXY TCP4 "+client+" 198.51.100.1 1234 70\r\n/s\r\n")
	}
	// The header that is read last is refused, which may be a silent client's.
	treetest.Until(t, "the third is refused", func() bool {
		silent(1)
		return from("192.0.2.1") == busyReply
	})
	if got := from("192.0.2.77"); got != "slow /s" {
		t.Errorf("another address got %q", got)
	}
}

// Clients that trickle or are silent are closed at the deadline, however many connect
// meanwhile; until then they have no goroutine, and others are answered.
func TestAbuseTrickling(t *testing.T) {
	conf, _ := tlsConfigs(t)
	addr := startTCP(t, &Server{Handler: &atHand{body: []byte("quick")}, TLS: conf,
		RequestTimeout: time.Second, MaxConnsPerIP: -1, loops: 2})
	before, most := runtime.NumGoroutine(), 0
	var trickling, silent []net.Conn
	for range 100 {
		trickling = append(trickling, dialTCP(t, addr), dialTCP(t, addr))
		silent = append(silent, dialTCP(t, addr))
	}
	began := time.Now()
	if got := exchange(t, dialTCP(t, addr), "/q\r\n"); got != "quick" &&
		time.Since(began) < time.Second/2 {
		t.Errorf("another client got %q", got)
	}
	newest := dialTCP(t, addr)
	for open := len(trickling); open > 0; {
		open = 0
		for j, c := range trickling {
			if _, err := c.Write([]byte{"/\x16"[j%2]}); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the deadline moves")
			} else if err == nil {
				open++
			}
		}
		most = max(most, runtime.NumGoroutine()-before)
		_ = newest.Close()
		newest = dialTCP(t, addr) // is silent, and its deadline is later
		time.Sleep(20 * time.Millisecond)
	}
	if most > 20 {
		t.Errorf("%d goroutines more", most)
	}
	for i, c := range append(trickling, silent...) {
		if n, err := c.Read(make([]byte, 1)); n != 0 ||
			i >= len(trickling) && !errors.Is(err, io.EOF) {
			t.Fatalf("client %d: %d bytes, %v", i, n, err)
		}
	}
}

// A client behind a proxy that opens connections without end, some without their PROXY header
// yet, is refused at once beyond its limit: the server uses few descriptors and answers others.
func TestAbuseFloodBehindAProxy(t *testing.T) {
	s := &Server{
		Handler: &atHand{body: []byte("quick")}, MaxConns: 200,
		TrustProxy: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")},
	}
	addr := startTCP(t, s)
	before := descriptors(t)
	flood := 0
	for round := range 10 {
		for range 50 {
			c := dialFrom(t, "127.0.0.9", addr)
			flood++
			if round%2 == 0 {
				_, _ = io.WriteString(c, "PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n")
			}
		}
		if n := descriptors(t) - before - flood; n > 250 {
			t.Errorf("round %d: the server has %d descriptors", round, n)
		}
		for _, from := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.9"} {
			for _, request := range []string{"/q\r\n", "/s\r\n"} {
				header := ""
				if from == "127.0.0.9" {
					header = "PROXY TCP4 192.0.2.7 198.51.100.1 1234 70\r\n"
				}
				if got := exchange(t, dialFrom(t, from, addr),
					header+request); got != map[string]string{"/q\r\n": "quick",
					"/s\r\n": "slow /s"}[request] {
					t.Errorf("round %d: another client got %q", round, got)
				}
				flood++ // its descriptor, too
			}
		}
	}
	if c := s.Counts(); c.Reading+c.Writing+c.Lingering > 200 ||
		c.Refused[tooManyOfBlock.Error()] == 0 {
		t.Errorf("%+v", c)
	}
}

// descriptors counts those of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(all)
}
