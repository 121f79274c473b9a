package server

import (
	"cmp"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gophd/gophd/diag"
)

// An Observer is told of each request after its reply. Observe may be called concurrently,
// also on the goroutine that accepts connections, so it must not block.
type Observer interface {
	Observe(Served)
}

// Served describes a request and its outcome.
type Served struct {
	Protocol string         // "gopher", "http", or a Protocol's name
	Host     string         // Request.Site, or Request.Host if that is empty
	Port     int            // Request.Port
	Selector string         // "" if the request could not be parsed
	Remote   netip.AddrPort // invalid if unknown
	Bytes    int64          // bytes of the reply that were sent
	Took     time.Duration  // since accept
	Err      error          // why the request failed, or nil

	Status         int    // of an HTTP reply; if zero, it follows from Kind
	Agent, Referer string // fields of an HTTP request
}

// Kind returns KindOf(s.Err).
func (s Served) Kind() Kind { return KindOf(s.Err) }

// HTTPStatus returns the HTTP status of the reply, or the one that corresponds to its Kind.
func (s Served) HTTPStatus() int { return cmp.Or(s.Status, statuses[s.Kind()]) }

// outcome fills in the fields of s that come from the request.
func (r *Request) outcome(s Served) Served {
	s.Protocol, s.Port, s.Remote = cmp.Or(r.Protocol, "gopher"), r.Port, r.Remote
	if r.http {
		s.Protocol = "http"
	}
	s.Host, s.Selector = cmp.Or(s.Host, r.Site, r.Host), cmp.Or(s.Selector, r.Selector)
	return s
}

// ended reports a request to the observer and logs it.
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

// show formats an address for the log.
func (s *Server) show(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "-"
	case s.ShowIP != nil:
		return s.ShowIP(a)
	}
	return a.String()
}
