package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/server"
)

// say is a handler that repeats the selector, and has no file called none.
type say struct{}

func (say) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	_, err := io.WriteString(w, "says "+r.Selector)
	return err
}

// start serves h as gopher.example, HTTP too, and returns the address.
func start(t *testing.T, h server.Handler) string {
	t.Helper()
	typ := func(r *server.Request) byte {
		if r.Selector == "/README" {
			return '0'
		}
		return 0
	}
	s := &server.Server{Host: "gopher.example", Port: 70, Handler: h, HTTP: (&Page{Handler: h, Type: typ}).Serve}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// exchange sends a request and returns all that comes back.
func exchange(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	_, _ = io.WriteString(c, request)
	got, _ := io.ReadAll(c)
	return string(got)
}

func TestAbuseHTTPRequests(t *testing.T) {
	addr := start(t, say{})
	const header = "Host: x\r\n/q\r\nContent-Length: 4\r\n\r\n/q\r\n"
	tests := map[string][]string{
		"GET / HTTP/1.1":                                  {"HTTP/1.1 200 OK", "<a href=\"gopher://gopher.example/\">", "Gopher_(protocol)"},
		"GET /q HTTP/1.0":                                 {"HTTP/1.1 200 OK", "<a href=\"gopher://gopher.example/1/q\">"},
		"GET http://other.example/a.txt HTTP/1.1":         {"HTTP/1.1 200 OK", "<a href=\"gopher://gopher.example/0/a.txt\">"},
		"GET //other.example/a/ HTTP/1.1":                 {"HTTP/1.1 200 OK", "gopher://gopher.example/1//other.example/a/"},
		`GET /"><script>alert(1)</script> HTTP/1.1`:       {"HTTP/1.1 200 OK", "gopher.example/1/%22%3E%3Cscript%3Ealert(1)%3C/script%3E"},
		"GET /a&b'c%0d%0aX:y HTTP/1.1":                    {"HTTP/1.1 400 Bad Request"},
		"GET /%zz HTTP/1.1":                               {"HTTP/1.1 400 Bad Request"},
		"POST /q HTTP/1.1":                                {"HTTP/1.1 405 Method Not Allowed", "\r\nAllow: GET, HEAD\r\n"},
		"OPTIONS * HTTP/1.1":                              {"HTTP/1.1 405 Method Not Allowed"},
		"PRI * HTTP/2.0":                                  {"HTTP/1.1 405 Method Not Allowed"},
		"GET /robots.txt HTTP/1.1":                        {"HTTP/1.1 200 OK", "\r\nContent-Type: text/plain; charset=utf-8\r\n", "\r\n\r\nsays /robots.txt"},
		"CONNECT other.example:443 HTTP/1.1":              {"HTTP/1.1 405 Method Not Allowed"},
		"GET /" + strings.Repeat("x", 4000) + " HTTP/1.1": {"HTTP/1.1 200 OK"},
	}
	for line, wants := range tests {
		got := exchange(t, dial(t, addr), line+"\r\n"+header)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%.60q: no %q in\n%s", line, want, got)
			}
		}
		checkHTTP(t, line, got)
	}
}

// checkHTTP says whether there is one whole reply, and nothing of a Gopher one.
func checkHTTP(t *testing.T, line, got string) {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil)
	if err != nil {
		t.Errorf("%.60q: %v in %q", line, err, got)
		return
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil || int64(len(body)) != r.ContentLength || !strings.HasSuffix(got, "\r\n\r\n"+string(body)) || !r.Close {
		t.Errorf("%.60q: %d of %d octets, %v, close %v", line, len(body), r.ContentLength, err, r.Close)
	}
	if strings.Contains(got, "says /q") || strings.Contains(got, "<script>") || len(got) > 16<<10 {
		t.Errorf("%.60q: %q", line, got)
	}
}

func TestHTTPHead(t *testing.T) {
	addr := start(t, server.NotFoundHandler())
	get := exchange(t, dial(t, addr), "GET /a HTTP/1.1\r\n\r\n")
	head := exchange(t, dial(t, addr), "HEAD /a HTTP/1.1\r\n\r\n")
	if !strings.HasSuffix(head, "\r\n\r\n") || !strings.Contains(head, "\r\nContent-Length: ") || len(head) >= len(get) {
		t.Errorf("HEAD: %q", head)
	}
}

// The handler knows what its files are; a robots.txt that is not there is not
// found, and one that cannot be had now is denied.
func TestHTTPOfHandler(t *testing.T) {
	for _, test := range []struct {
		err           error
		request, want string
	}{
		{nil, "GET /README", "gopher://gopher.example/0/README\""},
		{nil, "GET /none", "gopher://gopher.example/1/none\""},
		{server.ErrNotFound, "GET /robots.txt", "HTTP/1.1 404 Not Found\r\n"},
		{&server.Error{Kind: server.Busy}, "GET /robots.txt", "HTTP/1.1 503 Service Unavailable\r\n"},
		{errors.New("/srv/secret"), "GET /robots.txt", "HTTP/1.1 503 Service Unavailable\r\n"},
	} {
		addr := start(t, server.HandlerFunc(func(server.ResponseWriter, *server.Request) error { return test.err }))
		got := exchange(t, dial(t, addr), test.request+" HTTP/1.1\r\n\r\n")
		if !strings.Contains(got, test.want) || strings.Contains(got, "secret") {
			t.Errorf("%s: no %q in %q", test.request, test.want, got)
		}
	}
}
