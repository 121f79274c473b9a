// Command gophd serves a directory over Gopher and keeps its robots.txt. See
// doc/gophd.8.md for the manual.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/systemd"
)

func main() {
	os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run runs the program and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	words, last := args[1:], len(args)-1
	if args[last] == "--generate-bash-completion" {
		program().complete(stdout, args[1:last])
		return exit.OK
	}
	c := &call{
		Context: ctx,
		command: program(),
		in:      stdin,
		out:     stdout,
		err:     stderr,
	}
	return report(stderr, c.execute(words))
}

// report prints the errors with their hints, and returns the exit status. In a systemd service
// the hint names the settings file.
func report(stderr io.Writer, err error) (status int) {
	if systemd.InUnit() {
		err = advise(err, "settings are in /etc/default/gophd")
	}
	var all daemon.Failures
	if !errors.As(err, &all) {
		return exit.Report(stderr, err)
	}
	status = exit.Failure
	for _, err := range all {
		status = min(status, exit.Report(stderr, err)) // a wrong setting outranks a temporary fault
	}
	return status
}

// advise appends a text to the hints of an error, unless they name a file or a command already.
func advise(err error, more string) error {
	var all daemon.Failures
	if !errors.As(err, &all) {
		all = daemon.Failures{err}
	}
	for _, err := range all {
		var e *exit.CommandError
		if errors.As(err, &e) && e.Err != nil && !strings.Contains(e.Hint, "/etc/") &&
			!strings.Contains(e.Hint, "systemctl") {
			e.Hint = strings.TrimPrefix(e.Hint+"; "+more, "; ")
		}
	}
	return err
}

const seeDoctor = "gophd doctor looks at everything"

// program returns the command gophd, which serves a directory.
func program() *command {
	flags := &daemon.Flags{Version: version()}
	serve := newCommand("gophd", "", "", "", func(c *call, args []string) error {
		conf, err := settings(c, flags, args)
		if err != nil {
			return err
		}
		if !flags.Inetd && !meant(c, flags.Root) {
			return exit.ErrNo
		}
		return advise(daemon.Run(c, conf, c.err), seeDoctor)
	}, serveFlags(flags)...)
	serve.commands = []*command{initCommand(), checkCommand(), checkConfigCommand(),
		doctorCommand(), robotsCommand(), getCommand(), wireCommand(), manualCommand()}
	return serve
}

func isDir(name string) bool {
	info, err := disk.Caller(disk.Direct).Stat(name)
	return err == nil && info.IsDir()
}

// settings checks the flags. An argument is the root directory.
func settings(c *call, flags *daemon.Flags, args []string) (*daemon.Settings, error) {
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	if err := checkNeeds(c.flags, func(err error) {
		flags.Warnings = append(flags.Warnings, err)
	}); err != nil {
		return nil, err
	}
	flags.Variable = func(name string) bool {
		o := given(c.flags, name)
		return o.from == byVariable || o.from == byDefault && systemd.InUnit()
	}
	if len(args) == 0 {
		return flags.Settings()
	}
	_, err := disk.Caller(disk.Direct).Stat(args[0])
	switch {
	case err != nil && slices.Contains([]string{"yes", "no", "on", "off", "true", "false"},
		strings.ToLower(args[0])):
		return nil, exit.Usagef("a flag that is on or off takes no value: -dates, or -dates="+
			args[0], "%q is no directory", args[0])
	case err != nil && flags.Root == "" && !strings.ContainsAny(args[0], "./") &&
		c.path == "gophd":
		return nil, c.unknownCommand(args[0])
	case len(args) > 1 && strings.Contains(args[0]+args[1], "/") && flags.Users != "" &&
		!strings.Contains(flags.Users, "*"):
		return nil, exit.Usagef("put the pattern in quotes: -users '/home/*/public_gopher'",
			"-users %s and %s: the shell has replaced the pattern", flags.Users, args[0])
	case len(args) > 1:
		return nil, exit.Usagef(c.path+" takes one directory",
			"unexpected argument %q", args[1])
	case err != nil && flags.Root != "":
		return nil, exit.Usagef("gophd -help lists what it takes",
			"unexpected argument %q", args[0])
	case flags.Root != os.Getenv("GOPHD_ROOT"): // which an argument overrides
		return nil, exit.Usagef("leave one of them out",
			"two directories to serve: -root %s and %s", flags.Root, args[0])
	}
	flags.Root = args[0]
	return flags.Settings()
}

// meant prompts the user on a terminal to confirm a root directory that looks unintended.
func meant(c *call, root string) bool {
	doubt := daemon.Doubt(root)
	stdin, isFile := c.in.(*os.File)
	if doubt == nil || !isFile || !terminal.Is(stdin) || !terminal.Is(c.err) {
		return true // the log warns
	}
	_ = exit.Report(c.err, doubt)
	_, _ = fmt.Fprintf(c.err, "Serve %s anyway? [y/N] ", diag.Printable(root))
	var answer string
	_, _ = fmt.Fscanln(stdin, &answer)
	return answer == "y" || answer == "Y" || answer == "yes"
}

// buildVersion is set by the linker for a release.
var buildVersion string

func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
