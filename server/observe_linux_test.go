package server

import (
	"io"
	"testing"
	"time"
)

// witness is an Observer that hands on what it is told.
type witness chan Served

func (s witness) Observe(r Served) { s <- r }

// TestObserver: each request is told once, from memory or not, and so is a
// refused one.
func TestObserver(t *testing.T) {
	told := make(witness, 10)
	addr := startTCP(t, &Server{Handler: withoutRobots{&atHand{body: []byte("quick")}}, Observer: told})
	for _, tt := range []struct {
		request, selector string
		bytes             int64 // -1: any
		outcome           Outcome
	}{
		{"/q\r\n", "/q", 5, OK},
		{"/s\r\n", "/s", 7, OK},
		{"/a\x00b\r\n", "", int64(len(ErrorBody(ErrBadRequest))), BadRequest},
		{"HEAD / HTTP/1.1\r\n\r\n", "HEAD / HTTP/1.1", -1, OK},
		{"GET /%zz HTTP/1.1\r\n\r\n", "GET /%zz HTTP/1.1", -1, BadRequest},
		{"POST /s HTTP/1.1\r\n\r\n", "POST /s HTTP/1.1", -1, BadRequest},
		{"GET /robots.txt HTTP/1.1\r\n\r\n", "GET /robots.txt HTTP/1.1", -1, NotFound},
	} {
		c := dialTCP(t, addr)
		_, _ = io.WriteString(c, tt.request)
		if _, err := io.ReadAll(c); err != nil {
			t.Error(err)
		}
		_ = c.Close()
		select {
		case got := <-told:
			if got.Selector != tt.selector || tt.bytes >= 0 && got.Bytes != tt.bytes || got.Outcome() != tt.outcome || !got.Remote.Addr().IsLoopback() || got.Took <= 0 {
				t.Errorf("%q: %+v", tt.request, got)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%q is not told", tt.request)
		}
	}
	if len(told) > 0 {
		t.Errorf("%d more are told", len(told))
	}
}

// withoutRobots is a Handler that has no robots.txt.
type withoutRobots struct{ *atHand }

func (h withoutRobots) ServeGopher(w ResponseWriter, r *Request) error {
	if r.Selector == "/robots.txt" {
		return ErrNotFound
	}
	return h.atHand.ServeGopher(w, r)
}
