package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/robots/internal/robotstest"
)

// gopherServer returns a Dial function that reaches a server in memory. It
// answers what the function gives for the request, its line end included.
func gopherServer(t *testing.T, secure *tls.Config,
	answer func(request string) string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		if secure != nil {
			server = tls.Server(server, secure)
		}
		go func() {
			defer func() { _ = server.Close() }()
			request, err := bufio.NewReader(server).ReadString('\n')
			if err != nil {
				t.Errorf("request %q: %v", request, err)
			}
			_, _ = io.WriteString(server, answer(request))
		}()
		return client, nil
	}
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fetched returns the document of an URL.
func fetched(t *testing.T, f *Fetcher, raw string) (string, error) {
	t.Helper()
	body, err := f.Fetch(t.Context(), mustParse(t, raw))
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	return string(data), err
}

// TestFetchGopher proves what an URL becomes on the wire.
func TestFetchGopher(t *testing.T) {
	echo := func(request string) string { return "you sent " + request }
	server, trusting := robotstest.Certificate(t)
	secure := Fetcher{TLS: trusting, Dial: gopherServer(t, server, echo)}
	if got, err := fetched(t, &secure, "gophers://example.com/0a"); got != "you sent a\r\n" {
		t.Errorf("over TLS: %q, %v", got, err)
	}
	f := Fetcher{Dial: gopherServer(t, nil, echo)}
	for raw, want := range map[string]string{
		"gopher://h":                  "\r\n",
		"gopher://h/":                 "\r\n",
		"gopher://h/1":                "\r\n",
		"gopher://h/0robots.txt":      "robots.txt\r\n",
		"gopher://h/00/robots.txt":    "0/robots.txt\r\n",
		"gopher://h/1/a%20b/":         "/a b/\r\n",
		"gopher://h/7/find%09red%25":  "/find\tred%\r\n",
		"gopher://h/0/cgi?a%20b&c":    "/cgi?a b&c\r\n",
		"gopher://h/0/what?":          "/what?\r\n",
		"gopher://h/0/cgi?100%":       "/cgi?100%\r\n",
		"gopher://h/0/%ff%fe#section": "/\xff\xfe\r\n",
	} {
		if got, err := fetched(t, &f, raw); err != nil || got != "you sent "+want {
			t.Errorf("%s: %q, %v, want %q", raw, got, err, want)
		}
	}
	for raw, fails := range map[string]string{
		"gopher://h/0a%0d%0ab": "line end",
		"gopher://h/0a%00b":    "line end",
		"gopher:///0a":         "no host",
		"ftp://h/":             "is not supported",
	} {
		if _, err := fetched(t, &f, raw); err == nil || !strings.Contains(err.Error(), fails) {
			t.Errorf("%s: error %v, want %s", raw, err, fails)
		}
	}
}

// TestFetchGopherContext proves that the context bounds the reading, too.
func TestFetchGopherContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Fetcher{Dial: robotstest.Scripted(t, "> a\n< something\n...", nil)}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		body, err := f.Fetch(ctx, mustParse(t, "gopher://h/0a"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = body.Close() }()
		data, err := io.ReadAll(body)
		if string(data) != "something\r\n" || err == nil || time.Since(start) != 3*time.Second {
			t.Errorf("%q, %v after %v", data, err, time.Since(start))
		}
	})
}

// web is an http.RoundTripper in memory: a status and a body for an URL.
type web map[string]string

func (w web) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, ok := w[req.URL.String()]
	if !ok {
		return nil, errors.New("no route to " + req.URL.Host)
	}
	resp := &http.Response{Request: req, Header: http.Header{}}
	var text string
	_, _ = fmt.Sscanf(answer, "%d", &resp.StatusCode)
	_, text, _ = strings.Cut(answer, " ")
	resp.Status = fmt.Sprint(resp.StatusCode)
	if resp.StatusCode/100 == 3 && text != "" {
		resp.Header.Set("Location", text)
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) {
	return f(req)
}

// TestRedirectHook: a redirect that the hook refuses is not followed, and denies.
func TestRedirectHook(t *testing.T) {
	refused := errors.New("not there")
	f := Fetcher{
		Transport: web{"http://h/robots.txt": "301 http://10.0.0.1/robots.txt",
			"http://10.0.0.1/robots.txt": "200 User-agent: *\nAllow: /"},
		Redirect: func(_ context.Context, from, to *url.URL) error {
			if from.Host == "h" && to.Host == "10.0.0.1" {
				return refused
			}
			return nil
		},
	}
	c := Client{Fetch: f.Fetch}
	if d, err := c.Allowed(t.Context(), "http://h/a"); d.Allowed || !errors.Is(err, refused) ||
		!errors.Is(err, ErrUnreachable) {
		t.Errorf("allowed %v, %v", d.Allowed, err)
	}
}

// TestDialPublic: no address that is not public is connected to, over any scheme
// and after a redirect.
func TestDialPublic(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	f := Fetcher{Dial: DialPublic}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]",
		"0.0.0.0", "10.0.0.1", "[fe80::1]", "[64:ff9b::a00:1]"} {
		for _, scheme := range []string{"http", "gopher"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := f.Fetch(ctx, mustParse(t, scheme+"://"+host+":"+port+"/0robots.txt"))
			cancel()
			if !errors.Is(err, ErrPrivate) && !errors.Is(err, syscall.EAFNOSUPPORT) { // where there is no IPv6
				t.Errorf("%s://%s: %v", scheme, host, err)
			}
		}
	}
}

// TestIsPublic: an address of each block of IANA's registries, and its neighbours.
func TestIsPublic(t *testing.T) {
	for want, list := range map[bool]string{
		true: `
			1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.0
			192.0.0.9 192.0.1.0 192.31.196.1 192.52.193.1 192.175.48.1 198.17.0.0 198.20.0.0
			::ffff:8.8.8.8 64:ff9b::8.8.8.8 100:0:0:2::1 2001:1::1 2001:3::1 2001:4:112::1
			2001:20::1 2001:30::1 2001:200::1 2002:808:808::1 2606:4700::1111 2620:4f:8000::1
			3fff:1000::`,
		false: `
			0.1.2.3 10.0.0.0 100.64.0.1 127.9.9.9 169.254.169.254 172.16.0.1 192.0.0.8
			192.0.0.170 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1
			203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::10.0.0.1
			::8.8.8.8 ::ffff:10.0.0.1 ::ffff:0:8.8.8.8 ::ffff:0:10.0.0.1 64:ff9b::10.0.0.1
			64:ff9b::127.0.0.1 64:ff9b:1::8.8.8.8 100::1 100:0:0:1::1 2001::1 2001:1::4
			2001:2::1 2001:10::1 2001:db8::1 2002:a00:1::1 2002:c0a8:101::1 3fff::1 5f00::1
			fc00::1 fd12::1 fe80::1%lo febf::1 fec0::1 ff02::1`,
	} {
		for ip := range strings.FieldsSeq(list) {
			if got := isPublic(netip.MustParseAddr(ip)); got != want {
				t.Errorf("%s: public %v", ip, got)
			}
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// addressed is a connection that claims to lead to an address.
type addressed struct {
	net.Conn
	to net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.to }

// TestRedirectIntoNetwork: a public host may not send a robot to an address of the
// network that the robot runs in, a host of that network may.
func TestRedirectIntoNetwork(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "inside" {
			_, _ = io.WriteString(w, "User-agent: *\nAllow: /\n")
			return
		}
		http.Redirect(w, r, "http://inside/secret", http.StatusFound)
	}))
	defer s.Close()
	addresses := map[string]string{"outside:80": "192.31.196.1:80", "inside:80": "10.0.0.7:80",
		"neighbour:80": "10.0.0.8:80"}
	f := Fetcher{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
		return addressed{conn, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addresses[address]))}, err
	}}
	c := Client{Fetch: f.Fetch}
	if d, err := c.Allowed(t.Context(), "http://outside/a"); d.Allowed ||
		!errors.Is(err, ErrPrivate) || !errors.Is(err, ErrUnreachable) {
		t.Errorf("from outside: %v, %v", d.Allowed, err)
	}
	if d, err := c.Allowed(t.Context(), "http://neighbour/a"); !d.Allowed || err != nil {
		t.Errorf("from inside: %v, %v", d.Allowed, err)
	}
}

// TestRedirects: five in a row are followed across hosts (R11), and the rules bind the first.
func TestRedirects(t *testing.T) {
	chain := web{
		"http://h6/robots.txt": "301 http://h/robots.txt",
		"http://h/robots.txt":  "301 https://h2/4", "https://h2/4": "302 /3",
		"https://h2/3": "303 http://h3/2", "http://h3/2": "307 /1",
		"http://h3/1": "308 http://h3/rules", "http://h3/rules": "200 User-agent: *\nDisallow: /a",
		"http://h3/robots.txt": "404", "http://end/robots.txt": "301 http://gone/",
	}
	c := Client{Fetcher: &Fetcher{Transport: chain}}
	for u, want := range map[string]bool{"http://h/a": false, "http://h/b": true,
		"http://h3/a": true, "http://h6/a": true, "http://end/b": false} {
		if a := mustGet(t, &c, u); a.Allowed(u) != want {
			t.Errorf("%s: %v, %v", u, a.Access, a.Err)
		}
	}
}
