package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/robotscmd"
)

// robotsCommand groups the subcommands about robots.txt.
func robotsCommand() *cli.Command {
	r := &robotscmd.Command{Version: version()}
	root := func(more ...cli.Flag) []cli.Flag {
		return append(append(more, row(&r.Root, "root", "", "`DIR` the directory to serve")),
			siteFlags(&r.Serve)...)
	}
	agent := func() cli.Flag {
		return row(&r.Agent, "agent", "*", "`NAME` the robot's product token")
	}
	asJSON := func() cli.Flag { return row(&r.JSON, "json", "", "answer in JSON") }
	hosts := func(more ...cli.Flag) []cli.Flag {
		return append(more,
			row(&r.Timeout, "timeout", "30s", "`DURATION` for requests to a host"),
			row(&r.Insecure, "insecure", "", "accept any certificate"), asJSON())
	}
	target := func(more ...cli.Flag) []cli.Flag {
		return append(hosts(more...),
			row(&r.MaxSize, "max-size", "500KiB", "`SIZE` at which reading stops"))
	}
	dialect := func() cli.Flag {
		return row(&r.Dialect, "dialect", "", "`D` to read it in (default: by target)")
	}
	of := func(name, usage, args, description string, do func(context.Context) error,
		flags ...cli.Flag) *cli.Command {
		return command(name, usage, args, description, func(c *cli.Context, args []string) error {
			r.Name = c.Command.HelpName
			r.In = c.App.Reader
			r.Out = c.App.Writer
			r.Err = c.App.ErrWriter
			r.Args = args
			return do(c.Context)
		}, flags...)
	}
	return &cli.Command{
		Name:  "robots",
		Usage: "make, test and explain robots.txt",
		Subcommands: []*cli.Command{
			of("show", "print the robots.txt of a directory", "DIR", showHelp, r.Show, root(
				row(&r.Format, "format", "gopher", "`F` gopher, rfc9309, 1994, extended or ircv3"),
				row(&r.Annotate, "annotate", "", "above each rule the line it comes from"),
				row(&r.Hash, "hash", "",
					"only the SHA-256 of the policy, whatever its spelling, and of the file"))...),
			of("check", "likely mistakes, and how each robot reads the file",
				"DIR [URL] | DIR [-at /~NAME/]", checkHelp, r.Check, hosts(root(
					row(&r.At, "at", "", "`PREFIX` where a server has DIR: /~NAME/ for a user's"),
					row(&r.Verbose, "v", "", "notices, too: facts that need no change"))...)...),
			of("explain", "why a robot may fetch a selector or not", "DIR SELECTOR...", explainHelp,
				r.Explain, root(agent(), asJSON())...),
			of("test", "may a robot fetch these selectors?", "TARGET SELECTOR...",
				testHelp+targetHelp, r.Test, target(dialect(), agent())...),
			of("lint", "lines that do nothing, or not what you meant", "TARGET...",
				lintHelp+targetHelp, r.Lint, target(dialect())...),
			of("convert", "write a robots.txt in another dialect", "-to D TARGET",
				convertHelp+targetHelp, r.Convert, target(
					row(&r.From, "from", "",
						"`D` the dialect it is written in (default: by target)"),
					row(&r.To, "to", "", "`D` the dialect to write, or content-usage, content-signal"))...),
			of("kit", "files, questions and answers to test a robot with", "[-root TREE] DIR",
				kitHelp, r.Kit, root()...),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c)
			}
			return exit.Usagef("gophd robots -help lists them", "robots needs a command")
		},
		OnUsageError: badUsage,
	}
}

// The help of the robots commands; each text closes the help of a command.
const (
	showHelp = `
F gopher is the file as it is served; the others are the same policy in another
standard. Rules that it cannot express are listed on standard error.
`
	kitHelp = `
Writes into DIR robots.txt files, selectors, and what each standard and each known
reader makes of them, as JSON, with a README.md for authors of robots; with -root the
robots.txt of that tree, too. It overwrites nothing.
`
	checkHelp = `
Prints likely mistakes in the annotations below DIR, and for each kind of robot
what it fetches although it must not (leaks), or leaves although it may
(over-blocks). The robots.txt at URL is compared, and proven, too. Exit status 1
for an error, a leak without a report, or a difference.
`
	explainHelp = `
Prints for each SELECTOR what the annotations below DIR say to robot NAME, which
line decides, which lines it overrules, the line of robots.txt for it, and how
each kind of robot reads it. Exit status 1 if the policy denies any.
`
	testHelp = `
Exit status 1 if any selector is denied. For an IRC network the selector may be
left out: its CRAWLER token speaks for all of it.
`
	lintHelp = `
Exit status 1 if there is more than notices.
`
	convertHelp = `
Rules that the other dialect cannot express are listed on standard error.
`
	targetHelp = `
TARGET is a robots.txt, - (standard input), a directory, or a URL of the scheme
gopher, gophers, gemini, http, https, irc or ircs.
D is gopher (with groups), gopher-strict, veronica2, rfc9309, 1994, extended or
gemini. Without it: rfc9309 for http, https and gemini, else gopher.
`
)
