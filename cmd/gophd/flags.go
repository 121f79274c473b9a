package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/watch"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

func serveFlags(f *daemon.Flags) []cli.Flag {
	return append(catContent.siteFlags(f), []cli.Flag{
		catContent.text(&f.Root, "root", "", "`DIR` the directory to serve"),
		catContent.list(&f.VHosts, "vhost", "`NAME=DIR` another site, chosen by TLS name or by -listen ADDR=NAME"),
		catContent.list(&f.Aliases, "alias", "`NAME` another name of the site, NAME=HOST of a -vhost"),
		catContent.yes(&f.StrictText, "strict-text", "texts end with a dot, as in RFC 1436"),
		catContent.yes(&f.InfoPrefix, "info-prefix", "text lines in gophermaps begin with i (Motsognir)"),
		catContent.text(&f.SearchDir, "search-dir", "", "`DIR` for the index, in a directory that is not served (default: in memory)"),
		catContent.text(&f.SearchMemory, "search-memory", daemon.DefaultSearchMemory, "`SIZE` limit of the index"),
		catContent.yes(&f.SearchAll, "search-all", "also search what robots must not fetch"),
		catContent.yes(&f.Dates, "dates", "date and size after each name of a listing"),
		catContent.text(&f.Charset, "charset", "auto", "`NAME` of texts that are not UTF-8: latin1 or utf-8"),
		catContent.text(&f.Cache, "cache", "64MiB", "`SIZE` memory for replies, 0: none"),
		catNetwork.list(&f.Listen, "listen", "`ADDR` where to listen; may be repeated (default :70)"),
		catNetwork.yes(&f.Inetd, "inetd", "serve one connection, on standard input and output"),
		catNetwork.text(&f.Host, "host", "", "`NAME` of this host in menus (default: the machine's)"),
		catNetwork.number(&f.Port, "port", 0, "`PORT` in menus (default: the one reached)"),
		catNetwork.text(&f.HTTP, "http", "page", "`MODE` for browsers: page, view (the site) or off"),
		catNetwork.text(&f.HTTPTheme, "http-theme", "plain", "`THEME` how pages look: plain, paper or terminal"),
		catNetwork.list(&f.HTTPLang, "http-lang", "`TAG` the language of the texts, or NAME=TAG of one -vhost (default: guessed)"),
		catNetwork.list(&f.TrustProxy, "trust-proxy", "`CIDR` of proxies that send PROXY headers"),
		catNetwork.list(&f.TLSCert, "tls-cert", "`FILE` of a certificate: TLS, on the same port"),
		catNetwork.list(&f.TLSKey, "tls-key", "`FILE` with its key, in a directory that is not served"),
		catNetwork.list(&f.Gemini, "gemini", "`ADDR` where to listen for Gemini, such as :1965; needs a certificate"),
		catNetwork.list(&f.Spartan, "spartan", "`ADDR` where to listen for Spartan, such as :300"),
		catNetwork.list(&f.Nex, "nex", "`ADDR` where to listen for Nex, such as :1900"),
		catNetwork.list(&f.Finger, "finger", "`ADDR` where to listen for Finger, such as :79"),
		catNetwork.text(&f.TLSSelfSigned, "tls-self-signed", "", "`DIR` for certificates made once, in no served directory"),
		catLimits.duration(&f.RequestTimeout, "request-timeout", server.DefaultRequestTimeout, "`DURATION` from accept to the request's end"),
		catLimits.duration(&f.StallTimeout, "stall-timeout", server.DefaultStallTimeout, "`DURATION` ends a reply without progress"),
		catLimits.duration(&f.Drain, "drain", server.DefaultDrainTimeout, "`DURATION` for open replies after SIGTERM"),
		catLimits.number(&f.MaxConns, "max-conns", 0, "`N` open connections (default: half the open-file limit)"),
		catLimits.number(&f.MaxConnsPerIP, "max-conns-per-ip", server.DefaultMaxConnsPerIP, "`N` of one address or IPv6 /56; 0 is any"),
		catLimits.text(&f.Enforce, "enforce", "off", "`MODE` make robots obey the file that they fetched: off, slow, refuse"),
		catLimits.list(&f.EnforceSpare, "enforce-spare", "`CIDR` that -enforce spares, such as a public proxy"),
		catLimits.fraction(&f.Rate, "rate", "`N` requests a second per address; 0 is any"),
		catLimits.number(&f.Burst, "burst", server.DefaultBurst, "`N` requests at once, with -rate"),
		catWatch.text(&f.Watch, "watch", "inotify", "`MODE` inotify, poll or off"),
		catWatch.duration(&f.Poll, "poll", watch.DefaultPoll, "`DURATION` between two readings of everything"),
		catWatch.duration(&f.PollRemote, "poll-remote", watch.DefaultPollRemote, "`DURATION` between looks at network file systems"),
		catLog.yes(&f.Quiet, "quiet", "warnings and errors only"),
		catLog.yes(&f.Verbose, "v", "requests, and connections without one, too"),
		catLog.text(&f.LogFormat, "log-format", "auto", "`FORMAT` short, text, json, or auto: by the reader"),
		catLog.text(&f.AccessLog, "access-log", "", "`FILE` for a line per request, in a directory that is not served"),
		catLog.text(&f.LogIPs, "log-ips", "full", "`FORM` of addresses: full, masked or none"),
		catLog.list(&f.Status, "status", "`CIDR` addresses that may see /server-status, repeatable"),
		catLog.text(&f.Metrics, "metrics", "", "`ADDR` for Prometheus, such as localhost:9170"),
		catRights.text(&f.User, "user", "", "`USER[:GROUP]` switch to it once ports are open"),
		catRights.text(&f.Sandbox, "sandbox", "auto", "`MODE` require, auto (what works) or off"),
		catRights.yes(&f.SandboxParent, "sandbox-parent", "the sandbox shows DIR's parent, so that DIR can be exchanged by a rename"),
	}...)
}

// A category of flags, in the order of the help. Its methods make a flag, with
// what it sets, its name, its default, and its help, in which the value is named
// between backquotes. Each has the environment variable of its name.
type category string

const (
	catContent category = "1 Content"
	catNetwork category = "2 Network"
	catLimits  category = "3 Limits"
	catWatch   category = "4 Changes"
	catLog     category = "5 Log"
	catRights  category = "6 Rights"
	catOther   category = "9 Other"
	ofCommand  category = "" // flags of a command have none
)

func (c category) text(to *string, name, value, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Destination: to, Value: value, Usage: usage, Category: string(c), EnvVars: env(name)}
}

func (c category) fraction(to *float64, name, usage string) cli.Flag {
	return &cli.Float64Flag{Name: name, Destination: to, Usage: usage, Category: string(c), EnvVars: env(name)}
}

func (c category) duration(to *time.Duration, name string, value time.Duration, usage string) cli.Flag {
	return &cli.DurationFlag{Name: name, Destination: to, Value: value, Usage: usage, Category: string(c), EnvVars: env(name)}
}

// siteFlags returns the flags for the parts of a site besides its root directory.
func (c category) siteFlags(f *daemon.Flags) []cli.Flag {
	return []cli.Flag{
		c.text(&f.Users, "users", "", "`PATTERN` serves users' trees, such as /home/*/public_gopher"),
		c.number(&f.UsersMinUID, "users-min-uid", site.DefaultUsersMinUID, "`UID` from which on accounts are users"),
		c.list(&f.Mounts, "mount", "`PREFIX=DIR` serves DIR as /PREFIX/, too; may be repeated"),
		c.list(&f.FastCGI, "fastcgi", "`PREFIX=SOCKET` a program answers; or '*.EXT=SOCKET', menus=SOCKET"),
		c.yes(&f.Search, "search", "/search finds texts of the site"),
		c.yes(&f.Sitemap, "sitemap", "/sitemap.xml lists what robots may fetch"),
	}
}

func (c category) number(to *int, name string, value int, usage string) cli.Flag {
	return &cli.IntFlag{Name: name, Destination: to, Value: value, Usage: usage, Category: string(c), EnvVars: env(name)}
}

func (c category) list(to *[]string, name, usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: name, Usage: usage, Category: string(c), EnvVars: env(name),
		Action: func(_ *cli.Context, values []string) error { *to = values; return nil }}
}

func (c category) yes(to *bool, name, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Destination: to, Usage: usage, Category: string(c), EnvVars: env(name)}
}

func env(name string) []string {
	return []string{"GOPHD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}
