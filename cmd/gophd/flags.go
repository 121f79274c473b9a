package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/server"
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

// Every flag is made by one of these functions, with what it sets, its name, its
// default, and its help, in which the value is named between backquotes.

func text(to *string, name, value, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Destination: to, Value: value, Usage: usage, Sources: env(name), Local: true}
}

func list(to *[]string, name, usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: name, Destination: to, Usage: usage, Sources: env(name), Local: true}
}

func yes(to *bool, name, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Destination: to, Usage: usage, Sources: env(name), Local: true}
}

func number(to *int, name string, value int, usage string) cli.Flag {
	return &cli.IntFlag{Name: name, Destination: to, Value: value, Usage: usage, Sources: env(name), Local: true}
}

func duration(to *time.Duration, name string, value time.Duration, usage string) cli.Flag {
	return &cli.DurationFlag{Name: name, Destination: to, Value: value, Usage: usage, Sources: env(name), Local: true}
}

func env(name string) cli.ValueSourceChain {
	return cli.EnvVars("GOPHD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
}

// in puts flags into a category.
func in(category string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		f.(cli.CategorizableFlag).SetCategory(category)
	}
	return flags
}

func serveFlags(f *daemon.Flags) []cli.Flag {
	return slices.Concat(
		in(catContent,
			text(&f.Root, "root", "", "`DIR` the directory to serve"),
			yes(&f.StrictText, "strict-text", "texts end with a dot, as in RFC 1436"),
			yes(&f.InfoPrefix, "info-prefix", "text lines in gophermaps begin with i (Motsognir)"),
			text(&f.Cache, "cache", "64MiB", "`SIZE` memory for replies, 0: none"),
		),
		in(catNetwork,
			list(&f.Listen, "listen", "`ADDR` where to listen; may be repeated (default :70)"),
			yes(&f.Inetd, "inetd", "serve one connection, on standard input and output"),
			text(&f.Host, "host", "", "`NAME` of this host in menus (default: the machine's)"),
			number(&f.Port, "port", 0, "`PORT` in menus (default: the one reached)"),
			text(&f.HTTP, "http", "on", "`MODE` answer HTTP with a page: on or off"),
			list(&f.TrustProxy, "trust-proxy", "`CIDR` of proxies that send PROXY headers"),
			list(&f.TLSCert, "tls-cert", "`FILE` of a certificate: TLS, on the same port"),
			list(&f.TLSKey, "tls-key", "`FILE` of its key"),
			text(&f.TLSSelfSigned, "tls-self-signed", "", "`DIR` to make and keep a certificate in"),
		),
		in(catLimits,
			duration(&f.RequestTimeout, "request-timeout", 10*time.Second, "`DURATION` from accept to the request's end"),
			duration(&f.StallTimeout, "stall-timeout", time.Minute, "`DURATION` ends a reply without progress"),
			duration(&f.Drain, "drain", 10*time.Second, "`DURATION` for open replies after SIGTERM"),
			number(&f.MaxConns, "max-conns", 0, "`N` connections (default: half the limit of files)"),
			number(&f.MaxConnsPerIP, "max-conns-per-ip", server.DefaultMaxConnsPerIP, "`N` of one address or IPv6 /64; 0 is any"),
			&cli.FloatFlag{Name: "rate", Destination: &f.Rate, Usage: "`N` requests a second per address; 0 is any", Sources: env("rate"), Local: true},
			number(&f.Burst, "burst", server.DefaultBurst, "`N` requests at once, with -rate"),
		),
		in(catWatch,
			text(&f.Watch, "watch", "inotify", "`MODE` inotify, poll or off"),
			duration(&f.Poll, "poll", 5*time.Minute, "`DURATION` between reading all again"),
		),
		in(catLog,
			yes(&f.Quiet, "quiet", "warnings and errors only"),
			yes(&f.Verbose, "v", "connections without a request, too"),
			text(&f.LogFormat, "log-format", "auto", "`FORMAT` text, json, or auto: by terminal"),
			text(&f.AccessLog, "access-log", "", "`FILE` for a line per request, in Apache's form"),
			text(&f.LogIPs, "log-ips", "full", "`FORM` of addresses: full, masked or none"),
			list(&f.Status, "status", "`CIDR` of those who may see /server-status, repeatable"),
			text(&f.Metrics, "metrics", "", "`ADDR` for Prometheus, such as localhost:9170"),
		),
		in(catRights,
			text(&f.User, "user", "", "`USER[:GROUP]` to become once gophd listens"),
			text(&f.Sandbox, "sandbox", "auto", "`MODE` require, auto (what works) or off"),
			yes(&f.SandboxParent, "sandbox-parent", "the sandbox shows DIR's parent, so that DIR can be exchanged by a rename"),
		),
	)
}
