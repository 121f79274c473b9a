package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/getcmd"
)

func getCommand() *cli.Command {
	g := &getcmd.Get{}
	return &cli.Command{
		Name: "get", Usage: "fetch a Gopher URL to standard output", ArgsUsage: "URL",
		Flags: []cli.Flag{
			ofCommand.yes(&g.Raw, "raw", "as the server sent it"),
			ofCommand.duration(&g.Timeout, "timeout", 30*time.Second, "`DURATION` for the whole"),
			ofCommand.text(&g.MaxSize, "max-size", "1GiB", "`SIZE` after which to give up"),
			ofCommand.yes(&g.Insecure, "insecure", "take any certificate (gophers)"),
		},
		Action: func(c *cli.Context) error {
			g.Out = c.App.Writer
			args, err := arguments(c)
			if err != nil {
				return err
			}
			return g.Get(c.Context, args)
		},
		OnUsageError: badUsage, HideHelpCommand: true,
	}
}
