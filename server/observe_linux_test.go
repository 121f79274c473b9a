package server

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// witness is an Observer that sends on a channel.
type witness chan Served

func (s witness) Observe(r Served) { s <- r }

// TestObserver: each request is observed once, whether it is answered from memory, by a
// goroutine or with an error.
func TestObserver(t *testing.T) {
	told := make(witness, 10)
	addr := startTCP(t, &Server{Handler: atHand("quick"), Observer: told,
		HTTP: func(c *HTTPConn, r *Request) error {
			if strings.HasPrefix(r.Selector, "GET /none") {
				_, err := io.WriteString(c, "404")
				return errors.Join(err, ErrNotFound)
			}
			if strings.HasPrefix(r.Selector, "GET /told") {
				c.Served(r, Served{Bytes: 4, Took: time.Second})
			}
			return sayHTTP(c, r)
		}})
	for _, tt := range []struct {
		request, selector string
		bytes             int64
		kind              Kind
	}{
		{"/q\r\n", "/q", 5, OK},
		{"/s\r\n", "/s", 7, OK},
		{"/a\x00b\r\n", "", int64(len(badRequest)), BadRequest},
		{"HEAD / HTTP/1.1\r\n\r\n", "HEAD / HTTP/1.1", 36, OK},
		{"GET /told HTTP/1.1\r\n\r\n", "GET /told HTTP/1.1", 4, OK},
		{"GET /none HTTP/1.1\r\n\r\n", "GET /none HTTP/1.1", 3, NotFound},
	} {
		_ = ask(t, dialTCP(t, addr), tt.request)
		if got := <-told; got.Selector != tt.selector || got.Bytes != tt.bytes ||
			got.Kind() != tt.kind || !got.Remote.Addr().IsLoopback() || got.Took <= 0 {
			t.Errorf("%q: %+v", tt.request, got)
		}
	}
	if len(told) > 0 {
		t.Errorf("%d more are told", len(told))
	}
}
