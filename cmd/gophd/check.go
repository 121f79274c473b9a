package main

import (
	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/check"
)

func checkCommand() *cli.Command {
	k := &check.Check{}
	return &cli.Command{
		Name: "check", Usage: "what a directory gains and loses when gophd serves it", ArgsUsage: "DIR", Description: moveHelp,
		Flags: append([]cli.Flag{
			ofCommand.text(&k.Host, "host", "", "`NAME` of the server in menus (default: found in the maps)"),
			ofCommand.text(&k.User, "user", "", "`USER` who will serve (default: you; if that is root, nobody)"),
			ofCommand.yes(&k.JSON, "json", "answer in JSON"),
		}, ofCommand.siteFlags(&k.Serve)...),
		Action: func(c *cli.Context) error {
			k.Out, k.Err = c.App.Writer, c.App.ErrWriter
			args, err := arguments(c)
			if err != nil {
				return err
			}
			return k.Check(c.Context, args)
		},
		OnUsageError: badUsage, HideHelpCommand: true,
	}
}

const moveHelp = `
Before you move in, in cron or in CI: programs that other servers ran, lines of maps
that are read as text, links that lead nowhere or out of the directory, names that
nobody can ask for, files that USER cannot read, and what is doubtful in .robots
files. Exit status 1 if something is lost.
`
