package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// Categories of flags, in the order of the help.
const (
	catContent = "1 Content"
	catNetwork = "2 Network"
	catLimits  = "3 Limits"
	catWatch   = "4 Changes"
	catLog     = "5 Log"
	catRights  = "6 Rights"
	catOther   = "9 Other"
)

func env(name string) []string {
	return []string{"GOPHD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}

func rootFlag() cli.Flag {
	return &cli.StringFlag{Name: "root", Usage: "`DIR` the directory to serve", Category: catContent, EnvVars: env("root")}
}

func serveFlags() []cli.Flag {
	return slices.Concat(contentFlags(), listenFlags(), networkFlags(), tlsFlags(), watchFlags(), logFlags(), accessFlags(), statsFlags(), rightsFlags())
}

func contentFlags() []cli.Flag {
	return []cli.Flag{
		rootFlag(),
		&cli.BoolFlag{Name: "strict-text", Usage: "texts end with a dot, as in RFC 1436", Category: catContent, EnvVars: env("strict-text")},
		&cli.BoolFlag{Name: "info-prefix", Usage: "text lines in gophermaps begin with i (Motsognir)", Category: catContent, EnvVars: env("info-prefix")},
		&cli.StringFlag{Name: "cache", Value: "64MiB", Usage: "`SIZE` memory for replies, 0: none", Category: catContent, EnvVars: env("cache")},
	}
}

func listenFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "listen", Usage: "`ADDR` where to listen; may be repeated (default :70)", Category: catNetwork, EnvVars: env("listen")},
		&cli.BoolFlag{Name: "inetd", Usage: "serve one connection, on standard input and output", Category: catNetwork, EnvVars: env("inetd")},
		&cli.StringFlag{Name: "host", Usage: "`NAME` of this host in menus (default: the machine's)", Category: catNetwork, EnvVars: env("host")},
		&cli.IntFlag{Name: "port", Usage: "`PORT` in menus (default: the one reached)", Category: catNetwork, EnvVars: env("port")},
		&cli.DurationFlag{Name: "request-timeout", Value: 10 * time.Second, Usage: "`DURATION` from accept to the request's end", Category: catLimits, EnvVars: env("request-timeout")},
		&cli.DurationFlag{Name: "stall-timeout", Value: time.Minute, Usage: "`DURATION` ends a reply without progress", Category: catLimits, EnvVars: env("stall-timeout")},
		&cli.DurationFlag{Name: "drain", Value: 10 * time.Second, Usage: "`DURATION` for open replies after SIGTERM", Category: catLimits, EnvVars: env("drain")},
	}
}

func watchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "watch", Value: "inotify", Usage: "`MODE` inotify, poll or off", Category: catWatch, EnvVars: env("watch")},
		&cli.DurationFlag{Name: "poll", Value: 5 * time.Minute, Usage: "`DURATION` between reading all anew", Category: catWatch, EnvVars: env("poll")},
	}
}

func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "quiet", Usage: "warnings and errors only", Category: catLog, EnvVars: env("quiet")},
		&cli.BoolFlag{Name: "v", Usage: "connections without a request, too", Category: catLog, EnvVars: env("v")},
		&cli.StringFlag{Name: "log-format", Value: "auto", Usage: "`FORMAT` text, json, or auto: by terminal", Category: catLog, EnvVars: env("log-format")},
	}
}

// appHelp lists the flags by category, on one screen.
const appHelp = `gophd: {{.Usage}}

Usage:
  gophd -root DIR [FLAG]...                  serve a directory
  gophd robots show|check|explain -root DIR  its robots.txt, the proof, and why
  gophd robots test|lint|convert ...         any robots.txt, in any dialect
  gophd get URL                              fetch, for scripts

{{range .VisibleFlagCategories}}{{title .Name}}
{{range .Flags}}  {{flagLine .}}
{{end}}{{end}}
gophd COMMAND -help tells more. Every flag has an environment variable: -root is
GOPHD_ROOT. Exit status: 0, 1 (the answer is no), 2 (usage), 3 (failure).
`
