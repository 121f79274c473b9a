// Package server is a Gopher server (RFC 1436): listeners, connections,
// deadlines and replies. It knows no files: a site is served by the Handler of
// package answer.
//
// Its Handler has the shape of net/http's, but returns an error, which the
// server turns into the answer a stranger may see and into a log line:
//
//	s := &server.Server{Handler: server.HandlerFunc(hello)}
//	err := s.ListenAndServe(ctx, ":7070")
//
// A request takes these steps:
//
//	accept → one request line, under a deadline → Handler → reply → close gently
//
// On Linux, an event loop has the connections of a TCP listener while they wait, and
// answers requests that a Quick handler has in memory where it reads them (loop_linux.go);
// every other connection gets a goroutine (serve.go). Admission, deadlines and refusals are
// the same for both.
//
// Do not use it for a protocol that keeps a connection open for several
// requests, or that is not Gopher: one line in, one reply out is built in.
package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/selector"
)

// A Server answers Gopher requests. The zero value with a Handler is ready to
// use. Its fields must not be changed once Serve was called.
type Server struct {
	// Handler answers. If nil, every request is answered with "Not found".
	Handler Handler

	// RequestTimeout is the time from accept to the end of the request line, however
	// slowly it arrives. If zero, 10 s.
	RequestTimeout time.Duration

	// StallTimeout ends a reply that made no progress for so long, whether the
	// client takes nothing or the handler gives nothing. Detection may take twice
	// as long after a write that was taken in part, or while the kernel waits for the
	// disk. If zero, 60 s.
	StallTimeout time.Duration

	// LingerTimeout is how long the server goes on reading, and throws away,
	// what a client sends after its reply, before it closes. If zero, 2 s.
	LingerTimeout time.Duration

	// DrainTimeout is how long Serve lets replies finish after its context
	// has ended. If zero, 10 s; if negative, none.
	DrainTimeout time.Duration

	// MaxConns is how many connections may stay open: those that wait for a request,
	// are replied to or linger. One that is answered where it was accepted is not
	// counted. When there are so many, a new connection replaces the oldest of the
	// address that has the most, silent ones first. If zero, as many as the limit of
	// open files allows with two each; if negative, any number.
	MaxConns int

	// MaxConnsPerIP is how many of them may be of one address, or of one /56
	// of IPv6. If zero, 32; if negative, any number.
	MaxConnsPerIP int

	// Rate is how many requests an address (a /56 of IPv6) may send in a
	// second, on average; Burst is how many at once. If Rate is zero, any
	// number; if Burst is zero, 20, or Rate if that is more.
	Rate  float64
	Burst int

	// TrustProxy lists the peers whose PROXY headers are believed. Limits per address
	// apply to their clients, not to them.
	TrustProxy []netip.Prefix

	// TLS configures clients that begin with a TLS handshake, on the same port. If
	// nil, their connections are closed at once. A client over a limit gets an alert.
	TLS *tls.Config

	// HTTP, if not nil, answers the clients that ask in HTTP: those whose first
	// line ends in its version (RFC 9112 section 3; RFC 9113 section 3.4 for the
	// first of HTTP/2). It gets the connection and the request, whose Selector is
	// that line. When it returns the connection is closed as after any reply; its
	// error is for the log alone. If nil, such a connection is closed at once.
	HTTP func(c *HTTPConn, r *Request) error

	// Host and Port are what menus name as this server. If zero, the address
	// and the port that the client has reached.
	Host string
	Port int

	// Log gets a line for each request (Info) and for what goes wrong
	// (Warn, Error). If nil, nothing is logged.
	Log *slog.Logger

	// ShowIP returns a client's address as it is logged. If nil, it is logged in full.
	ShowIP func(netip.Addr) string

	// Observer gets each request. If nil, there is none.
	Observer Observer

	limitsOnce sync.Once
	limits     limits
	accepted   atomic.Int64
	loops      int // that share a listener; if zero, as many as processors
}

// A Protocol is a way other than Gopher to send one request on a connection and get
// one reply. Its connections share limits, deadlines, log and observer with all others
// of the Server that serves it, and may come by way of a trusted proxy.
type Protocol struct {
	// Name is for the log: "gemini".
	Name string

	// TLS: connections begin with a TLS handshake, after Server.TLS, or are closed.
	TLS bool

	// ClientCert: clients are asked for a certificate, and need not have one.
	ClientCert bool

	// Length returns how many bytes of head are the request, or 0 if more of it must
	// come. It is called again when more has come, with at most 4,096 bytes; a longer
	// request fails with an Error of the kind BadRequest. What follows the request is
	// read and thrown away.
	Length func(head []byte) int

	// Robots reports whether a request is for robots.txt, which is answered before all
	// limits, and never with an error but "not found". If nil, none is.
	Robots func(raw string) bool

	// Error returns the reply to a request that failed. It must not show more of the
	// error than ErrorMessage does.
	Error func(err error) []byte

	// Handler answers. The request's Raw is as long as Length says; the Handler sets
	// its Selector and Query, which the log shows.
	Handler Handler
}

// Defaults of the Server's fields.
const (
	DefaultRequestTimeout = 10 * time.Second
	DefaultStallTimeout   = 60 * time.Second
	defaultLingerTimeout  = 2 * time.Second
	DefaultDrainTimeout   = 10 * time.Second
)

func or[T time.Duration | int](d, def T) T {
	if d == 0 {
		return def
	}
	return d
}

func (s *Server) requestTimeout() time.Duration { return or(s.RequestTimeout, DefaultRequestTimeout) }
func (s *Server) stallTimeout() time.Duration   { return or(s.StallTimeout, DefaultStallTimeout) }
func (s *Server) lingerTimeout() time.Duration  { return or(s.LingerTimeout, defaultLingerTimeout) }
func (s *Server) drainTimeout() time.Duration   { return or(s.DrainTimeout, DefaultDrainTimeout) }

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

func (s *Server) handler() Handler {
	if s.Handler == nil {
		return notFoundHandler()
	}
	return s.Handler
}

// Listen listens on a TCP address (":70" if empty). The sockets send no
// keep-alive, since a connection lasts for one reply, and are not of Multipath
// TCP, whose listeners cannot be drained at the end.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		addr = fmt.Sprintf(":%d", selector.DefaultPort)
	}
	lc := net.ListenConfig{KeepAlive: -1}
	lc.SetMultipathTCP(false)
	return lc.Listen(ctx, "tcp", addr)
}

// ListenAndServe listens on a TCP address, as [Listen] does, and serves it until
// ctx ends.
func (s *Server) ListenAndServe(ctx context.Context, addr string) error {
	l, err := Listen(ctx, addr)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l)
}

// A SharedListener has a socket that another process holds, too, such as systemd. When
// Serve ends, it leaves the connections in the queue to the next server.
type SharedListener struct{ net.Listener }

// Serve answers the connections of l until ctx ends. Then it accepts those in the
// kernel's queue (on Linux, unless l is a [SharedListener]; every one if l was made by
// [Listen]) and closes l. Clients get another second to send their requests, and
// replies DrainTimeout to finish; then Serve closes their connections. It returns nil
// when all handlers have returned, or a second after it closed the rest. It returns an
// error only if l fails for another reason.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return s.serveAs(ctx, l, nil) }

// ServeProtocol is Serve for connections of another protocol. Several calls may run at
// once, with Serve among them.
func (s *Server) ServeProtocol(ctx context.Context, l net.Listener, p *Protocol) error {
	return s.serveAs(ctx, l, p)
}

func (s *Server) serveAs(ctx context.Context, l net.Listener, p *Protocol) error {
	hard, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	run := s.newRun(ctx, hard)
	run.proto = p
	if p != nil && p.ClientCert && s.TLS != nil {
		run.asking = s.TLS.Clone()
		run.asking.ClientAuth = tls.RequestClientCert
	}
	tcp, err := run.serveTCP(l)
	if !tcp {
		err = run.acceptAll(l)
	}
	_ = l.Close()
	run.drain(abort)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// ServeConn answers the one request of a connection that another program has accepted,
// such as inetd. It returns when the connection is closed, even if the handler has not
// returned. When ctx ends, it cuts the connection off.
func (s *Server) ServeConn(ctx context.Context, c net.Conn) {
	run := s.newRun(ctx, ctx)
	run.begin(s.newConn(c))
	done := make(chan struct{})
	go func() { run.conns.Wait(); close(done) }()
	select {
	case <-done:
	case <-run.stuck:
	}
}

// run is one call of Serve.
type run struct {
	*Server
	proto      *Protocol       // nil: Gopher, and HTTP
	asking     *tls.Config     // nil: TLS asks no client for a certificate
	soft, hard context.Context // soft ends: no new requests. hard ends: no more replies
	logger     *slog.Logger
	conns      sync.WaitGroup
	local      netip.AddrPort // of all connections; zero if they differ
	host       string         // what menus name then
	port       int
	shed       func(n int) int // closes up to n connections that were answered; nil: there are none

	stuck  chan struct{} // closed when a handler was given up
	gaveUp sync.Once
}

func (s *Server) newRun(soft, hard context.Context) *run {
	return &run{Server: s, soft: soft, hard: hard, logger: s.log(), stuck: make(chan struct{})}
}

func (r *run) handler() Handler {
	if r.proto != nil {
		return r.proto.Handler
	}
	return r.Server.handler()
}

// errorBody is the reply to a request that failed.
func (r *run) errorBody(err error) []byte {
	if r.proto != nil {
		return r.proto.Error(err)
	}
	return ErrorBody(err)
}

// lastCall is how long a connection may stay without a request when no more are
// accepted.
func (s *Server) lastCall() time.Duration { return min(time.Second, max(s.drainTimeout(), 0)) }

// drain waits until all connections have ended, at most DrainTimeout.
func (r *run) drain(abort func()) {
	done := make(chan struct{})
	go func() { r.conns.Wait(); close(done) }()
	select {
	case <-done:
		return
	case <-time.After(max(r.drainTimeout(), 0)):
	}
	abort()
	select {
	case <-done:
	case <-time.After(lastWait):
		r.logger.Error("stopped with requests open", "connections", r.Counts().Writing)
	}
}

// lastWait is how long handlers get to return when their connections are
// closed. One that waits for a file system may never.
const lastWait = time.Second
