package server

import (
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gophd/gophd/selector"
)

// rules returns a handler that has robots.txt in memory, unless it is empty. Every other request
// fails with err.
func rules(file string, err error) answers {
	quick := func(r *Request) (Answer, bool) {
		r.Selector = strings.TrimSuffix(r.Selector+r.Raw, " 0\n")
		return Answer{Body: []byte(file)}, file != "" && selector.IsRobots(r.Selector)
	}
	return answers{quick, func(w ResponseWriter, r *Request) error {
		a, ok := quick(r)
		if !ok {
			return err
		}
		_, err := w.Write(a.Body)
		return err
	}}
}

var robotsSelectors = []string{"robots.txt", "/robots.txt", "0/robots.txt", "/0/robots.txt"}

// Requests for robots.txt are exempt from the rate limit and not counted.
func TestRobotsIsBeforeTheRate(t *testing.T) {
	addr := startTCP(t, &Server{Handler: rules("Disallow: /\n", ErrNotFound), HTTP: sayHTTP,
		Rate: 0.001, Burst: 1})
	for round := range 3 {
		for _, sel := range robotsSelectors {
			if got := ask(t, dialTCP(t, addr), sel+"\tquery\r\n"); got != "Disallow: /\n" {
				t.Errorf("round %d: %s: %q", round, sel, got)
			}
		}
		if got, want := ask(t, dialTCP(t, addr), "/x\r\n"),
			tooManyReply; (got == want) != (round > 0) {
			t.Errorf("round %d: another request: %q", round, got)
		}
		for target, limited := range map[string]bool{"/robots.txt": false, "/%72obots.txt?x": false,
			"http://h/0/robots.txt": false, "/": true, "/x/robots.txt": true} {
			got := ask(t, dialTCP(t, addr), "GET "+target+" HTTP/1.1\r\n\r\n")
			if strings.HasPrefix(got, "HTTP/1.1 429 ") != limited {
				t.Errorf("round %d: GET %s: %q", round, target, got)
			}
		}
	}
}

// A request for robots.txt that fails is closed without a byte, unless there is no such
// file.
func TestRobotsIsNeverAnError(t *testing.T) {
	for _, err := range []error{&Error{Kind: Busy}, &Error{Kind: TooMany}, errors.New("a fault"),
		ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			p, stop := start(t, &Server{Handler: rules("", err)})
			body, want := string(ErrorBody(err)), ""
			if errors.Is(err, ErrNotFound) {
				want = body
			}
			for _, sel := range robotsSelectors {
				if got := ask(t, p.dial(), sel+"\r\n"); got != want {
					t.Errorf("%v: %s: %q", err, sel, got)
				}
			}
			if got := ask(t, p.dial(), "/x\r\n"); got != body {
				t.Errorf("%v: another request: %q", err, got)
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
	conf, _ := tlsConfigs()
	line := &Protocol{Length: spartanLike, Error: func(error) []byte { return []byte("! busy") },
		Robots:  func(raw string) bool { return raw == "/robots.txt 0\n" },
		Handler: rules("Disallow: /\n", nil)}
	encrypted := &Protocol{Length: spartanLike, TLS: true, Error: line.Error}
	const overHTTP = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 12\r\nConnection: close\r\n\r\n"
	for _, test := range []struct {
		proto *Protocol
		tls   *tls.Config
		file  string
		words map[string]string // by what has arrived
	}{
		{nil, nil, "Disallow: /\n", map[string]string{
			"": "", "/x": "", "robots.tx": "", "\x16\x03": "",
			"/x\r\n":          busyReply,
			"robots.txt\r\n":  "Disallow: /\n",
			"/0/robots.txt\n": "Disallow: /\n",
			"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n/x\r\n": "",
			"GET / HTTP/1.1\r\n":                                  string(httpError(errBusy)),
			"GET /robots.txt HTTP/1.1\r\n":                        "", // which host's is not known yet
			"GET /robots.txt HTTP/1.1\r\nHost: a.example\r\n\r\n": overHTTP + "Disallow: /\n",
			"HEAD /%72obots.txt HTTP/1.0\r\n\r\n":                 overHTTP,
		}},
		{nil, nil, "", map[string]string{ // which is not in memory
			"/0/robots.txt\n": "", "GET /robots.txt HTTP/1.1\r\nHost: a.example\r\n\r\n": "",
		}},
		{nil, conf, "", map[string]string{"": "", "\x16\x03": string(tlsAlert)}},
		{encrypted, conf, "", map[string]string{"": string(tlsAlert),
			"\x16\x03\x01": string(tlsAlert)}},
		{line, nil, "", map[string]string{"": "", "/x 0": "", "/x 0\n": "! busy",
			"/robots.txt 0\n": "Disallow: /\n"}},
	} {
		for head, want := range test.words {
			s := &Server{TLS: test.tls, Handler: rules(test.file, nil)}
			r := s.newRun(t.Context(), t.Context(), test.proto)
			if got := r.lastWord(&conn{head: []byte(head)}, tooMany); string(got) != want {
				t.Errorf("%q of %+v: %q, want %q", head, test.proto, got, want)
			}
		}
	}
}

// A TLS client over the rate reads so in its session, as often as it may send requests, also if
// it sends none; robots.txt is answered there. After that it gets an alert, never a reply
// without TLS.
func TestRateOverTLS(t *testing.T) {
	server, client := tlsConfigs()
	s := &Server{TLS: server, Handler: rules("Disallow: /\n", ErrNotFound), HTTP: allowed(1),
		Rate: 0.001, Burst: 4}
	addr := startTCP(t, s)
	for i, test := range []struct{ request, want string }{
		{"/x\r\n", string(ErrorBody(ErrNotFound))},
		{"robots.txt\r\n", "Disallow: /\n"},
		{"GET / HTTP/1.1\r\n\r\n", "true "},
		{"/x\r\n", string(ErrorBody(ErrNotFound))},
		{"GET / HTTP/1.1\r\n\r\n", "false "},
		{"/x\r\n", tooManyReply},
		{"", ""},
		{"robots.txt\r\n", "Disallow: /\n"},
		{"/x\r\n", "alert"},
		{"robots.txt\r\n", "alert"},
	} {
		c := tls.Client(dialTCP(t, addr), client)
		send(c, test.request)
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
