package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gophd/gophd/internal/getcmd"
)

func getCommand() *cli.Command {
	g := &getcmd.Command{}
	return &cli.Command{
		Name: "get", Usage: "fetch a Gopher URL to standard output", ArgsUsage: "URL",
		Flags: []cli.Flag{
			yes(&g.Raw, "raw", "as the server sent it"),
			duration(&g.Timeout, "timeout", 30*time.Second, "`DURATION` for the whole"),
			text(&g.MaxSize, "max-size", "1GiB", "`SIZE` after which to give up"),
			yes(&g.Insecure, "insecure", "take any certificate (gophers)"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			g.Out = c.Root().Writer
			return g.Get(ctx, c.Args().Slice())
		},
		OnUsageError: badUsage, HideHelpCommand: true,
	}
}
