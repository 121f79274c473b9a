package server

import (
	"cmp"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gophd/gophd/diag"
)

// An Observer gets each request when its reply has ended. Observe may be called
// concurrently and on the accepting goroutine, so it must not block.
type Observer interface {
	Observe(Served)
}

// Served describes a request and its outcome.
type Served struct {
	Protocol string         // "gopher", "http", or a Protocol's name
	Host     string         // of the site that answered: Request.Site, or else Request.Host
	Port     int            // of the server in menus
	Selector string         // "" if the request was none
	Remote   netip.AddrPort // invalid if it is not known
	Bytes    int64          // of the reply, as far as they were sent
	Took     time.Duration  // since the connection was accepted
	Err      error          // nil, or why the client did not get what it asked for

	Status         int    // of an HTTP reply; 0: Kind's
	Agent, Referer string // of an HTTP request
}

// Kind returns how the request ended.
func (s Served) Kind() Kind { return KindOf(s.Err) }

// HTTPStatus returns the status of the reply, as HTTP has them.
func (s Served) HTTPStatus() int { return cmp.Or(s.Status, statuses[s.Kind()]) }

// outcome adds to s what the request says of itself.
func (r *Request) outcome(s Served) Served {
	s.Protocol, s.Port, s.Remote = cmp.Or(r.Protocol, "gopher"), r.Port, r.Remote
	if r.http {
		s.Protocol = "http"
	}
	s.Host, s.Selector = cmp.Or(s.Host, r.Site, r.Host), cmp.Or(s.Selector, r.Selector)
	return s
}

// ended passes each request to the observer, and to the log in one line.
func (r *run) ended(s Served) {
	if r.Observer != nil {
		r.Observer.Observe(s)
	}
	level := slog.LevelInfo
	kind := s.Kind()
	if kind == Busy || kind == Internal {
		level = slog.LevelWarn
	}
	if !r.logger.Enabled(r.hard, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("host", s.Host), slog.String("protocol", s.Protocol),
		slog.String("remote", r.show(s.Remote.Addr())), slog.String("selector", s.Selector), slog.Int64("bytes", s.Bytes),
		slog.Duration("took", s.Took), slog.Int("status", s.HTTPStatus()),
	}
	if s.Err != nil {
		attrs = append(attrs, slog.String("error", s.Err.Error()))
	}
	r.logger.LogAttrs(r.hard, level, diag.EventRequest, attrs...)
}

// show returns an address in the form for logs.
func (s *Server) show(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "-"
	case s.ShowIP != nil:
		return s.ShowIP(a)
	}
	return a.String()
}
