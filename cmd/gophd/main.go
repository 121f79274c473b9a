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

	"github.com/urfave/cli/v2"

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
	app := newApp()
	app.Reader = stdin
	app.Writer = stdout
	app.ErrWriter = stderr
	app.Metadata = map[string]any{"typed": args}
	return report(stderr, app.RunContext(ctx, args))
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

func newApp() *cli.App {
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Usage: "print the version"}
	cli.HelpFlag = &cli.BoolFlag{
		Name:    "help",
		Aliases: []string{"h"},
		Usage:   "print this",
	}
	cli.VersionPrinter = func(c *cli.Context) {
		_, _ = fmt.Fprintf(c.App.Writer, "gophd %s\n", c.App.Version)
	}
	cli.HelpPrinter = printHelp
	cli.SuggestDidYouMeanTemplate = "%s"
	flags := &daemon.Flags{Version: version()}
	return &cli.App{
		Name:    "gophd",
		Version: flags.Version,
		Flags:   serveFlags(flags),
		Before:  tellOfDirectory,
		Action: func(c *cli.Context) error {
			switch name := c.Args().First(); {
			case (name == "help" || name == "h") && !isDir(name):
				return cli.ShowAppHelp(c)
			case name == "version" && !isDir(name):
				cli.ShowVersion(c)
				return nil
			}
			args, err := arguments(c)
			if err != nil {
				return err
			}
			conf, err := settings(c, flags, args)
			if err != nil {
				return err
			}
			if !flags.Inetd && !meant(c, flags.Root) {
				return exit.ErrNo
			}
			return advise(daemon.Run(c.Context, conf, c.App.ErrWriter), seeDoctor)
		},
		Commands: []*cli.Command{initCommand(), checkCommand(), checkConfigCommand(),
			doctorCommand(), robotsCommand(), getCommand(), wireCommand(), manualCommand()},
		Suggest:              true,
		HideHelpCommand:      true, // it would hide a directory of that name
		EnableBashCompletion: true,
		OnUsageError:         badUsage,
		ExitErrHandler:       func(*cli.Context, error) {},
	}
}

// tellOfDirectory prints that an argument is a command, if a directory has the same
// name.
func tellOfDirectory(c *cli.Context) error {
	if name := c.Args().First(); c.NArg() == 1 && c.App.Command(name) != nil && isDir(name) {
		exit.Say(c.App.ErrWriter,
			fmt.Sprintf("%s is taken as a command, not as the directory of that name", name),
			"to serve the directory: "+diag.Command("gophd", "./"+name))
	}
	return nil
}

func isDir(name string) bool {
	info, err := disk.Caller(disk.Direct).Stat(name)
	return err == nil && info.IsDir()
}

// settings checks the flags. An argument is the root directory.
func settings(c *cli.Context, flags *daemon.Flags, args []string) (*daemon.Settings, error) {
	if err := checkEnvironment(c.App); err != nil {
		return nil, err
	}
	if err := checkNeeds(c.Command.Flags, func(err error) {
		flags.Warnings = append(flags.Warnings, err)
	}); err != nil {
		return nil, err
	}
	flags.Variable = func(name string) bool {
		o := given(c.Command.Flags, name)
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
		c.Command.HelpName == c.App.HelpName:
		return nil, unknownCommand(c)
	case len(args) > 1 && strings.Contains(args[0]+args[1], "/") && flags.Users != "" &&
		!strings.Contains(flags.Users, "*"):
		return nil, exit.Usagef("put the pattern in quotes: -users '/home/*/public_gopher'",
			"-users %s and %s: the shell has replaced the pattern", flags.Users, args[0])
	case len(args) > 1:
		return nil, exit.Usagef(c.Command.HelpName+" takes one directory",
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
func meant(c *cli.Context, root string) bool {
	doubt := daemon.Doubt(root)
	stdin, isFile := c.App.Reader.(*os.File)
	if doubt == nil || !isFile || !terminal.Is(stdin) || !terminal.Is(c.App.ErrWriter) {
		return true // the log warns
	}
	_ = exit.Report(c.App.ErrWriter, doubt)
	_, _ = fmt.Fprintf(c.App.ErrWriter, "Serve %s anyway? [y/N] ", diag.Printable(root))
	var answer string
	_, _ = fmt.Fscanln(stdin, &answer)
	return answer == "y" || answer == "Y" || answer == "yes"
}

// arguments returns the arguments of a command. The flag library parses no flags after the first
// argument, so later ones that look like flags are refused, unless they follow "--".
func arguments(c *cli.Context) ([]string, error) {
	args := c.Args().Slice()
	if len(args) > 0 && args[0] == "" {
		return nil, exit.Usagef("is a shell variable unset?", "the first argument of %s is empty",
			c.Command.HelpName)
	}
	typed := c.App.Metadata["typed"].([]string)
	if i := slices.Index(typed, "--"); i >= 0 && len(typed)-i-1 == len(args) {
		return args, nil // the library has taken the -- out
	}
	plain := args
	if i := slices.Index(args, "--"); i >= 0 {
		plain, args = args[:i:i], slices.Concat(args[:i], args[i+1:])
	}
	if len(plain) == 3 && strings.TrimLeft(plain[1], "-") == "at" &&
		c.Command.HelpName == "gophd robots check" {
		return plain[:1], c.Set("at", plain[2]) // users type DIR -at /~NAME/
	}
	for i, arg := range plain {
		if i > 0 && len(arg) > 1 && arg[0] == '-' {
			return nil, exit.Usagef(fmt.Sprintf("flags stand before the arguments: %s %s ... %s; an argument that is no flag stands after --", c.Command.HelpName, arg, args[0]),
				"the flag %s comes after the argument %q", arg, args[0])
		}
	}
	return args, nil
}

func unknownCommand(c *cli.Context) error {
	name, of := c.Args().First(), c.Command.HelpName
	hint := of + " -help lists the commands"
	if near := cli.SuggestCommand(c.Command.Subcommands, name); len(near) > 1 &&
		near[0] == name[0] {
		hint = fmt.Sprintf("did you mean %s %s? %s", of, near, hint)
	}
	if of == c.App.HelpName {
		return exit.Usagef(hint+"; to serve a directory: gophd DIR",
			"no directory and no command is called %q", name)
	}
	return exit.Usagef(hint, "unknown command %q",
		strings.TrimPrefix(of, c.App.HelpName+" ")+" "+name)
}

// badUsage returns the error for an unknown flag or a wrong value.
func badUsage(c *cli.Context, err error, _ bool) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		for _, f := range c.Command.Flags {
			if o, ok := f.(*option); ok && o.failed != nil {
				return o.failed
			}
		}
		if errors.As(err, new(*exit.CommandError)) { // of a variable
			return err
		}
		return exit.Usagef(c.Command.HelpName+
			" -help lists the flags; a DURATION is written 90s or 10m", "%w", err)
	}
	hint := c.Command.HelpName +
		" -help lists the flags; an argument that begins with - stands after --"
	if near := strings.TrimLeft(cli.SuggestFlag(c.Command.Flags, name, false), "-"); near != "" &&
		diag.Distance(near, name, 3) < 3 {
		hint = "did you mean -" + near + "? " + hint
	}
	return exit.Usagef(hint, "unknown flag %q", "-"+name)
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
