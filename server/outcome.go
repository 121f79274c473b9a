package server

import (
	"cmp"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
)

// A Kind classifies the outcome of a request. It determines the message for the client, the
// HTTP status and the labels of metrics.
type Kind int

// The kinds.
const (
	OK         Kind = iota // answered
	NotFound               // nothing readable has that name
	BadRequest             // malformed or unacceptable request
	TooMany                // over the rate limit
	Forbidden              // the client is a robot, and robots.txt denies it the selector
	Busy                   // temporary: the server is full, or a disk or program does not respond
	Gone                   // the client closed the connection, or read nothing for StallTimeout
	Internal               // a fault of the server
	Kinds                  // the number of kinds
)

// String returns the name of the kind in logs and metrics, such as "not_found".
func (k Kind) String() string {
	return [Kinds]string{"ok", "not_found", "bad_request", "too_many", "forbidden", "busy",
		"gone", "internal"}[k]
}

// RetryAfter is the number of seconds that a client should wait after Busy or TooMany.
const RetryAfter = 10

// statuses are the HTTP statuses of the kinds. 499 is nginx's for a client that has closed
// the connection.
var statuses = [Kinds]int{
	OK:         200,
	NotFound:   404,
	BadRequest: 400,
	TooMany:    429,
	Forbidden:  403,
	Busy:       503,
	Gone:       499,
	Internal:   500,
}

// message returns the text for the client.
func (k Kind) message() string {
	switch k {
	case NotFound:
		return "Not found: nothing here has that name"
	case BadRequest:
		return "Bad request"
	case TooMany:
		return "Too many requests"
	case Forbidden:
		return "Not for robots: see robots.txt"
	case Busy:
		return "Server busy"
	}
	return "Server error"
}

// An Error is the reason why a request was not answered. A Handler may return any error;
// one that wraps no Error is of the kind Internal. The client reads only Message, so that
// no path of the host is disclosed.
type Error struct {
	Kind    Kind
	Message string // for the client; must not repeat the request; if empty, the Kind's text
	Err     error  // for the log; may be nil
}

// Error returns the text for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.message()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) message() string {
	if e.Message != "" {
		return e.Message
	}
	return e.Kind.message()
}

// KindOf returns the Kind of the first [Error] in err, Internal if there is none, and
// OK for nil.
func KindOf(err error) Kind {
	if err == nil {
		return OK
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Kind > OK && e.Kind < Kinds {
		return e.Kind
	}
	return Internal
}

// Errors that a Handler may return.
var (
	ErrNotFound = &Error{Kind: NotFound}

	// ErrShort reports that a file became shorter while it was sent. The connection is
	// closed as after a whole reply.
	ErrShort = &Error{Kind: Internal, Err: errors.New("the file became shorter")}

	// ErrDeclined makes a [ServeMux] try the handler with the next shorter pattern, if
	// nothing was written.
	ErrDeclined = &Error{Kind: NotFound, Err: errors.New("declined")}
)

var (
	errTooLong = &Error{Kind: BadRequest, Message: "Request too long"}
	errPanic   = &Error{Kind: Internal, Err: errors.New("the handler panicked")}
)

// ErrorMessage returns the text for the client: the Message of the first [Error] in err, or
// the text for its kind.
func ErrorMessage(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.message()
	}
	return Internal.message()
}

// ErrorBody returns the Gopher reply to a request that failed with err: an error item.
func ErrorBody(err error) []byte {
	return append(menu.ErrorItem(ErrorMessage(err)).AppendTo(nil), menu.End...)
}

// An Observer is called after each reply. Observe may be called concurrently,
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
		slog.String("remote", r.show(s.Remote.Addr())), slog.String("selector", s.Selector),
		slog.Int64("bytes", s.Bytes),
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
