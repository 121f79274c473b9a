// Command gophd serves a directory over Gopher and keeps its robots.txt. See
// doc/gophd.8.md for the manual.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func main() { os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// run is the program: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := newApp(stdin, stdout, stderr)
	args, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	return exit(err, stderr)
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Category: catOther, Usage: "print the version"}
	cli.HelpFlag = &cli.BoolFlag{Name: "help", Category: catOther, Aliases: []string{"h"}, Usage: "print this"}
	cli.VersionPrinter = func(c *cli.Context) { _, _ = fmt.Fprintf(c.App.Writer, "gophd %s\n", c.App.Version) }
	cli.HelpPrinter = printHelp
	return &cli.App{
		Name:      "gophd",
		Usage:     "a Gopher server whose robots.txt is always right",
		UsageText: "gophd -root DIR [-listen ADDR]...\ngophd COMMAND ...",
		Version:   version(),
		Flags:     serveFlags(),
		Action:    serve,
		Commands:  []*cli.Command{robotsCommand(), getCommand()},
		Reader:    stdin, Writer: stdout, ErrWriter: stderr,
		CustomAppHelpTemplate: appHelp,
		HideHelpCommand:       true,
		OnUsageError:          badUsage,
		ExitErrHandler:        func(*cli.Context, error) {},
	}
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
