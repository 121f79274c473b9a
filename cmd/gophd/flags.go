package main

import (
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/internal/process/logs"
	"github.com/gophd/gophd/internal/watch"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

func serveFlags(f *daemon.Flags) []cli.Flag {
	sites := []cli.Flag{
		catContent.text(&f.Root, "root", "", "`DIR` the directory to serve"),
		catContent.list(&f.VHosts, "vhost", "`NAME=DIR` another site, chosen by TLS name or by -listen ADDR=NAME"),
		catContent.list(&f.Aliases, "alias", "`NAME` another name of the site, NAME=HOST of a -vhost"),
	}
	return append(append(sites, catContent.siteFlags(f)...),
		catContent.yes(&f.StrictText, "strict-text", "texts end with a dot, as in RFC 1436"),
		catContent.yes(&f.InfoPrefix, "info-prefix", "text lines in gophermaps begin with i (Motsognir)"),
		catContent.text(&f.SearchDir, "search-dir", "", "`DIR` for the index, in a directory that is not served (default: in memory)").of("-search"),
		catContent.size(&f.SearchMemory, "search-memory", daemon.DefaultSearchMemory, "`SIZE` limit of the index").of("-search"),
		catContent.yes(&f.SearchAll, "search-all", "also search what robots must not fetch").of("-search"),
		catContent.yes(&f.Dates, "dates", "date and size after each name of a listing"),
		catContent.charset(f),
		catContent.size(&f.Cache, "cache", "64MiB", "`SIZE` memory for replies, 0: none"),
		catNetwork.list(&f.Listen, "listen", "`ADDR` where to listen; may be repeated (default :70)"),
		catNetwork.yes(&f.Inetd, "inetd", "serve one connection, on standard input and output"),
		catNetwork.text(&f.Host, "host", "", "`NAME` of this host in menus (default: the machine's)"),
		catNetwork.number(&f.Port, "port", 0, math.MaxUint16, "`PORT` in menus (default: the one reached)"),
		catNetwork.word(&f.HTTP, "http", "`MODE` for browsers: page, view (the site) or off", "page", "view", "off"),
		catNetwork.word(&f.HTTPTheme, "http-theme", "`THEME` how pages look: plain, paper or terminal", web.Themes...).of("-http view"),
		catNetwork.list(&f.HTTPLang, "http-lang", "`TAG` language of texts, or NAME=TAG of one -vhost"),
		catNetwork.blocks(&f.TrustProxy, "trust-proxy", "`CIDR` of proxies that send PROXY headers"),
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
		catLimits.number(&f.MaxConns, "max-conns", 0, math.MaxInt32, "`N` open connections (default: half the open-file limit)"),
		catLimits.number(&f.MaxConnsPerIP, "max-conns-per-ip", server.DefaultMaxConnsPerIP, math.MaxInt32, "`N` connections per address or IPv6 /56; 0: no limit"),
		mode(catLimits, &f.Enforce, "enforce", "`MODE` make robots obey the file that they fetched: off, slow, refuse", "off", "slow", "refuse"),
		catLimits.blocks(&f.EnforceSpare, "enforce-spare", "`CIDR` that -enforce exempts, such as a public proxy").of("-enforce slow"),
		catLimits.rate(&f.Rate, "rate", "`N` requests per second and address; 0: no limit"),
		catLimits.number(&f.Burst, "burst", server.DefaultBurst, math.MaxInt32, "`N` requests at once before -rate counts").of("-rate 2"),
		mode(catWatch, &f.Watch, "watch", "`MODE` inotify, poll or off", "inotify", "poll", "off"),
		catWatch.duration(&f.Poll, "poll", watch.DefaultPoll, "`DURATION` between two readings of everything"),
		catWatch.duration(&f.PollRemote, "poll-remote", watch.DefaultPollRemote, "`DURATION` between two comparisons of network file systems"),
		catLog.yes(&f.Quiet, "quiet", "warnings and errors only"),
		catLog.yes(&f.Verbose, "v", "requests, and connections without one, too"),
		catLog.word(&f.LogFormat, "log-format", "`FORMAT` short, text, json, or auto: by the reader", logs.Formats...),
		catLog.text(&f.AccessLog, "access-log", "", "`FILE` for a line per request, in a directory that is not served"),
		mode(catLog, &f.LogIPs, "log-ips", "`FORM` of addresses: full, masked or none", "full", "masked", "none"),
		catLog.blocks(&f.Status, "status", "`CIDR` addresses that may see /server-status, repeatable"),
		catLog.text(&f.Metrics, "metrics", "", "`ADDR` for Prometheus, such as localhost:9170"),
		catRights.text(&f.User, "user", "", "`USER[:GROUP]` switch to it once ports are open"),
		catRights.word(&f.Sandbox, "sandbox", "`MODE` require, auto (what works) or off", "auto", "require", "off"),
		catRights.yes(&f.SandboxParent, "sandbox-parent", "the sandbox shows DIR's parent, so that a rename can replace DIR"),
	)
}

// charset takes the name of a character set.
func (c category) charset(f *daemon.Flags) *option {
	const want = "want auto, utf-8, cp437 or a name of the WHATWG's, such as koi8-r, windows-1251 or shift_jis"
	return value(c, &f.Charset, "charset", "auto", "`NAME` of texts that are not UTF-8", want, func(text string) (v menu.Charset, err error) {
		err = v.UnmarshalText([]byte(text))
		return v, err
	})
}

// users takes a pattern, and one for Gemini.
func (c category) users(f *daemon.Flags) *option {
	const want = "want a path, and perhaps one after gemini="
	set := func(text string) error {
		to := &f.Users
		pattern, isGemini := strings.CutPrefix(text, "gemini=")
		if isGemini {
			to = &f.UsersGemini
		}
		if *to != "" {
			return exit.Usagef("leave one of them out", "-users counts once: %s and %s", *to, pattern)
		}
		*to = pattern
		return nil
	}
	return &option{name: "users", usage: "`PATTERN` users' trees, /home/*/gopher, or gemini=PATTERN", category: c, parse: set,
		reset: func() { f.Users, f.UsersGemini = "", "" }, want: want}
}

// siteFlags returns the flags for the parts of a site besides its root directory.
func (c category) siteFlags(f *daemon.Flags) []cli.Flag {
	return []cli.Flag{
		c.users(f),
		c.number(&f.UsersMinUID, "users-min-uid", site.DefaultUsersMinUID, math.MaxInt32, "`UID` from which on accounts are users").of("-users '/home/*/public_gopher'"),
		c.list(&f.Mounts, "mount", "`PREFIX=DIR` serves DIR as /PREFIX/, too; may be repeated"),
		c.list(&f.FastCGI, "fastcgi", "`PREFIX=SOCKET` a program answers; or '*.EXT=SOCKET', menus=SOCKET"),
		c.yes(&f.Search, "search", "/search finds texts of the site"),
		c.yes(&f.Sitemap, "sitemap", "/sitemap.xml lists what robots may fetch"),
	}
}
