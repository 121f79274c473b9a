package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/gophd/gophd/internal/treetest"
)

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

// awaitSilent waits until n connections wait for their request.
func awaitSilent(t *testing.T, s *Server, n int) {
	t.Helper()
	treetest.Until(t, fmt.Sprintf("%d are silent", n), func() bool {
		return s.Counts().Reading == n
	})
}

// trusting trusts the proxy 127.0.0.9.
var trusting = []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}

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
	var log treetest.Log
	s := &Server{Handler: atHand("quick"), MaxConnsPerIP: 4, Log: log.Logger()}
	addr := startTCP(t, s)
	for range 4 {
		dialFrom(t, "127.0.0.2", addr)
	}
	awaitSilent(t, s, 4)
	if got, err := refused(addr); len(got) > 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the fifth got %q, %v before it has asked for anything", got, err)
	}
	if got := ask(t, dialFrom(t, "127.0.0.3", addr), "/s\r\n"); got != "slow /s" {
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
	s := &Server{Handler: atHand("quick"), MaxConns: 20, MaxConnsPerIP: -1}
	s.limited().limiter.pick = everyOne()
	addr := startTCP(t, s)
	oldest := dialFrom(t, "127.0.0.2", addr)
	awaitSilent(t, s, 1)
	for range 18 {
		dialFrom(t, "127.0.0.2", addr)
	}
	trickling := dialFrom(t, "127.0.0.3", addr)
	send(trickling, "/s") // and no line end yet
	awaitSilent(t, s, 20)
	for range 10 { // whose connections stay
		newcomer := dialFrom(t, "127.0.0.4", addr)
		send(newcomer, "/s\r\n")
		if got, err := io.ReadAll(newcomer); string(got) != "slow /s" {
			t.Fatalf("a newcomer got %q, %v", got, err)
		}
	}
	if n, err := oldest.Read(make([]byte, 1)); n != 0 || !errors.Is(err, syscall.ECONNRESET) { // EOF could pass for an empty robots.txt
		t.Errorf("the oldest silent one: %d, %v", n, err)
	}
	if got := ask(t, trickling, "\r\n"); got != "slow /s" {
		t.Errorf("the one of an address with one got %q", got)
	}
}

// The context of an evicted connection's request ends.
func TestEvictedRequestEnds(t *testing.T) {
	begun, ended := make(chan bool, 2), make(chan bool, 2)
	addr := startTCP(t, &Server{MaxConns: 2, MaxConnsPerIP: -1, DrainTimeout: time.Millisecond,
		Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
			if r.Selector == "/s" {
				return echoSelector(w, r)
			}
			begun <- true
			<-r.Context().Done()
			ended <- true
			return context.Cause(r.Context())
		})})
	for range 2 {
		send(dialFrom(t, "127.0.0.2", addr), "/waits\r\n")
		<-begun
	}
	if got := ask(t, dialFrom(t, "127.0.0.3", addr), "/s\r\n"); got != "</s|>" {
		t.Errorf("a newcomer got %q", got)
	}
	<-ended
	if len(ended) > 0 {
		t.Error("both had to go")
	}
}

func TestAbuseTooManyRequests(t *testing.T) {
	var log treetest.Log
	s := &Server{Handler: atHand("quick"), Rate: 0.01, Burst: 3, Log: log.Logger(), HTTP: allowed(4),
		ShowIP: func(netip.Addr) string { return "somebody" }}
	addr := startTCP(t, s)
	from := func(a, request string) string { return ask(t, dialFrom(t, a, addr), request) }
	for i, want := range []string{"quick", "slow /s", "quick"} {
		if got := from("127.0.0.2", []string{"/q\n", "/s\n"}[i%2]); got != want {
			t.Errorf("request %d: %q", i, got)
		}
	}
	for range 5 {
		if got := from("127.0.0.2", "/q\n"); got != tooManyReply {
			t.Errorf("got %q", got)
		}
	}
	const get = "GET / HTTP/1.1\r\n\r\n"
	if got := from("127.0.0.2", get); !strings.HasPrefix(got,
		"HTTP/1.1 429 Too many requests\r\n") ||
		!strings.HasSuffix(got, "\r\n\r\nToo many requests\n") {
		t.Errorf("a browser got %q", got)
	}
	if got := from("127.0.0.3", "/q\n"); got != "quick" {
		t.Errorf("another address got %q", got)
	}
	if got := from("127.0.0.4", get); got != "true true true false " {
		t.Errorf("of the requests on a connection are allowed: %s", got)
	}
	if n := s.Counts().Refused[tooFast.Error()]; n != 7 ||
		strings.Count(log.String(), "msg=refused remote=somebody ") != 2 {
		t.Errorf("log:\n%s", &log)
	}
}

// allowed answers whether the rate limit allows the request, and as many more on its connection.
func allowed(requests int) func(*HTTPConn, *Request) error {
	return func(c *HTTPConn, r *Request) error {
		_ = c.SetReadDeadline(time.Time{})
		var err error
		for range requests {
			_, err = fmt.Fprintf(c, "%v ", c.Allow(r))
		}
		return err
	}
}

// A server without TLS and HTTP closes their connections without a byte.
func TestAbuseOffProtocols(t *testing.T) {
	addr := startTCP(t, &Server{Handler: atHand("quick")})
	for _, request := range []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\n/q\r\n", 50),
		"GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\n\r\n",
	} {
		for _, pause := range []time.Duration{0, 20 * time.Millisecond} {
			c := dialTCP(t, addr)
			time.Sleep(pause)
			send(c, request)
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
	addr := startTCP(t, &Server{Handler: atHand("quick"), HTTP: sayHTTP})
	for _, line := range []string{"GET /", "POST /q", "PRI *", `GET /q">`,
		"GET /" + strings.Repeat("x", 4000), "M-SEARCH a b"} {
		for _, pause := range []time.Duration{0, 20 * time.Millisecond} {
			c := dialTCP(t, addr)
			send(c, line[:3])
			time.Sleep(pause)
			got := ask(t, c, line[3:]+" HTTP/1.1\r\nHost: x\r\n/q\r\n\r\n/q\r\n")
			if got != "HTTP/1.1 200 OK\r\n\r\n"+line+", TLS false" {
				t.Errorf("%.60q: %q", line, got)
			}
		}
	}
	for _, sel := range []string{"GET x", "GET /", "get / HTTP/1.1", "GET / HTTP/", "GET HTTP/1.1",
		"HTTP/1.1", "POST", "a GET / HTTP/1.1"} {
		if got := ask(t, dialTCP(t, addr), sel+"\r\n"); got != "slow "+sel {
			t.Errorf("%q got %q", sel, got)
		}
	}
}

// known describes the client's address and what it has requested.
func known(r *Request) string {
	text := fmt.Sprintf("%s %s:%d %s", r.Remote, r.Host, r.Port, r.Selector)
	if r.ServerName != "" {
		text += " of " + r.ServerName
	}
	return text
}

func seen(w ResponseWriter, r *Request) error {
	_, err := io.WriteString(w, known(r))
	return err
}

// v2 is a PROXY header of version 2.
func v2(from, to string) string {
	h := proxyproto.HeaderProxyFromAddrs(2, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from)),
		net.TCPAddrFromAddrPort(netip.MustParseAddrPort(to)))
	b, _ := h.Format()
	return string(b)
}

func TestAbuseProxyHeaderFromAStranger(t *testing.T) {
	for _, s := range []*Server{
		{Handler: HandlerFunc(seen)}, {Handler: atHand("")},
		{Handler: atHand(""), TrustProxy: trusting},
	} {
		addr := startTCP(t, s)
		for _, header := range []string{
			"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n", "PROXY TCP6 ::1 ::1 1 70\r\n",
			"PROXY UNKNOWN\r\n",
			v2("192.0.2.1:1234", "198.51.100.1:70"), v2("[2001:db8::1]:1234", "[2001:db8::2]:70"),
		} {
			if got := ask(t, dialTCP(t, addr), header+"/s\r\n"); got != badRequest {
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
	conf, client := tlsConfigs()
	quick := answers{func(r *Request) (Answer, bool) {
		return Answer{Body: []byte(known(r))}, true
	}, seen}
	for _, h := range []Handler{HandlerFunc(seen), quick} {
		addr := startTCP(t, &Server{Handler: h, TrustProxy: trusting, HTTP: sayHTTP, TLS: conf})
		for request, want := range tests {
			if got := ask(t, dialFrom(t, "127.0.0.9", addr),
				request); !strings.HasPrefix(got, want) {
				t.Errorf("%.60q got %q, want %q", request, got, want)
			}
		}

		// The header arrives before the rest: a request, or a TLS handshake.
		for _, header := range []string{v1, v2("192.0.2.1:1234", "198.51.100.1:70")} {
			for _, encrypted := range []bool{false, true} {
				c := net.Conn(dialFrom(t, "127.0.0.9", addr))
				send(c, header)
				time.Sleep(20 * time.Millisecond)
				want := "192.0.2.1:1234 198.51.100.1:70 /later"
				if encrypted {
					c = tls.Client(c, client)
					want += " of example.com"
				}
				if got := ask(t, c, "/later\r\n"); got != want {
					t.Errorf("%q, then the request: %q", header, got)
				}
			}
		}
	}
}

// Behind a proxy, limits apply to the client's address.
func TestAbuseCapsBehindAProxy(t *testing.T) {
	addr := startTCP(t, &Server{Handler: atHand(""), TrustProxy: trusting, MaxConnsPerIP: 2})
	silent := func(client int) {
		send(dialFrom(t, "127.0.0.9", addr),
			fmt.Sprintf("PROXY TCP4 192.0.2.%d 198.51.100.1 1234 70\r\n", client))
	}
	for i := range 10 {
		silent(i / 2)
	}
	from := func(client string) string {
		return ask(t, dialFrom(t, "127.0.0.9", addr),
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
	conf, _ := tlsConfigs()
	processors(t, 2)
	addr := startTCP(t, &Server{Handler: atHand("quick"), TLS: conf,
		RequestTimeout: time.Second, MaxConnsPerIP: -1})
	before, most := runtime.NumGoroutine(), 0
	var trickling, silent []net.Conn
	for range 100 {
		trickling = append(trickling, dialTCP(t, addr), dialTCP(t, addr))
		silent = append(silent, dialTCP(t, addr))
	}
	began := time.Now()
	if got := ask(t, dialTCP(t, addr), "/q\r\n"); got != "quick" &&
		time.Since(began) < time.Second/2 {
		t.Errorf("another client got %q", got)
	}
	newest := dialTCP(t, addr)
	const hello = "\x16\x03\x01\x10\x00\x01" // and more than four thousand bytes
	for round, open := 0, len(trickling); open > 0; round++ {
		open = 0
		for j, c := range trickling {
			sent := []byte{'/', hello[min(round, len(hello)-1)]}[j%2]
			if _, err := c.Write([]byte{sent}); errors.Is(err, os.ErrDeadlineExceeded) {
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
	s := &Server{Handler: atHand("quick"), MaxConns: 200, TrustProxy: trusting}
	addr := startTCP(t, s)
	before := descriptors(t)
	flood := 0
	for round := range 10 {
		for range 50 {
			c := dialFrom(t, "127.0.0.9", addr)
			flood++
			if round%2 == 0 {
				send(c, "PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n")
			}
		}
		if n := descriptors(t) - before - flood; n > 250 {
			t.Errorf("round %d: the server has %d descriptors", round, n)
		}
		for from, header := range map[string]string{"127.0.0.2": "", "127.0.0.3": "",
			"127.0.0.9": "PROXY TCP4 192.0.2.7 198.51.100.1 1234 70\r\n"} {
			for request, want := range map[string]string{"/q": "quick", "/s": "slow /s"} {
				if got := ask(t, dialFrom(t, from, addr), header+request+"\r\n"); got != want {
					t.Errorf("round %d: another client got %q", round, got)
				}
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
