// Package web serves browsers on the port of a Gopher server: the site as pages, or one page
// that links the gopher URL.
//
//	first line is HTTP's → the connection → net/http's server → limits → Pages
//
// net/http serves the accepted connection, and so implements ranges, conditional requests,
// keep-alive and HTTP/2. Files of a site are never sent as markup: texts are escaped, and
// everything else has a type that browsers do not execute.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// Limits of a connection.
const (
	headTime    = 10 * time.Second // for the head of each request
	headBytes   = 8 << 10          // of it
	idleTime    = 15 * time.Second // between requests
	maxRequests = 100              // on one connection
)

// An HTTPServer answers connections in HTTP.
type HTTPServer struct {
	// Site returns the handler for a host, and the connection's first request as that
	// site sees it; nil if this server has no such host, or TLS has named another site. The
	// host has no port; it is "" if the request names none.
	Site func(r *server.Request, host string) (http.Handler, *server.Request)

	// Log gets the errors of net/http, at debug level. If nil, they are discarded.
	Log *slog.Logger
}

// Serve answers the requests of a connection until it ends. It is for the field
// HTTP of a server.Server.
func (s *HTTPServer) Serve(c *server.HTTPConn, r *server.Request) error {
	conn := &webConn{
		HTTPConn: c,
		req:      r,
		start:    time.Now(),
		http2:    strings.HasPrefix(r.Selector, "PRI "),
		ended:    make(chan struct{}),
	}
	logger := cmp.Or(s.Log, slog.New(slog.DiscardHandler))
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	// TLS has already been removed and ALPN has chosen h2, so net/http sees
	// unencrypted HTTP/2.
	protocols.SetUnencryptedHTTP2(conn.http2 && r.TLS)
	h := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.limited(conn, w, r)
		}),
		Protocols:         &protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: server.MaxStreams},
		ReadHeaderTimeout: headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headBytes - 4096, // net/http adds so many
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		ConnState:         conn.setState,
	}

	// When the server drains, finish replies and close connections that wait for a request.
	stop := context.AfterFunc(c.Draining(), func() {
		late := time.AfterFunc(c.LastCall(), conn.closeNew)
		defer late.Stop()
		_ = h.Shutdown(r.Context())
	})
	defer stop()
	_ = h.Serve(&oneConn{conn: conn}) // returns at once; the connection goes on
	<-conn.ended
	return conn.refused()
}

// oneConn is a listener for one connection that was accepted elsewhere.
type oneConn struct{ conn net.Conn }

// Accept returns the connection, and then io.EOF.
func (l *oneConn) Accept() (c net.Conn, err error) {
	if c, l.conn = l.conn, nil; c == nil {
		return nil, io.EOF
	}
	return c, nil
}

// Close does nothing.
func (l *oneConn) Close() error { return nil }

// Addr returns an empty address.
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// webConn is a connection with its first request, whose first line the server has read.
type webConn struct {
	*server.HTTPConn
	req   *server.Request
	start time.Time
	http2 bool
	n     atomic.Int64  // requests
	ended chan struct{} // closed when net/http has left the connection

	mu      sync.Mutex
	state   http.ConnState
	handled bool           // a handler answers
	refusal *server.Served // net/http's own answer to a request that it cannot read
}

func (c *webConn) setState(_ net.Conn, state http.ConnState) {
	c.mu.Lock()
	c.state, c.handled = state, false
	c.mu.Unlock()
	switch state {
	case http.StateIdle:
		c.Idle(true)
	case http.StateActive:
		c.Idle(false)
	case http.StateClosed:
		close(c.ended)
	}
}

// closeNew closes a connection whose first request has not arrived whole.
func (c *webConn) closeNew() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == http.StateNew {
		_ = c.Close()
	}
}

// Close makes reads fail. The server closes the connection gently when Serve returns.
func (c *webConn) Close() error {
	return c.SetReadDeadline(time.Now().Add(-time.Second))
}

// Write sends p, and records the status of an answer that no handler has made.
func (c *webConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	status := 0
	_, _ = fmt.Sscanf(string(p[:min(len(p), 16)]), "HTTP/1.1 %d", &status)
	if status >= 400 && !c.handled && !c.http2 {
		c.refusal = &server.Served{
			Status: status,
			Bytes:  int64(len(p)),
			Err:    errMalformed,
		}
	}
	c.mu.Unlock()
	return c.HTTPConn.Write(p)
}

// errMalformed is a request that net/http answers itself.
var errMalformed = error(&server.Error{
	Kind: server.BadRequest,
	Err:  errors.New("net/http cannot read the request"),
})

// refused logs a request that net/http has answered itself, and returns its error.
func (c *webConn) refused() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refusal == nil {
		return nil
	}
	if c.n.Load() > 0 {
		c.refusal.Selector = "-" // a later request, whose line is not known
	}
	c.refusal.Took = time.Since(c.start)
	c.Served(c.req, *c.refusal)
	return c.refusal.Err
}

// ReadFrom sends all of r. If r is an [io.LimitedReader] of an *os.File, or of a reader
// with a method OSFile() *os.File, it sends the file with sendfile(2).
func (c *webConn) ReadFrom(r io.Reader) (int64, error) {
	var file *os.File
	part, _ := r.(*io.LimitedReader)
	if part != nil {
		switch f := part.R.(type) {
		case *os.File:
			file = f
		case interface{ OSFile() *os.File }:
			file = f.OSFile()
		}
	}
	if file == nil {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	sent, err := c.SendFile(file, part.N)
	if part.N -= sent; errors.Is(err, server.ErrShort) {
		err = nil // net/http compares the length
	}
	return sent, err
}

type siteKey struct{}

// opening returns the connection's first request as the site sees it.
func opening(r *http.Request) *server.Request {
	return r.Context().Value(siteKey{}).(*server.Request)
}

// limited applies the limits to a request, and logs it.
func (s *HTTPServer) limited(c *webConn, w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	c.mu.Lock()
	c.handled = true
	c.mu.Unlock()
	rec := &recorder{ResponseWriter: w}
	robots := selector.IsRobots(r.URL.Path)
	n := c.n.Add(1)
	if n >= maxRequests {
		w.Header().Set("Connection", "close")
	}
	maps.Copy(w.Header(), always)
	handler, site := s.Site(c.req, hostOf(r.Host))
	r = r.WithContext(context.WithValue(r.Context(), siteKey{}, site))
	switch {
	case !robots && !c.Allow(c.req):
		failed(rec, &server.Error{Kind: server.TooMany}, page{})
	case handler == nil:
		fault(rec, http.StatusMisdirectedRequest,
			page{Title: "No host of this connection has that name"}, nil)
	case r.ContentLength != 0:
		w.Header().Set("Connection", "close")
		fault(rec, http.StatusRequestEntityTooLarge,
			page{Title: "No request here has a body"}, nil)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		fault(rec, http.StatusMethodNotAllowed,
			page{Title: "Only GET and HEAD are answered"}, nil)
	default:
		err := c.Protect(&server.Request{
			RequestLine: selector.RequestLine{Selector: r.URL.Path},
			Remote:      c.req.Remote,
		}, func() { handler.ServeHTTP(rec, r) })
		err = cmp.Or(err, rec.broke)
		if err != nil && rec.status == 0 && !robots {
			failed(rec, err, page{})
		} else if err != nil {
			rec.status, rec.err = statusOf(err), err
			defer panic(http.ErrAbortHandler) // so that the client notices
		}
	}
	if n == 1 {
		start = c.start
	}
	err, status := rec.failure(wanted(r)), rec.status
	if server.KindOf(err) == server.Gone {
		status = 0 // it was not delivered
	}
	c.Served(c.req, server.Served{
		Host:     cmp.Or(site.Site, site.Host),
		Selector: r.Method + " " + r.RequestURI + " " + r.Proto,
		Status:   status,
		Agent:    r.UserAgent(),
		Referer:  r.Referer(),
		Bytes:    rec.bytes,
		Took:     time.Since(start),
		Err:      err,
	})
}

// wanted returns the context that ends when the answer is no longer wanted. In
// HTTP/1 net/http's own ends, too, when a client has only finished sending.
func wanted(r *http.Request) context.Context {
	if r.ProtoMajor > 1 {
		return r.Context()
	}
	return opening(r).Context()
}

// hostOf returns a host without its port and without the dot at the end of a fully qualified
// name, which TLS omits (RFC 6066, section 3).
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = host
	}
	return strings.TrimSuffix(hostport, ".")
}

// portOf returns the port that the client names, 0 if it names no host.
func portOf(r *http.Request) int {
	u := url.URL{Scheme: "http", Host: r.Host}
	if opening(r).TLS {
		u.Scheme = "https"
	}
	port, _ := strconv.ParseUint(u.Port(), 10, 16)
	if port == 0 && r.Host != "" {
		return selector.PortOf(u.Scheme)
	}
	return int(port)
}

// always are the headers of every reply: browsers must not guess its type, run scripts in it,
// load anything from elsewhere, or show it in a frame.
var always = http.Header{
	"X-Content-Type-Options":  {"nosniff"},
	"Referrer-Policy":         {"same-origin"},
	"Content-Security-Policy": {rawCSP},
	"Cache-Control":           {"no-cache"},
}

// recorder records the outcome of a request.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	err    error // why it failed, if it is known
	broke  error // why the rest of the body cannot be made
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets files be sent with sendfile(2).
func (w *recorder) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(w.ResponseWriter, r)
	w.bytes += n
	return n, err
}

// failure returns the error for the log: why the request failed, or Gone if no client waits for
// the answer any more.
func (w *recorder) failure(ctx context.Context) error {
	if w.status < 400 {
		return nil
	}
	err := cmp.Or(w.err, error(&server.Error{
		Kind: server.BadRequest,
		Err:  errors.New(http.StatusText(w.status)),
	}))
	if ctx.Err() != nil {
		err = &server.Error{Kind: server.Gone, Err: err}
	}
	return err
}
