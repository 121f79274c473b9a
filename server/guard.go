package server

import (
	"log/slog"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gophd/gophd/internal/tally"
)

// Defaults of the Server's limits.
const (
	DefaultMaxConnsPerIP = 32
	DefaultBurst         = 20

	// descriptorReserve is what is left for listeners, the watcher, logs and
	// connections that are answered at once.
	descriptorReserve = 512
	minConns          = 64
)

// refusal is a reason to turn a connection away.
type refusal int

const (
	admitted refusal = iota
	tooManyOfBlock
	tooMany
	madeRoom // it was admitted, and had to go for others
	tooFast
	noTLS
	noHTTP
	reasons // how many there are
)

// String is for the log.
func (r refusal) String() string {
	return [reasons]string{
		"admitted", "connections of the address", "connections in all", "made room for others", "rate of the address",
		"TLS is not offered", "HTTP is not offered",
	}[r]
}

var (
	errBusy    = &Error{Kind: Busy}
	errTooFast = &Error{Kind: TooMany}
)

// body is what the client is told.
func (r refusal) body() []byte {
	if r == tooFast {
		return ErrorBody(errTooFast)
	}
	return ErrorBody(errBusy)
}

// guard is what a Server knows of those it must be guarded against, on all its
// listeners.
type guard struct {
	gate    gate
	rates   *rates
	told    told
	refused [reasons]atomic.Int64

	refusers tally.Top[netip.Addr]
}

func (s *Server) guard() *guard {
	s.guardOnce.Do(func() {
		s.guarded.gate.total, s.guarded.gate.perBlock = s.maxConns(), s.maxConnsPerIP()
		s.guarded.rates = newRates(s.Rate, s.Burst)
	})
	return &s.guarded
}

func (s *Server) maxConnsPerIP() int {
	if s.MaxConnsPerIP == 0 {
		return DefaultMaxConnsPerIP
	}
	return s.MaxConnsPerIP
}

// maxConns counts two descriptors for each connection: its own, and that of the
// file it is sent.
func (s *Server) maxConns() int {
	if s.MaxConns != 0 {
		return s.MaxConns
	}
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return minConns
	}
	const most = 1 << 18 // where files are without limit, memory is not
	return max((int(min(files.Cur, most))-descriptorReserve)/2, minConns)
}

// enter counts a connection of an address, and says why not if there is no room.
// If it has to go before it had its reply, that is reported.
func (r *run) enter(a netip.Addr, s *stay) refusal {
	from, cut := a, s.cut
	s.cut = func() {
		if !s.lingering() {
			r.refused(from, madeRoom)
		}
		cut()
	}
	if r.trusts(a) {
		a = netip.Addr{} // many clients come from there
	}
	return r.guard().gate.enter(block(a), s)
}

// within says whether an address may send a request now, and reports it if not.
func (r *run) within(a netip.Addr) bool {
	rates := r.guard().rates
	if rates == nil || r.trusts(a) || rates.take(block(a), time.Now()) {
		return true
	}
	r.refused(a, tooFast)
	return false
}

// spareFiles closes some silent connections if the process may open no more
// files, and says whether there were any. It logs that once a minute.
func (r *run) spareFiles(err error) bool {
	g := r.guard()
	n := g.gate.spare(16, time.Now().Add(-settling))
	if n > 0 && g.told.again(netip.Addr{}, time.Now()) > 0 {
		r.logger.Error("no files left for connections: closing silent ones", "error", err)
	}
	return n > 0
}

// refused counts a refusal and logs the first of each minute and address.
func (r *run) refused(a netip.Addr, why refusal) {
	g := r.guard()
	total := g.refused[why].Add(1)
	g.refusers.Add(block(a))
	if times := g.told.again(block(a), time.Now()); times > 0 {
		r.logger.LogAttrs(r.hard, slog.LevelWarn, "refused", slog.String("remote", r.name(a)),
			slog.String("reason", why.String()), slog.Int("times", times), slog.Int64("in_all", total))
	}
}
