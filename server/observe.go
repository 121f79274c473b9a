package server

import (
	"log/slog"
	"net/netip"
	"time"
)

// An Observer gets each request when its reply has ended. Observe may be called
// concurrently and on the accepting goroutine, so it must not block.
type Observer interface {
	Observe(Served)
}

// Served describes a request and its outcome.
type Served struct {
	Protocol string         // "gopher", "http", or a Protocol's name
	Selector string         // "" if the request was none
	Remote   netip.AddrPort // invalid if it is not known
	Bytes    int64          // of the reply, as far as they were sent
	Took     time.Duration  // since the connection was accepted
	Err      error          // nil, or why the client did not get what it asked for
}

// Kind returns how the request ended.
func (s Served) Kind() Kind { return KindOf(s.Err) }

// logRequest passes a request to the observer, and to the log in one line.
func (r *run) logRequest(sel string, remote netip.AddrPort, n int64, took time.Duration, err error) {
	if r.Observer != nil {
		r.Observer.Observe(Served{r.protocol(sel), sel, remote, n, took, err})
	}
	level, msg := slog.LevelInfo, "request"
	if k := KindOf(err); k == Busy || k == Internal {
		level = slog.LevelWarn
	}
	if !r.logger.Enabled(r.hard, level) {
		return
	}
	attrs := [5]slog.Attr{
		slog.String("remote", r.name(remote.Addr())), slog.String("selector", sel), slog.Int64("bytes", n),
		slog.Duration("took", took),
	}
	list := attrs[:4]
	if err != nil {
		list = append(list, slog.String("error", err.Error()))
	}
	// Logger.LogAttrs would look up where it was called from, which costs as
	// much as all the rest and is always here.
	rec := slog.NewRecord(time.Now(), level, msg, 0)
	rec.AddAttrs(list...)
	_ = r.logger.Handler().Handle(r.hard, rec)
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

// name is show with a cache of the last address.
func (r *run) name(a netip.Addr) string {
	if last := r.last.Load(); last != nil && last.addr == a {
		return last.text
	}
	text := r.show(a)
	r.last.Store(&named{a, text})
	return text
}
