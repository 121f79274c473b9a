package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/initcmd"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "make a small hole that is a good example", ArgsUsage: "DIR",
		Action: func(c *cli.Context) error {
			args, err := arguments(c)
			if err != nil {
				return err
			}
			return initcmd.Init(c.App.Writer, args, time.Now())
		},
		OnUsageError: badUsage, HideHelpCommand: true,
	}
}

func checkConfigCommand() *cli.Command {
	flags := &daemon.Flags{Version: version()}
	return &cli.Command{
		Name: "check-config", Usage: "do as a start does, tell what it would tell, and serve nobody", ArgsUsage: "DIR",
		Flags: serveFlags(flags),
		Action: func(c *cli.Context) error {
			if err := takeRoot(c, flags); err != nil {
				return err
			}
			conf, err := flags.Settings()
			if err != nil {
				return err
			}
			if err := daemon.Check(c.Context, conf, c.App.ErrWriter); err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.App.Writer, "gophd would start")
			return err
		},
		OnUsageError: badUsage, HideHelpCommand: true,
	}
}
