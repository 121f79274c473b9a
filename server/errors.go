package server

import (
	"errors"
	"io/fs"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
)

// An Error is an error with the words that a stranger may read. All other
// errors a Handler returns are told to clients in general words only, so that
// no path and no name of the host gets out.
type Error struct {
	Message string // for the client; never the request's own words
	Err     error  // for the log; may be nil
}

// Error is for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// What clients may learn of an error.
var (
	ErrNotFound   = &Error{Message: "Not found"}
	ErrBadRequest = &Error{Message: "Bad request"}
	errTooLong    = &Error{Message: "Request too long"}
	errPanic      = &Error{Message: "Server error"}
)

// public is the one place that decides what a stranger may learn of an error.
// A resource that is there but may not be read is told as one that is not.
func public(err error) string {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Message
	case errors.Is(err, stall.Err), errors.Is(err, errStuck):
		return errBusy.Message
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrInvalid):
		return ErrNotFound.Message
	}
	return "Server error"
}

// ErrorBody is the reply to a request that failed with err.
func ErrorBody(err error) []byte {
	return append(menu.ErrorItem(public(err)).AppendTo(nil), menu.End...)
}
