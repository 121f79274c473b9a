// Package server is a Gopher server (RFC 1436). It accepts connections, reads one
// request line from each, calls a Handler and closes the connection after the reply.
// It enforces deadlines and limits per client. It does not read files: package answer
// has the Handler that serves a directory tree.
//
// A Handler is like net/http's, but returns an error. The server logs the error and
// sends the client a short public text (see [Error]):
//
//	hello := func(w server.ResponseWriter, r *server.Request) error {
//		return w.WriteItem(menu.Info("Hello, " + r.Query))
//	}
//	s := &server.Server{Handler: server.HandlerFunc(hello)}
//	err := s.ListenAndServe(ctx, ":7070")
//
// On Linux, an event loop holds the connections of a TCP listener while they wait for
// their request, and answers in place what a [Quick] handler has in memory. Any other
// connection gets a goroutine. Limits and deadlines are the same for both.
//
// Use [Server.ServeProtocol] for other protocols of one request and one reply, such as
// Gemini. The package is no framework for protocols with several requests in a
// connection; HTTP connections are handed to [Server.HTTP].
package server

import (
	"cmp"
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
// use. Its fields must not be changed after Serve is called.
type Server struct {
	// Handler answers requests. If nil, every reply is "Not found".
	Handler Handler

	// RequestTimeout limits the time from accept to the end of the request line. If
	// zero, 10 s.
	RequestTimeout time.Duration

	// StallTimeout ends a reply that makes no progress: the client reads nothing, or
	// the handler writes nothing. After a partial write, or while the kernel waits for
	// a disk, it may take twice as long. If zero, 60 s.
	StallTimeout time.Duration

	// LingerTimeout is how long the server reads and discards what a client sends
	// after its reply, before it closes the connection. If zero, 2 s.
	LingerTimeout time.Duration

	// DrainTimeout is how long replies may take to finish after the context of Serve
	// has ended. If zero, 10 s; if negative, they are cut off at once.
	DrainTimeout time.Duration

	// MaxConns limits the connections that wait for a request, are being replied to,
	// or linger after a reply. A connection that is answered from memory at once does
	// not count. At the limit, a new connection evicts one of an address that has more, idle
	// ones first; if its own address has as many as others, it evicts one of its own or is
	// refused. If zero, half the limit of open files, less a reserve; if negative, there is no
	// limit.
	MaxConns int

	// MaxConnsPerIP limits the connections of one address (a /56 of IPv6). If zero,
	// 32; if negative, there is no limit.
	MaxConnsPerIP int

	// Rate is the average number of requests per second that an address (a /56 of
	// IPv6) may send; if zero, there is no limit. Burst is how many it may send at
	// once; if zero, 20, or Rate if that is more.
	Rate  float64
	Burst int

	// TrustProxy lists the peers whose PROXY headers are believed. Limits per address
	// apply to the clients that the headers name, not to these peers.
	TrustProxy []netip.Prefix

	// TLS serves clients that begin with a TLS handshake, on the same port as others.
	// If nil, their connections are closed. A client over a limit gets an alert.
	TLS *tls.Config

	// HTTP serves connections whose first line is an HTTP request line (RFC 9112
	// section 3) or the preface of HTTP/2 (RFC 9113 section 3.4). r.Selector is that
	// line. When HTTP returns, the connection is closed; the error is only logged.
	// If nil, such connections are closed.
	HTTP func(c *HTTPConn, r *Request) error

	// Host and Port are the name and port of this server in menus. If zero, the
	// address and port that the client has connected to.
	Host string
	Port int

	// Log records each request (Info) and each fault (Warn, Error). If nil, nothing
	// is logged.
	Log *slog.Logger

	// ShowIP formats a client's address for the log. If nil, it is logged in full.
	ShowIP func(netip.Addr) string

	// Observer is called after each request. It may be nil.
	Observer Observer

	limitsOnce sync.Once
	limits     limits
	accepted   atomic.Int64
}

// A Protocol describes a protocol other than Gopher in which a client sends one request
// and gets one reply, such as Gemini. Its connections share the limits, deadlines, log and
// observer of the Server, and may come through a trusted proxy.
type Protocol struct {
	// Name identifies the protocol in the log: "gemini".
	Name string

	// TLS requires connections to begin with a TLS handshake, which Server.TLS
	// configures. Others are closed.
	TLS bool

	// ClientCert requests a certificate from clients. They need not send one.
	ClientCert bool

	// Length returns the length of the request at the beginning of head, or 0 if the
	// request is incomplete. It is called again when more bytes have arrived, up to
	// 4,096; a longer request fails with an Error of the kind BadRequest. Bytes after
	// the request are discarded.
	Length func(head []byte) int

	// Robots reports whether a request is for robots.txt. Such a request is exempt from
	// limits, and gets no error reply but "not found". Robots may be nil.
	Robots func(raw string) bool

	// Error returns the reply to a request that failed. It must not disclose more of
	// the error than ErrorMessage does.
	Error func(err error) []byte

	// Handler answers. Request.Raw holds the request; the Handler sets Selector and
	// Query for the log.
	Handler Handler
}

// Defaults of the Server's fields.
const (
	DefaultRequestTimeout = 10 * time.Second
	DefaultStallTimeout   = 60 * time.Second
	defaultLingerTimeout  = 2 * time.Second
	DefaultDrainTimeout   = 10 * time.Second
)

func (s *Server) requestTimeout() time.Duration {
	return cmp.Or(s.RequestTimeout, DefaultRequestTimeout)
}
func (s *Server) stallTimeout() time.Duration {
	return cmp.Or(s.StallTimeout, DefaultStallTimeout)
}
func (s *Server) lingerTimeout() time.Duration {
	return cmp.Or(s.LingerTimeout, defaultLingerTimeout)
}
func (s *Server) drainTimeout() time.Duration {
	return cmp.Or(s.DrainTimeout, DefaultDrainTimeout)
}

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// Listen listens on a TCP address (":70" if empty). It disables keep-alive, since a
// connection lasts for one reply, and Multipath TCP, whose listeners cannot be drained.
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

// A SharedListener marks a socket that another process keeps open, such as systemd. When
// Serve ends, it leaves queued connections to the next server.
type SharedListener struct{ net.Listener }

// Serve answers the connections of l until ctx ends. Then it closes l; on Linux it first
// accepts the connections that the kernel has queued, unless l is a [SharedListener]. (It
// is certain to accept all of them if [Listen] made l.) Clients get one more second to
// send their requests, and replies get DrainTimeout to finish; then Serve closes their
// connections. It returns nil when all handlers have returned, or a second after it
// closed the last connections. It returns an error only if l fails for another reason.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.ServeProtocol(ctx, l, nil)
}

// ServeProtocol is Serve for another protocol; nil is Gopher. Serve and ServeProtocol may be
// called concurrently, with one listener each.
func (s *Server) ServeProtocol(ctx context.Context, l net.Listener, p *Protocol) error {
	hard, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	run := s.newRun(ctx, hard, p)
	err := run.serveListener(l)
	_ = l.Close()
	run.drain(abort)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// ServeConn answers the request of a connection that another program has accepted, such
// as inetd. It returns when the connection is closed, even if the handler has not
// returned. When ctx ends, it aborts the connection.
func (s *Server) ServeConn(ctx context.Context, c net.Conn) {
	run := s.newRun(ctx, ctx, nil)
	run.begin(c)
	select {
	case <-run.allEnded():
	case <-run.stuck:
	}
}

// run is one call of Serve.
type run struct {
	*Server
	proto      *Protocol       // of Gopher and HTTP only Handler and Error are set
	tlsConfig  *tls.Config     // Server.TLS with changes, or nil
	soft, hard context.Context // when soft ends, no new requests; when hard ends, no more replies
	logger     *slog.Logger
	conns      sync.WaitGroup
	shed       func(keep int) int // closes answered connections of the event loop; may be nil

	stuck  chan struct{} // closed when the first handler has timed out
	gaveUp sync.Once
}

func (s *Server) newRun(soft, hard context.Context, p *Protocol) *run {
	if p == nil {
		p = &Protocol{Handler: s.Handler, Error: ErrorBody}
		if s.Handler == nil {
			p.Handler = HandlerFunc(func(ResponseWriter, *Request) error { return ErrNotFound })
		}
	}
	r := &run{
		Server:    s,
		proto:     p,
		tlsConfig: s.TLS.Clone(), // of nil: nil
		soft:      soft,
		hard:      hard,
		logger:    s.log(),
		stuck:     make(chan struct{}),
	}
	if s.TLS != nil {
		// A reply takes as few writes as it can: each costs as much as encrypting 16 KiB.
		r.tlsConfig.DynamicRecordSizingDisabled = true
		if p.ClientCert {
			r.tlsConfig.ClientAuth = tls.RequestClientCert
		}
	}
	return r
}

// isGopher reports whether clients speak Gopher or HTTP.
func (r *run) isGopher() bool { return r.proto.Length == nil }

// lastCall is how long a connection without a request may stay open after the soft end.
func (s *Server) lastCall() time.Duration {
	return min(time.Second, max(s.drainTimeout(), 0))
}

// allEnded returns a channel that is closed when all connections have ended.
func (r *run) allEnded() <-chan struct{} {
	done := make(chan struct{})
	go func() { r.conns.Wait(); close(done) }()
	return done
}

// drain waits for the connections to end. After DrainTimeout it aborts the rest.
func (r *run) drain(abort func()) {
	done := r.allEnded()
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

// lastWait is how long handlers get to return after their connections were aborted. A
// handler that waits for a file system may never return.
const lastWait = time.Second
