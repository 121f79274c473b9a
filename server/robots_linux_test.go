package server

import (
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/selector"
)

// rules has robots.txt in memory, unless it is nil. Every other request fails with err.
type rules struct {
	file []byte
	err  error
}

func (h rules) Quick(r *Request) (Answer, bool) {
	r.Selector = strings.TrimSuffix(r.Selector+r.Raw, " 0\n")
	return Answer{Body: h.file}, h.file != nil && selector.IsRobots(r.Selector)
}

func (h rules) ServeGopher(w ResponseWriter, r *Request) error {
	if a, ok := h.Quick(r); ok {
		_, err := w.Write(a.Body)
		return err
	}
	return h.err
}

var robotsSelectors = []string{"robots.txt", "/robots.txt", "0/robots.txt", "/0/robots.txt"}

const tooManyReply = "3Too many requests\t\terror.host\t1\r\n.\r\n"

// Requests for robots.txt are exempt from the rate limit and not counted.
func TestRobotsIsBeforeTheRate(t *testing.T) {
	addr := startTCP(t, &Server{Handler: rules{[]byte("Disallow: /\n"), ErrNotFound}, HTTP: sayHTTP,
		Rate: 0.001, Burst: 1})
	for round := range 3 {
		for _, sel := range robotsSelectors {
			if got := exchange(t, dialTCP(t, addr), sel+"\tquery\r\n"); got != "Disallow: /\n" {
				t.Errorf("round %d: %s: %q", round, sel, got)
			}
		}
		if got, want := exchange(t, dialTCP(t, addr), "/x\r\n"),
			tooManyReply; (got == want) != (round > 0) {
			t.Errorf("round %d: another request: %q", round, got)
		}
		for target, limited := range map[string]bool{"/robots.txt": false, "/%72obots.txt?x": false,
			"http://h/0/robots.txt": false, "/": true, "/x/robots.txt": true} {
			got := exchange(t, dialTCP(t, addr), "GET "+target+" HTTP/1.1\r\n\r\n")
			if strings.HasPrefix(got, "HTTP/1.1 429 ") != limited {
				t.Errorf("round %d: GET %s: %q", round, target, got)
			}
		}
	}
}

// A request for robots.txt that fails is closed without a byte, unless there is no such
// file.
func TestRobotsIsNeverAnError(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&Error{Kind: Busy}, ""},
		{&Error{Kind: TooMany}, ""},
		{errors.New("a fault"), ""},
		{ErrNotFound, string(ErrorBody(ErrNotFound))},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, stop := start(t, &Server{Handler: rules{nil, test.err}})
			for _, sel := range robotsSelectors {
				if got := ask(t, p.dial(), sel+"\r\n"); got != test.want {
					t.Errorf("%v: %s: %q", test.err, sel, got)
				}
			}
			if got := ask(t, p.dial(), "/x\r\n"); got != string(ErrorBody(test.err)) {
				t.Errorf("%v: another request: %q", test.err, got)
			}
			stop()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p, stop := start(t, &Server{Handler: HandlerFunc(func(_ ResponseWriter, r *Request) error {
			<-r.Context().Done()
			return nil
		})})
		if got := ask(t, p.dial(), "robots.txt\r\n"); got != "" {
			t.Errorf("a handler that hangs: %q", got)
		}
		stop()
	})
}

// A refused client gets robots.txt if it has requested that, an error for another request, an
// alert if it begins with TLS, and nothing before that is known.
func TestLastWord(t *testing.T) {
	conf, _ := tlsConfigs(t)
	file := []byte("Disallow: /\n")
	line := &Protocol{Length: spartanLike, Error: func(error) []byte { return []byte("! busy") },
		Robots: func(raw string) bool {
			return raw == "/robots.txt 0\n"
		}, Handler: rules{file, nil}}
	const overHTTP = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 12\r\nConnection: close\r\n\r\n"
	encrypted := &Protocol{Length: spartanLike, TLS: true, Error: line.Error}
	for _, test := range []struct {
		proto *Protocol
		tls   *tls.Config
		file  []byte
		head  string
		want  string
	}{
		{nil, nil, file, "", ""},
		{nil, nil, file, "/x", ""},
		{nil, nil, file, "robots.tx", ""},
		{nil, nil, file, "/x\r\n", busyReply},
		{nil, nil, file, "robots.txt\r\n", string(file)},
		{nil, nil, file, "/0/robots.txt\n", string(file)},
		{nil, nil, nil, "/0/robots.txt\n", ""}, // which is not in memory
		{nil, nil, file, "PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n/x\r\n", ""},
		{nil, nil, file, "GET / HTTP/1.1\r\n", string(httpError(errBusy))},
		{nil, nil, file, "GET /robots.txt HTTP/1.1\r\n", ""}, // which host's is not known yet
		{nil, nil, file, "GET /robots.txt HTTP/1.1\r\nHost: a.example\r\n\r\n",
			overHTTP + "Disallow: /\n"},
		{nil, nil, file, "HEAD /%72obots.txt HTTP/1.0\r\n\r\n", overHTTP},
		{nil, nil, nil, "GET /robots.txt HTTP/1.1\r\nHost: a.example\r\n\r\n", ""},
		{nil, conf, file, "", ""},
		{nil, conf, file, "\x16\x03", string(tlsAlert)},
		{nil, nil, file, "\x16\x03", ""},
		{encrypted, conf, nil, "", string(tlsAlert)},
		{encrypted, conf, nil, "\x16\x03\x01", string(tlsAlert)},
		{line, nil, nil, "", ""},
		{line, nil, nil, "/x 0", ""},
		{line, nil, nil, "/x 0\n", "! busy"},
		{line, nil, nil, "/robots.txt 0\n", string(file)},
	} {
		s := &Server{TLS: test.tls, Handler: rules{file: test.file}}
		r := s.newRun(t.Context(), t.Context())
		r.proto = test.proto
		if got := r.lastWord(&conn{head: []byte(test.head)}, tooMany); string(got) != test.want {
			t.Errorf("%q of %+v: %q, want %q", test.head, test.proto, got, test.want)
		}
	}
}

// A TLS client over the rate reads so in its session, as often as it may send requests, also if
// it sends none; robots.txt is answered there. After that it gets an alert, never a reply
// without TLS.
func TestRateOverTLS(t *testing.T) {
	server, client := tlsConfigs(t)
	s := &Server{TLS: server, Handler: rules{[]byte("Disallow: /\n"), ErrNotFound}, HTTP: allowed,
		Rate: 0.001, Burst: 4}
	addr := startTCP(t, s)
	for i, test := range []struct{ request, want string }{
		{"/x\r\n", string(ErrorBody(ErrNotFound))},
		{"robots.txt\r\n", "Disallow: /\n"},
		{"GET / HTTP/1.1\r\n\r\n", "allowed: true"},
		{"/x\r\n", string(ErrorBody(ErrNotFound))},
		{"GET / HTTP/1.1\r\n\r\n", "allowed: false"},
		{"/x\r\n", tooManyReply},
		{"", ""},
		{"robots.txt\r\n", "Disallow: /\n"},
		{"/x\r\n", "alert"},
		{"robots.txt\r\n", "alert"},
	} {
		c := tls.Client(dialTCP(t, addr), client)
		_, _ = io.WriteString(c, test.request)
		if test.request == "" {
			_ = c.Handshake()
			_ = c.CloseWrite()
		}
		reply, err := io.ReadAll(c)
		got := string(reply)
		var alert tls.AlertError
		if errors.As(err, &alert) ||
			err != nil && strings.HasSuffix(err.Error(), "tls: internal error") {
			got += "alert"
		}
		if got != test.want {
			t.Errorf("request %d, %q: %q, %v; want %q", i, test.request, got, err, test.want)
		}
		_ = c.Close()
	}
	if n := s.Counts().Refused[tooFast.Error()]; n != 6 {
		t.Errorf("%d are counted as too many", n)
	}
}

// allowed answers whether the rate limit allows the request.
func allowed(c *HTTPConn, r *Request) error {
	word := "allowed: false"
	if c.Allow(r) {
		word = "allowed: true"
	}
	_ = c.SetReadDeadline(time.Time{})
	_, err := io.WriteString(c, word)
	return err
}
