package server

import (
	"errors"

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
	return [Kinds]string{"ok", "not_found", "bad_request", "too_many", "forbidden", "busy", "gone", "internal"}[k]
}

// RetryAfter is the number of seconds that a client should wait after Busy or TooMany.
const RetryAfter = 10

// statuses are the HTTP statuses of the kinds. 499 is nginx's for a client that has closed
// the connection.
var statuses = [Kinds]int{
	OK: 200, NotFound: 404, BadRequest: 400, TooMany: 429, Forbidden: 403, Busy: 503, Gone: 499, Internal: 500,
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
	ErrNotFound   = &Error{Kind: NotFound}
	errBadRequest = &Error{Kind: BadRequest}

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
