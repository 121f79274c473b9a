package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/command/check"
	"github.com/gophd/gophd/internal/command/doctor"
	"github.com/gophd/gophd/internal/command/getcmd"
	"github.com/gophd/gophd/internal/command/initcmd"
	"github.com/gophd/gophd/internal/command/manualcmd"
	"github.com/gophd/gophd/internal/command/wirecmd"
	"github.com/gophd/gophd/internal/daemon"
)

func initCommand() *cli.Command {
	return command("init", "make a small hole that is a good example", "DIR", "",
		func(c *cli.Context, args []string) error {
			return initcmd.Init(c.App.Writer, args, time.Now())
		})
}

func checkCommand() *cli.Command {
	k := &check.Check{}
	return command("check", "what would stop working if gophd served DIR", "DIR", moveHelp,
		func(c *cli.Context, args []string) error {
			k.Out, k.Progress = c.App.Writer, c.App.ErrWriter
			return k.Check(c.Context, args)
		}, append([]cli.Flag{
			row(&k.Host, "host", "", "`NAME` of the server in menus (default: found in the maps)"),
			row(&k.Account, "user", "", "`USER` to check for (default: you; as root: nobody)"),
			row(&k.JSON, "json", "", "answer in JSON"),
			row(&k.Against.URL, "against", "",
				"`URL` of the running old server: what it answers, beside gophd"),
			row(&k.Against.Mine, "mine", "",
				"that server is yours: no pause, and its robots.txt is not heeded"),
			row(&k.From, "from", "",
				"`SERVER` whose configuration (in place of DIR) becomes gophd's flags"),
		}, siteFlags(&k.Serve, "vhost", "charset")...)...)
}

const moveHelp = `
Before you move in, in cron or in CI: programs that other servers ran, lines of maps
that are read as text, links that lead nowhere or out of the directory, files that
nothing links, names that no client can request, files that USER cannot read, and
likely mistakes in .robots files. Links are requested as by clients of Gopher, Gemini and
the web. Exit status 1 if something is lost.
`

func doctorCommand() *cli.Command {
	d := &doctor.Doctor{Parse: parseSettings}
	flags := &daemon.Flags{Version: version()}
	serve := serveFlags(flags)
	return command("doctor", "what is wrong with an installed gophd, and what to type", "[DIR]",
		doctorHelp, func(c *cli.Context, args []string) error {
			d.Out, d.Err = c.App.Writer, c.App.ErrWriter
			for _, f := range serve {
				d.Args = append(d.Args, f.(*option).typed...)
			}
			d.Args = append(d.Args, args...)
			if len(args) > 0 {
				flags.Root = args[0]
			}
			if d.AsService || len(d.Args) > 0 || flags.Root != "" && !d.Installed(c.Context) {
				d.Settings, d.Failed = flags, checkEnvironment(c.App)
			}
			return d.Run(c.Context)
		}, append([]cli.Flag{
			row(&d.JSON, "json", "", "answer in JSON"),
			row(&d.Only, "only", "", "`CHECK` alone"),
			row(&d.AsService, "as-service", "", "what this process sees of the disk, in JSON"),
		}, serve...)...)
}

// parseSettings reads the arguments and variables of a server, in place of this process'.
func parseSettings(args, env []string) (*daemon.Flags, error) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "GOPHD_") {
			_ = os.Unsetenv(name)
		}
	}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		_ = os.Setenv(name, value)
	}
	flags := &daemon.Flags{Version: version()}
	app := newApp()
	app.Flags, app.Before = serveFlags(flags), nil
	app.Action = func(c *cli.Context) error {
		args, err := arguments(c)
		if err == nil {
			_, err = settings(c, flags, args)
		}
		return err
	}
	words := append([]string{"gophd"}, args...)
	app.Metadata = map[string]any{"typed": words}
	app.Writer, app.ErrWriter = io.Discard, io.Discard
	return flags, app.Run(words)
}

var doctorHelp = `
Asks systemd for the state of the service, examines settings and tree with the account and
the namespaces of the service, and asks the live server over each protocol. With DIR or
flags of the server it examines that server instead of the service. One line for each
check: "ok:", "unknown:", or "fault:" and the command to type. It changes nothing; as root it
sees more. Exit status 1 if there is a fault. CHECK is one of
` + doctor.Names() + `.
`

func checkConfigCommand() *cli.Command {
	flags := &daemon.Flags{Version: version()}
	return command("check-config", "check all that a start needs, and exit", "DIR", "",
		func(c *cli.Context, args []string) error {
			conf, err := settings(c, flags, args)
			if err != nil {
				return err
			}
			if err := daemon.Check(c.Context, conf, c.App.ErrWriter); err != nil {
				return advise(err, seeDoctor)
			}
			_, err = fmt.Fprintln(c.App.Writer, "gophd would start")
			return err
		}, serveFlags(flags)...)
}

func manualCommand() *cli.Command {
	m := &manualcmd.Manual{}
	return command("manual", "list the pages of the manual, or print one", "[PAGE]", "",
		func(c *cli.Context, args []string) error {
			m.Out = c.App.Writer
			return m.Run(args)
		},
		row(&m.Dir, "dir", "", "print where the pages lie"),
		row(&m.Unpack, "unpack", "", "`DIR` to write the pages into"))
}

func getCommand() *cli.Command {
	g := &getcmd.Get{}
	return command("get", "fetch a URL of Gopher, Gemini, Spartan, Nex or Finger", "URL", "",
		func(c *cli.Context, args []string) error {
			g.Out = c.App.Writer
			return g.Get(c.Context, args)
		},
		row(&g.Raw, "raw", "", "as the server sent it"),
		row(&g.Timeout, "timeout", "30s", "`DURATION` for the whole"),
		row(&g.MaxSize, "max-size", "1GiB", "`SIZE` after which to give up"),
		row(&g.Insecure, "insecure", "", "accept any certificate, for gemini also a changed one"))
}

func wireCommand() *cli.Command {
	w := &wirecmd.Wire{}
	return command("wire", "send a Gopher server forty requests, and judge its replies",
		"HOST:PORT...", wireHelp, func(c *cli.Context, args []string) error {
			w.Out = c.App.Writer
			return w.Run(c.Context, args)
		},
		row(&w.Timeout, "timeout", "5s", "`DURATION` to wait for one reply"),
		row(&w.JSON, "json", "", "answer in JSON"))
}

const wireHelp = `
For each request what the reply means, and by which document: empty, long, slow,
unfinished, encoded, with control bytes, over HTTP and TLS, for robots.txt. It sends
nothing harmful: short requests, one after the other, for names that do not exist. Several
servers give a table. Exit status 1 if a reply is wrong.
`

// command makes a command that takes flags and then arguments.
func command(name, usage, args, description string, do func(c *cli.Context, args []string) error,
	flags ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name:        name,
		Usage:       usage,
		ArgsUsage:   args,
		Description: description,
		Flags:       flags,
		Action: func(c *cli.Context) error {
			args, err := arguments(c)
			if err != nil {
				return err
			}
			return do(c, args)
		},
		OnUsageError:    badUsage,
		HideHelpCommand: true,
	}
}
