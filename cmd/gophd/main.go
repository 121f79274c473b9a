// Command gophd serves a directory over Gopher and keeps its robots.txt. See
// doc/gophd.8.md for the manual.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/exit"
)

func main() { os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// run is the program: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := newApp()
	app.Reader, app.Writer, app.ErrWriter = stdin, stdout, stderr
	return exit.Report(stderr, app.Run(ctx, args))
}

func newApp() *cli.Command {
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Category: catOther, Usage: "print the version", Local: true}
	cli.HelpFlag = &cli.BoolFlag{Name: "help", Category: catOther, Aliases: []string{"h"}, Usage: "print this", Local: true}
	cli.VersionPrinter = func(c *cli.Command) { _, _ = fmt.Fprintf(c.Writer, "gophd %s\n", c.Version) }
	cli.HelpPrinter = printHelp
	flags := &daemon.Flags{Version: version()}
	return &cli.Command{
		Name: "gophd", Version: flags.Version, Flags: serveFlags(flags),
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := takeRoot(c, flags); err != nil {
				return err
			}
			conf, err := flags.Config()
			if err != nil {
				return err
			}
			return daemon.Run(ctx, conf, c.Root().ErrWriter)
		},
		Commands:     []*cli.Command{robotsCommand(), getCommand()},
		Suggest:      true,
		OnUsageError: badUsage,
		ExitErrHandler: func(context.Context, *cli.Command, error) {
		},
	}
}

// takeRoot takes the one argument that is a directory as the root.
func takeRoot(c *cli.Command, flags *daemon.Flags) error {
	arg := c.Args().First()
	switch _, err := os.Stat(arg); {
	case arg == "":
		return nil
	case c.NArg() > 1:
		return exit.Usagef("gophd DIR serves one directory", "unexpected argument %q", c.Args().Get(1))
	case err != nil && flags.Root != "":
		return exit.Usagef("gophd -help tells what it takes", "unexpected argument %q", arg)
	case err != nil && !strings.ContainsAny(arg, "./"):
		return unknownCommand(c)
	case flags.Root != os.Getenv("GOPHD_ROOT"): // which an argument overrides
		return exit.Usagef("leave one of them out", "two directories to serve: -root %s and %s", flags.Root, arg)
	}
	flags.Root = arg
	return nil
}

func unknownCommand(c *cli.Command) error {
	name := c.Args().First()
	hint := fmt.Sprintf("did you mean %s %s? %[1]s -help lists the commands", c.FullName(), cli.SuggestCommand(c.Commands, name))
	if c.Root() == c {
		hint += "; to serve a directory: gophd DIR"
	}
	return exit.Usagef(hint, "unknown command %q", strings.TrimSpace(strings.TrimPrefix(c.FullName(), "gophd")+" "+name))
}

// badUsage is called for a flag that is not known, or whose value does not parse.
func badUsage(_ context.Context, c *cli.Command, err error, _ bool) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return exit.Usagef(c.FullName()+" -help lists the flags; a DURATION is written 90s or 10m", "%w", err)
	}
	if len(commands(c)) > 0 && c.Args().Present() {
		return unknownCommand(c) // whose flag it is
	}
	hint := c.FullName() + " -help lists the flags; an argument that begins with - stands behind --"
	if near := strings.TrimLeft(cli.SuggestFlag(c.Flags, name, false), "-"); near != "" {
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
