package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/internal/process/accesslog"
	"github.com/gophd/gophd/internal/process/enforce"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Flags are the options of a daemon; doc/gophd.8.md says what each means. Package main
// parses them, and has their defaults.
type Flags struct {
	Root       string
	StrictText bool
	menu.BuildOptions
	Charset menu.Charset
	Cache   int64 // bytes, for all hosts

	Listen     []string
	Inetd      bool
	Host       string
	Port       int
	HTTP       string // what browsers get: page, view or off
	HTTPTheme  string
	HTTPLang   []string
	TrustProxy []netip.Prefix

	TLSCert, TLSKey []string
	TLSSelfSigned   string // the directory; "": none

	FrontAddrs

	RequestTimeout, StallTimeout, Drain time.Duration
	MaxConns, MaxConnsPerIP             int
	Rate                                float64
	Burst                               int

	Search bool
	sitesearch.SearchOptions
	SearchMemory int64 // bytes
	Sitemap      bool
	FastCGI      []string

	Watch            site.Watch
	Poll, PollRemote time.Duration

	Quiet, Verbose bool
	LogFormat      string
	AccessLog      string
	LogIPs         accesslog.IPs
	Status         []netip.Prefix // who may see the status page
	Metrics        string         // the address; "": none

	User, Sandbox string
	SandboxParent bool

	Enforce      enforce.Mode
	EnforceSpare []netip.Prefix // that is not held to robots.txt

	Users       string
	UsersMinUID int
	Mounts      []string
	VHosts      []string
	Aliases     []string

	Version string // of gophd

	// Warnings are about options that do not stop a start.
	Warnings []error
	// FromVariable reports whether an option comes from a variable: a mistake there that an
	// earlier version did not refuse is a warning, so that no upgrade stops a server.
	FromVariable func(name string) bool
}

// Settings configure a daemon. Everything that can be checked without touching the
// machine has been checked.
type Settings struct {
	Flags
	site        site.Config
	front       func(*site.Site) *gopher.Front // answers a site as Gopher; Run adds the rest
	server      *server.Server                 // its limits; Run adds handler, certificates and log
	view        web.PageOptions                // of all hosts
	langs       map[string]string              // of hosts that have one of their own
	search      *sitesearch.Searcher           // nil: none; Run adds the site
	programs    []programs.Mapping
	listen      []string
	fronts      []frontAddr
	listenNames map[string]string // the hosts of addresses that have one of their own
	hosts       []*virtualHost    // the root's first
	certs       []keypair.CertKey
	logLevel    slog.Level
}

// Settings checks what the options mean together. Its errors come from package exit.
func (f Flags) Settings() (*Settings, error) {
	c := &Settings{Flags: f}
	for _, check := range []func() error{c.parts, c.process, c.network, c.browsers, c.otherProtocols} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if f.Root == "" {
		return nil, exit.Usagef("name the directory: gophd ./content, or gophd -root ./content, or set GOPHD_ROOT", "no directory to serve")
	}
	opt := answer.HostOptions{BuildOptions: f.BuildOptions, Charset: f.Charset, Version: f.Version}
	c.front = func(tree *site.Site) *gopher.Front {
		return &gopher.Front{Host: &answer.Host{Site: tree, HostOptions: opt}, StrictText: f.StrictText}
	}
	if f.Search {
		c.search = &sitesearch.Searcher{SearchOptions: f.SearchOptions, HostOptions: opt, Memory: f.SearchMemory}
	}
	c.server = &server.Server{
		RequestTimeout: f.RequestTimeout, StallTimeout: f.StallTimeout, DrainTimeout: noneIfZero(f.Drain),
		Host: f.Host, Port: f.Port, TrustProxy: f.TrustProxy,
		MaxConns: f.MaxConns, MaxConnsPerIP: noneIfZero(f.MaxConnsPerIP), Rate: f.Rate, Burst: f.Burst,
	}
	return c, nil
}

// doubtful refuses an option that is wrong but that earlier versions accepted; if it comes
// from a variable, it warns.
func (f *Flags) doubtful(option, hint, format string, args ...any) error {
	err := exit.Usagef(hint, format, args...)
	if f.FromVariable != nil && f.FromVariable(option) {
		f.Warnings = append(f.Warnings, err)
		return nil
	}
	return err
}

// process checks the account and the log.
func (c *Settings) process() error {
	if c.User != "" {
		if _, err := sandbox.LookUpUser(c.User); err != nil {
			return exit.Usagef("-user takes NAME or NAME:GROUP, known to this machine (or both as numbers)", "-user: %w", err)
		}
	}
	switch {
	case c.Quiet && c.Verbose:
		return exit.Usagef("leave one of them out", "-quiet and -v")
	case c.Quiet:
		c.logLevel = slog.LevelWarn
	case c.Verbose:
		c.logLevel = slog.LevelDebug
	}
	for _, block := range c.Status {
		if block.Bits() == 0 {
			c.warn("name the addresses of those who look after the server: -status 192.0.2.0/24", "-status %s: everybody may see the status page", block)
		}
	}
	if host, _, err := net.SplitHostPort(c.Metrics); err == nil && (host == "" || host == "0.0.0.0" || host == "::") {
		c.warn("-metrics localhost:PORT, unless another machine collects them", "-metrics %s: everybody who reaches this machine may read the metrics", c.Metrics)
	}
	return nil
}

func (f *Flags) warn(hint, format string, args ...any) {
	f.Warnings = append(f.Warnings, exit.Usagef(hint, format, args...))
}

// Parts returns the parts of a site besides its root directory, and the rules of the
// programs among them.
func (f Flags) Parts() (site.Config, []programs.Mapping, error) {
	c := &Settings{Flags: f}
	err := c.parts()
	return c.site, c.programs, err
}

// VirtualHosts returns the directories of -vhost by their names.
func (f Flags) VirtualHosts() (map[string]string, error) {
	f.Listen = nil
	list, _, _, err := f.parseHosts()
	if err != nil {
		return nil, err
	}
	hosts := map[string]string{}
	for _, h := range list[1:] {
		hosts[h.name] = h.dir
	}
	return hosts, nil
}

// parts reads -users, -mount, -fastcgi and -vhost, and names what gophd answers by itself.
func (c *Settings) parts() (err error) {
	c.site = site.Config{Watch: c.Watch, Poll: c.Poll, PollRemote: c.PollRemote, Users: c.Users, UsersMinUID: c.UsersMinUID}
	c.site.Own = []string{"/caps.txt", "/about-robots", "feed.xml", "feed.gmi"}
	if c.Search {
		c.site.Endless = []string{sitesearch.Selector}
	}
	if c.Sitemap {
		c.site.Own = append(c.site.Own, "/sitemap.xml", "/sitemap.txt", "/sitemap-recent.xml")
	}

	for _, flag := range c.FastCGI {
		rule, err := programs.ParseRule(flag)
		if err != nil {
			return exit.Usagef("-fastcgi /cgi-bin=/run/fcgiwrap.socket, '*.dcgi=/run/fcgiwrap.socket', menus=/run/fcgiwrap.socket or '/~*/cgi-bin=/run/gophd-programs-*.sock'", "-fastcgi %q: %w", flag, err)
		}
		c.programs = append(c.programs, rule)
		if !rule.Menus {
			c.site.Programs = append(c.site.Programs, rule.Selector())
		}
	}
	if len(c.programs) > 0 {
		c.site.Runs = (&programs.Programs{Rules: c.programs}).Runs
	}

	if c.Users != "" {
		if err := site.CheckUsers(c.Users); err != nil {
			return exit.Usagef("-users '/home/*/public_gopher': one * for the user's name, in quotes, since a shell replaces it otherwise", "-users: %w", err)
		}
	}
	for _, m := range c.Mounts {
		name, dir, ok := strings.Cut(m, "=")
		name = strings.Trim(name, "/")
		if !ok || name == "" || dir == "" {
			return exit.Usagef("-mount PREFIX=DIR, such as -mount /pub=/srv/mirror", "-mount %q", m)
		}
		if c.site.Mounts[name] != "" {
			return exit.Usagef("one -mount for each prefix", "-mount %q is there twice", name)
		}
		if slices.Contains([]string{"robots.txt", "caps.txt", "about-robots"}, name) {
			if err := c.doubtful("mount", "choose another PREFIX, such as -mount /pub="+dir, "-mount %s: gophd itself answers /%s", m, name); err != nil {
				return err
			}
		}
		if c.site.Mounts == nil {
			c.site.Mounts = map[string]string{}
		}
		c.site.Mounts[name] = dir
	}
	c.hosts, c.listen, c.listenNames, err = c.parseHosts()
	return err
}

// network checks names, addresses and certificates.
func (c *Settings) network() error {
	if err := c.checkHost(); err != nil {
		return err
	}
	for _, addr := range c.listen {
		if err := checkAddr("listen", addr, "70"); err != nil {
			return err
		}
	}
	if c.Metrics != "" {
		if _, port, err := net.SplitHostPort(c.Metrics); err != nil || checkAddr("metrics", c.Metrics, port) != nil {
			return exit.Usagef("-metrics takes HOST:PORT, such as localhost:9170", "-metrics %q is no address", c.Metrics)
		}
	}
	if len(c.TLSCert) != len(c.TLSKey) {
		without := "-tls-cert without its -tls-key"
		if len(c.TLSKey) > len(c.TLSCert) {
			without = "-tls-key without its -tls-cert"
		}
		return exit.Usagef("give one -tls-key for each -tls-cert", "%s", without)
	}
	for i := range c.TLSCert {
		c.certs = append(c.certs, keypair.CertKey{Cert: c.TLSCert[i], Key: c.TLSKey[i]})
	}
	return nil
}

// checkHost checks -host: a wrong name makes menus without a working link.
func (c *Settings) checkHost() error {
	const hint = "a name or an address alone: -host gopher.example.org; the port is -port"
	if _, err := netip.ParseAddr(c.Host); c.Host == "" || err == nil {
		return nil
	}
	if u, err := selector.ParseURL("gopher://" + c.Host); err != nil || u.Host != c.Host {
		return exit.Usagef(hint, "-host %q", c.Host)
	}
	if !isHostName(hostName(c.Host)) && !strings.Contains(c.Host, "_") {
		return c.doubtful("host", hint, "-host %q is no host name", c.Host)
	}
	return nil
}

// browsers checks -http-lang.
func (c *Settings) browsers() error {
	c.view.Theme, c.langs = c.HTTPTheme, map[string]string{}
	for _, value := range c.HTTPLang {
		name, tag, named := strings.Cut(value, "=")
		if !named {
			name, tag = "", value
		}
		name = hostName(name)
		known := slices.ContainsFunc(c.hosts, func(h *virtualHost) bool { return h.name == name })
		const hint = "a language tag for all hosts, or for one -vhost: -http-lang en, -http-lang gopher.example.org=pt-BR"
		if named && (name == "" || !known) {
			return exit.Usagef(hint, "-http-lang %q", value)
		}
		if !langTag.MatchString(tag) {
			if err := c.doubtful("http-lang", hint, "-http-lang %q", value); err != nil {
				return err
			}
			continue
		}
		if c.langs[name] = tag; !named {
			c.view.Lang = tag
		}
	}
	return nil
}

// langTag matches a language tag (RFC 5646) that begins with a language of ISO 639.
var langTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// noneIfZero turns 0, which means none on the command line, into -1, which means none to
// package server.
func noneIfZero[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// logWarnings logs what is doubtful about the options.
func (d *daemon) logWarnings() {
	for _, err := range d.conf.Warnings {
		var e *exit.CommandError
		if errors.As(err, &e) {
			d.log.Warn(err.Error(), "hint", e.Hint)
		}
	}
}

// DefaultSearchMemory is how much memory the search index may take.
var DefaultSearchMemory = fmt.Sprintf("%dMiB", sitesearch.DefaultMemory>>20)
