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
	"github.com/gophd/gophd/internal/process/sandbox"
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

	// What a program prints in place of the hint: the command that mends it, and then values
	// of flags, "" for a flag to leave out. Both may be empty.
	Mend string
	Set  map[string]string
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
	return &CommandError{
		Status: Usage,
		Err:    fmt.Errorf(format, args...),
		Hint:   hint,
	}
}

// Hint is a failure about which something can be done.
func Hint(err error, hint string) error {
	return &CommandError{
		Status: Failure,
		Err:    err,
		Hint:   hint,
	}
}

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

// Say prints a message and its hint, if there is one. Either may contain
// untrusted text.
func Say(stderr io.Writer, msg, hint string) {
	say(stderr, journal.PriWarning, msg, hint)
}

// say prefixes each line with its priority if stderr is the journal.
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

// Root explains why a content root, or a mount in it, cannot be opened.
func Root(dir string, err error) error {
	flag := "-root"
	var at *fs.PathError
	if abs, _ := filepath.Abs(dir); errors.As(err, &at) && filepath.IsAbs(at.Path) &&
		at.Path != abs {
		flag, dir = "-mount", at.Path
	}
	return Directory(flag, dir, nil, fmt.Errorf("opening the content tree: %w", err))
}

// Directory explains why an account cannot serve a directory that a flag names; nil is the
// account of this process. A name that does not exist, is no directory or is below a closed
// directory is a usage error. Anything else may be temporary: a permission, a disk that fails or is
// not mounted yet.
func Directory(flag, dir string, account *sandbox.Identity, err error) error {
	table, _ := files.ReadFile("/etc/fstab", maxTable)
	mounted, _ := files.ReadFile("/proc/self/mounts", maxTable)
	at := missingMount(dir, string(table), string(mounted))
	e := &CommandError{Status: Failure, Err: err}
	info, unseen := files.Stat(dir)
	isFile := unseen == nil && !info.IsDir() // the error of os.OpenRoot has it only in its text
	switch {
	case errors.Is(err, fs.ErrNotExist) && at != "":
		e.Mend = diag.Command("mount", "--", at)
		e.Hint = e.Mend + ": /etc/fstab has it, and it is not mounted"
	case errors.Is(err, fs.ErrNotExist):
		e.Status, e.Mend = Usage, diag.Command("gophd", "init", "--", dir)
		e.Hint = fmt.Sprintf("make it (%s), or name another with %s",
			diag.Command("mkdir", "-p", "--", dir), flag)
	case errors.Is(err, syscall.ENOTDIR), isFile:
		e.Status, e.Hint = Usage, flag+" must name a directory"
		e.Mend = diag.Command("mv", "--", dir, dir+".old") + " && " +
			diag.Command("gophd", "init", "--", dir)
	case errors.Is(err, fs.ErrPermission):
		abs, _ := filepath.Abs(dir)
		e.Mend = diag.Command("chmod", "-R", "a+rX", "--", dir)
		e.Hint = "the user that gophd runs as must be able to read and search it: " + e.Mend
		if above := account.Closed(dir,
			sandbox.MayRead|sandbox.MayEnter); above != "" && above != abs {
			e.Status, e.Mend = Usage, diag.Command("chmod", "a+x", "--", above)
			e.Hint = fmt.Sprintf("the user that gophd runs as must be able to enter %s: %s", above, e.Mend)
		}
	default:
		return err
	}
	return e
}

// missingMount returns the mount point that contains a directory, if fstab(5) lists it and it is
// not mounted. Both tables have the mount point in the second column.
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
