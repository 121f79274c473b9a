// Package exit ends a command of gophd: with an exit status, and on failure with one
// line that gives the reason and often a second one with advice:
//
//	gophd: opening the content tree: open hole: no such file or directory
//	gophd: hint: make it (mkdir -p hole), or name another with -root
package exit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/gophd/gophd/diag"
)

// The exit statuses.
const (
	OK      = 0
	No      = 1 // the answer is no
	Usage   = 2
	Failure = 3
)

// A CommandError ends the program.
type CommandError struct {
	Status int
	Err    error  // nil: all was printed already
	Hint   string // what to do; may be empty
}

func (e *CommandError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *CommandError) Unwrap() error { return e.Err }

// ErrNo ends a command whose answer is no and was printed already.
var ErrNo = &CommandError{Status: No}

// Usagef is an error in the command line.
func Usagef(hint, format string, args ...any) error {
	return &CommandError{Usage, fmt.Errorf(format, args...), hint}
}

// Hint is a failure about which something can be done.
func Hint(err error, hint string) error { return &CommandError{Failure, err, hint} }

// Report prints an error and returns the exit status.
func Report(stderr io.Writer, err error) int {
	if err == nil {
		return OK
	}
	e := &CommandError{Status: Failure, Err: err}
	if errors.As(err, &e); e.Err != nil {
		Say(stderr, err.Error(), e.Hint)
	}
	return e.Status
}

// Say prints a message and its hint, if there is one. Either may hold text from
// outside.
func Say(stderr io.Writer, msg, hint string) {
	_, _ = fmt.Fprintf(stderr, "gophd: %s\n", oneLine(msg))
	if hint != "" {
		_, _ = fmt.Fprintf(stderr, "gophd: hint: %s\n", oneLine(hint))
	}
}

// oneLine joins the lines of errors that are several, and lets no terminal obey.
func oneLine(s string) string {
	return diag.Printable(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "))
}

// Root explains why a content root cannot be opened.
func Root(dir string, err error) error {
	err = fmt.Errorf("opening the content tree: %w", err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Hint(err, fmt.Sprintf("make it (mkdir -p %s), or name another with -root", dir))
	case errors.Is(err, syscall.ENOTDIR), isFile(dir):
		return Hint(err, "-root must name a directory")
	case errors.Is(err, fs.ErrPermission):
		return Hint(err, "the user that gophd runs as must be able to read and search it")
	}
	return err
}

// isFile reports whether a path leads to something that is no directory. The error of
// os.OpenRoot says so only in its text.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
