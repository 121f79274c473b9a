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
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/journal"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/disk"
)

// The exit statuses.
const (
	OK      = 0
	No      = 1 // the answer is no
	Usage   = 2 // cannot work as written; a service manager must not try again
	Failure = 3 // may work later
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
		say(stderr, journal.PriErr, err.Error(), e.Hint)
	}
	return e.Status
}

// Say prints a message and its hint, if there is one. Either may hold text from
// outside.
func Say(stderr io.Writer, msg, hint string) { say(stderr, journal.PriWarning, msg, hint) }

// say gives each line its priority where the journal reads it.
func say(stderr io.Writer, p journal.Priority, msg, hint string) {
	begin := "gophd: "
	if terminal.IsJournal(stderr) {
		begin = fmt.Sprintf("<%d>gophd: ", p)
	}

	_, _ = fmt.Fprintf(stderr, "%s%s\n", begin, oneLine(msg))
	if hint != "" {
		_, _ = fmt.Fprintf(stderr, "%shint: %s\n", begin, oneLine(hint))
	}
}

// oneLine joins the lines of errors that are several, and lets no terminal obey.
func oneLine(s string) string {
	return diag.Printable(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "))
}

// files opens what the user has named, and the settings of the machine.
var files = disk.Caller(disk.Direct)

const maxTable = 1 << 20 // bytes of a table of mounts

// Root explains why a content root cannot be opened.
func Root(dir string, err error) error {
	return Directory("-root", dir, fmt.Errorf("opening the content tree: %w", err))
}

// Directory explains why a directory that a flag names cannot be served. A name that does
// not exist, or is no directory, is a usage error. Anything else may heal: a permission, a
// disk that fails or is not mounted yet.
func Directory(flag, dir string, err error) error {
	table, _ := files.ReadFile("/etc/fstab", maxTable)
	mounted, _ := files.ReadFile("/proc/self/mounts", maxTable)
	at := missingMount(dir, string(table), string(mounted))
	switch {
	case errors.Is(err, fs.ErrNotExist) && at != "":
		return Hint(err, diag.Command("mount", "--", at)+": /etc/fstab has it, and it is not mounted")
	case errors.Is(err, fs.ErrNotExist):
		return Usagef(fmt.Sprintf("make it (%s), or name another with %s", diag.Command("mkdir", "-p", "--", dir), flag), "%w", err)
	case errors.Is(err, syscall.ENOTDIR), isFile(dir):
		return Usagef(flag+" must name a directory", "%w", err)
	case errors.Is(err, fs.ErrPermission):
		return Hint(err, "the user that gophd runs as must be able to read and search it: "+diag.Command("chmod", "-R", "a+rX", "--", dir))
	}
	return err
}

// missingMount returns the mount point in or above which a directory lies, if fstab(5) has
// one that is not mounted. Both tables have the mount point in the second column.
func missingMount(dir, table, mounted string) string {
	abs, _ := filepath.Abs(dir)
	points := func(table string) (all []string) {
		for line := range strings.Lines(table) {
			if f := strings.Fields(line); len(f) > 2 && f[0][0] != '#' {
				all = append(all, f[1])
			}
		}
		return all
	}
	there := points(mounted)
	for _, at := range points(table) {
		if at != "/" && strings.HasPrefix(abs+"/", at+"/") && !slices.Contains(there, at) {
			return at
		}
	}
	return ""
}

// isFile reports whether a path leads to something that is no directory. The error of
// os.OpenRoot says so only in its text.
func isFile(path string) bool {
	info, err := files.Stat(path)
	return err == nil && !info.IsDir()
}
