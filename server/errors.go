package server

import (
	"errors"

	"github.com/gophd/gophd/menu"
)

// A Kind says how a request ended: whether it was answered, and if not, whose fault
// it was. Logs, metrics and what the client reads depend on it.
type Kind int

// The kinds.
const (
	OK         Kind = iota // it was answered
	NotFound               // nothing of that name, or nothing readable
	BadRequest             // malformed or refused request
	TooMany                // the client has sent too many
	Forbidden              // the client is a robot, and the policy denies it this
	Busy                   // not now: the server, or what it needs for the reply, has no room or does not answer
	Gone                   // the client went away, or took nothing for the stall time
	Internal               // the server's fault
	Kinds                  // how many there are
)

// String is the kind in a word.
func (k Kind) String() string {
	return [Kinds]string{"ok", "not_found", "bad_request", "too_many", "forbidden", "busy", "gone", "internal"}[k]
}

// RetryAfter is how many seconds a client is asked to wait for a server that is busy, or
// that has had too many requests from it.
const RetryAfter = 10

// statuses are the HTTP statuses of the kinds. 499 is nginx's for a client that went
// away.
var statuses = [Kinds]int{
	OK: 200, NotFound: 404, BadRequest: 400, TooMany: 429, Forbidden: 403, Busy: 503, Gone: 499, Internal: 500,
}

// message returns the text that the client reads instead of a reply.
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

// An Error says why a request was not answered. Other errors that a Handler returns are
// of the kind Internal. A client reads only Message, so that it learns no path and no
// name of the host.
type Error struct {
	Kind    Kind
	Message string // for the client, without the request's own words; if empty, the Kind's
	Err     error  // for the log; may be nil
}

// Error is for the log.
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

// Errors that a Handler may return as they are.
var (
	ErrNotFound   = &Error{Kind: NotFound}
	errBadRequest = &Error{Kind: BadRequest}

	// ErrShort is the error of a reply that ends early because its source did, as a
	// file that became shorter while it was sent. The connection is closed as after
	// a whole reply.
	ErrShort = &Error{Kind: Internal, Err: errors.New("the file became shorter")}

	// ErrDeclined, from a handler that has written nothing, lets a [ServeMux]
	// ask the handler with the next shorter pattern.
	ErrDeclined = &Error{Kind: NotFound, Err: errors.New("declined")}
)

var (
	errTooLong = &Error{Kind: BadRequest, Message: "Request too long"}
	errPanic   = &Error{Kind: Internal, Err: errors.New("the handler panicked")}
)

// ErrorMessage returns the text that a client may read: the Message of the first
// [Error] in err, or else the text for its kind.
func ErrorMessage(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.message()
	}
	return Internal.message()
}

// ErrorBody is the reply to a request that failed with err.
func ErrorBody(err error) []byte {
	return append(menu.ErrorItem(ErrorMessage(err)).AppendTo(nil), menu.End...)
}
