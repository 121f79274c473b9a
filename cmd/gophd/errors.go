package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
)

// Exit statuses.
const (
	exitOK      = 0
	exitNo      = 1 // the answer is no
	exitUsage   = 2
	exitFailure = 3
)

// failure is an error with an exit status and a hint what to do.
type failure struct {
	status int
	err    error
	hint   string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// errNo ends a command whose answer is no and was printed already.
var errNo = &failure{status: exitNo}

func usageError(hint, format string, args ...any) error {
	return &failure{status: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

func withHint(err error, hint string) error {
	return &failure{status: exitFailure, err: err, hint: hint}
}

// exit prints an error, in one line and with a hint in a second, and returns
// the exit status.
func exit(err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	f := &failure{status: exitFailure, err: err}
	errors.As(err, &f)
	if f.err == nil {
		return f.status
	}
	say(stderr, err.Error(), f.hint)
	return f.status
}

func say(stderr io.Writer, msg, hint string) {
	_, _ = fmt.Fprintf(stderr, "gophd: %s\n", oneLine(msg))
	if hint != "" {
		_, _ = fmt.Fprintf(stderr, "gophd: hint: %s\n", hint)
	}
}

func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }

// badUsage is called for a flag whose value does not parse.
func badUsage(c *cli.Context, err error, _ bool) error {
	return usageError(commandName(c)+" -help lists the flags; a DURATION is written 90s or 10m", "%w", err)
}

func commandName(c *cli.Context) string {
	if c.Command == nil || c.Command.Name == c.App.Name || c.Command.Name == "" {
		return c.App.Name
	}
	return c.Command.HelpName
}

// noMoreArguments refuses all arguments after the first n.
func noMoreArguments(c *cli.Context, n int) error {
	if c.NArg() > n {
		return usageError(commandName(c)+" -help tells what it takes", "unexpected argument %q", c.Args().Get(n))
	}
	return nil
}

// needRoot returns the value of -root.
func needRoot(c *cli.Context) (string, error) {
	root := c.String("root")
	if root == "" {
		return "", usageError("name the directory: -root ./content, or set GOPHD_ROOT", "no -root")
	}
	return root, nil
}

// rootError explains why a content root cannot be opened.
func rootError(dir string, err error) error {
	err = fmt.Errorf("opening the content tree: %w", err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return withHint(err, fmt.Sprintf("make it (mkdir -p %s), or name another with -root", dir))
	case errors.Is(err, syscall.ENOTDIR), isFile(dir):
		return withHint(err, "-root wants a directory")
	case errors.Is(err, fs.ErrPermission):
		return withHint(err, "the user that gophd runs as must be able to read and search it")
	}
	return err
}

// isFile says whether a path leads to something that is no directory, which
// os.OpenRoot tells in words only.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
