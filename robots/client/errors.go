package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/robots"
)

// errEmpty is a reply of Gopher without a byte.
var errEmpty = errors.New("the host closes the connection without a byte")

// insteadOf returns what a Gopher server sent in place of a robots file, as an error that
// is fs.ErrNotExist, unless the server is busy.
func insteadOf(f *robots.File) error {
	first, _, _ := strings.Cut(string(f.AppendTo(nil)), "\n")
	text, _, _ := strings.Cut(strings.TrimRight(first, "\r"), "\t")
	switch {
	case f.Size() == 0:
		return fmt.Errorf("%w: %w", errEmpty, fs.ErrNotExist)
	case strings.HasPrefix(text, "3"):
		return &ErrorItem{diag.Shorten(text[1:], maxErrorText/2)}
	}
	return fmt.Errorf("received %q: %w", diag.Shorten(text, 64), fs.ErrNotExist)
}

// An ErrorItem is a Gopher error item in place of a document. It matches
// [fs.ErrNotExist], unless its text reports a busy server.
type ErrorItem struct{ Text string }

// Error shows the text.
func (e *ErrorItem) Error() string {
	return fmt.Sprintf("received the error item %q", e.Text)
}

// Is makes the error an fs.ErrNotExist.
func (e *ErrorItem) Is(target error) bool {
	return target == fs.ErrNotExist && !ask.IsBusy(e.Text)
}

// maxErrorText bounds the text of an error.
const maxErrorText = 1 << 10

// bounded returns an error that is small enough to be kept for each host. One with a
// long text, or a certificate in it, loses its causes.
func bounded(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	bad, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if len(text) <= maxErrorText && !untrusted {
		return err
	}
	b := &boundedError{text: diag.Shorten(text, maxErrorText-len("..."))}
	if untrusted {
		b.cause = &tls.CertificateVerificationError{Err: errors.New(diag.Shorten(bad.Err.Error(),
			maxErrorText))}
	} else if status, ok := errors.AsType[*StatusError](err); ok {
		b.cause = status
	}
	return b
}

type boundedError struct {
	text  string
	cause error
}

func (e *boundedError) Error() string { return e.text }
func (e *boundedError) Unwrap() error { return e.cause }
