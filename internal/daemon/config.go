package daemon

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/size"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/internal/process/accesslog"
	"github.com/gophd/gophd/internal/process/enforce"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/logs"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Flags are the flags of a daemon as they were typed; doc/gophd.8.md says what
// each means. Where a flag cannot be zero, package main supplies
// the default.
type Flags struct {
	Root       string
	StrictText bool
	menu.BuildOptions
	Charset string
	Cache   string

	Listen     []string
	Inetd      bool
	Host       string
	Port       int
	HTTP       string
	HTTPTheme  string
	HTTPLang   []string
	TrustProxy []string

	TLSCert, TLSKey []string
	TLSSelfSigned   string

	FrontAddrs

	RequestTimeout, StallTimeout, Drain time.Duration
	MaxConns, MaxConnsPerIP             int
	Rate                                float64
	Burst                               int

	Search bool
	sitesearch.SearchOptions
	SearchMemory string // DefaultSearchMemory by default
	Sitemap      bool
	FastCGI      []string

	Watch string
	Poll  time.Duration

	PollRemote time.Duration

	Quiet, Verbose    bool
	LogFormat         string
	AccessLog, LogIPs string
	Status            []string
	Metrics           string

	User, Sandbox string
	SandboxParent bool

	Enforce      string
	EnforceSpare []string

	Users       string
	UsersMinUID int
	Mounts      []string
	VHosts      []string
	Aliases     []string

	Version string // of gophd
}

// Settings configure a daemon. Everything that can be checked without touching the
// machine has been checked.
type Settings struct {
	root   string
	site   site.Config
	front  func(*site.Site) *gopher.Front // answers a site as Gopher; Run adds the rest
	cache  int64                          // bytes, for all hosts
	server *server.Server                 // its limits; Run adds handler, certificates and log
	http   string                         // what browsers get: page, view or off
	view   web.PageOptions                // of all hosts
	langs  map[string]string              // of hosts that have one of their own
	search *sitesearch.Searcher           // nil: none; Run adds the site

	sitemap bool // each host has one

	programs []programs.Mapping

	listen      []string
	fronts      []frontAddr
	listenNames map[string]string // the hosts of addresses that have one of their own
	hosts       []*virtualHost    // the root's first
	inetd       bool

	certs      []keypair.CertKey
	selfSigned string // the directory; "": none

	logLevel  slog.Level
	logFormat string
	accessLog string
	ips       accesslog.IPs
	status    []netip.Prefix // who may see the status page
	metrics   string         // the address; "": none

	enforce enforce.Mode
	spare   []netip.Prefix // that is not held to robots.txt

	user          string
	sandbox       string
	sandboxParent bool
	version       string

	outside func() error // refuses own files in the tree
}

// Settings checks the flags. Its errors come from package exit.
func (f Flags) Settings() (*Settings, error) {
	if f.Root == "" {
		return nil, exit.Usagef("name the directory: gophd ./content, or gophd -root ./content, or set GOPHD_ROOT", "no directory to serve")
	}
	c := &Settings{
		root: f.Root, inetd: f.Inetd, selfSigned: f.TLSSelfSigned,
		logFormat: f.LogFormat, accessLog: f.AccessLog, metrics: f.Metrics, user: f.User, sandbox: f.Sandbox, sandboxParent: f.SandboxParent, version: f.Version, outside: f.Outside,
	}
	for _, check := range []func(*Settings) error{f.names, f.choices, f.limits, f.tree, f.parts, f.network, f.browsers, f.certificates, f.otherProtocols} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// names checks -host and -port: a wrong one makes menus without a link.
func (f Flags) names(*Settings) error {
	if f.Port < 0 || f.Port > math.MaxUint16 {
		return exit.Usagef("a number from 1 to 65535", "-port %d", f.Port)
	}
	if _, err := netip.ParseAddr(f.Host); f.Host == "" || err == nil {
		return nil
	}
	if u, err := selector.ParseURL("gopher://" + f.Host); err != nil || u.Host != f.Host {
		return exit.Usagef("a name or an address alone: -host gopher.example.org; the port is -port", "-host %q", f.Host)
	}
	return nil
}

// choices checks the flags that take one of a few words.
func (f Flags) choices(c *Settings) error {
	for _, flag := range []struct {
		name, value string
		words       []string
	}{
		{"http", f.HTTP, []string{"page", "view", "off"}},
		{"http-theme", cmp.Or(f.HTTPTheme, web.Themes[0]), web.Themes},
		{"log-format", f.LogFormat, logs.Formats},
		{"sandbox", f.Sandbox, []string{"off", "auto", "require"}},
	} {
		if err := oneOf(flag.name, flag.value, flag.words); err != nil {
			return err
		}
	}
	if err := c.ips.UnmarshalText([]byte(f.LogIPs)); err != nil {
		return exit.Usagef("one of full, masked (/24, IPv6 /48), none", "unknown -log-ips %q", f.LogIPs)
	}
	if f.User != "" {
		if _, err := sandbox.LookUpUser(f.User); err != nil {
			return exit.Usagef("-user takes NAME or NAME:GROUP, known to this machine (or both as numbers)", "-user: %w", err)
		}
	}
	switch {
	case f.Quiet && f.Verbose:
		return exit.Usagef("leave one of them out", "-quiet and -v")
	case f.Quiet:
		c.logLevel = slog.LevelWarn
	case f.Verbose:
		c.logLevel = slog.LevelDebug
	}
	return nil
}

func oneOf(flag, value string, words []string) error {
	for _, w := range words {
		if w == value {
			return nil
		}
	}
	return exit.Usagef("one of "+strings.Join(words, ", "), "unknown -%s %q", flag, value)
}

// limits refuses numbers that would leave a server without a single answer, and
// durations below 0.
func (f Flags) limits(*Settings) error {
	for _, flag := range []struct {
		name  string
		value time.Duration
	}{{"request-timeout", f.RequestTimeout}, {"stall-timeout", f.StallTimeout}, {"drain", f.Drain}, {"poll", f.Poll}, {"poll-remote", f.PollRemote}} {
		if flag.value < 0 {
			return exit.Usagef("a duration of 0 or more, such as 90s or 10m", "-%s %v", flag.name, flag.value)
		}
	}
	for _, flag := range []struct {
		name  string
		value int
	}{{"max-conns", f.MaxConns}, {"max-conns-per-ip", f.MaxConnsPerIP}, {"burst", f.Burst}} {
		if flag.value < 0 {
			return exit.Usagef("a number of 0 or more", "-%s %d", flag.name, flag.value)
		}
	}
	if f.Rate == 0 && f.Burst != server.DefaultBurst && f.Burst >= 0 {
		return exit.Usagef(fmt.Sprintf("-rate 2 -burst %d", f.Burst), "-burst without -rate")
	}
	if !(f.Rate >= 0) || math.IsInf(f.Rate, 1) {
		return exit.Usagef("requests per second, such as -rate 2 or -rate 0.5", "-rate %v", f.Rate)
	}
	return nil
}

func (f Flags) tree(c *Settings) (err error) {
	if err := c.site.Watch.UnmarshalText([]byte(f.Watch)); err != nil {
		return exit.Usagef("one of inotify, poll, off", "%w", err)
	}
	c.site.Poll, c.site.PollRemote = f.Poll, f.PollRemote
	opt := answer.HostOptions{BuildOptions: f.BuildOptions, Version: f.Version}
	if err := opt.Charset.UnmarshalText([]byte(f.Charset)); err != nil {
		return exit.Usagef("one of auto, latin1, utf-8", "-charset: %w", err)
	}
	if c.cache, err = size.Parse(f.Cache); err != nil {
		return exit.Usagef("a number of bytes, or KiB, MiB, GiB: -cache 64MiB", "-cache: %w", err)
	}
	c.front = func(tree *site.Site) *gopher.Front {
		return &gopher.Front{Host: &answer.Host{Site: tree, HostOptions: opt}, StrictText: f.StrictText}
	}
	if f.Search {
		c.search = &sitesearch.Searcher{SearchOptions: f.SearchOptions, HostOptions: opt}
		if c.search.Memory, err = size.Parse(f.SearchMemory); err != nil || c.search.Memory == 0 {
			return exit.Usagef("a number of bytes, or KiB, MiB, GiB: -search-memory 256MiB", "-search-memory %q", f.SearchMemory)
		}
	} else if f.SearchDir != "" {
		return exit.Usagef("-search -search-dir "+f.SearchDir, "-search-dir without -search")
	} else if f.SearchAll {
		return exit.Usagef("-search -search-all", "-search-all without -search")
	} else if f.SearchMemory != DefaultSearchMemory {
		return exit.Usagef("-search -search-memory "+f.SearchMemory, "-search-memory without -search")
	}
	return nil
}

// Parts returns the parts of a site besides its root directory, and the rules of the
// programs among them.
func (f Flags) Parts() (site.Config, []programs.Mapping, error) {
	c := &Settings{}
	err := f.parts(c)
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

// parts checks -users, -mount, -fastcgi and -vhost, and names what gophd answers by
// itself.
func (f Flags) parts(c *Settings) (err error) {
	c.site.Own = []string{"/caps.txt", "/about-robots", "feed.xml", "feed.gmi"}
	if f.Search {
		c.site.Endless = []string{sitesearch.Selector}
	}
	if c.sitemap = f.Sitemap; f.Sitemap {
		c.site.Own = append(c.site.Own, "/sitemap.xml", "/sitemap.txt", "/sitemap-recent.xml")
	}
	for _, flag := range f.FastCGI {
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
	c.site.Users, c.site.UsersMinUID = f.Users, f.UsersMinUID
	if f.Users != "" {
		if err := site.CheckUsers(f.Users); err != nil {
			return exit.Usagef("-users '/home/*/public_gopher': one * for the user's name", "-users: %w", err)
		}
	}
	for _, m := range f.Mounts {
		name, dir, ok := strings.Cut(m, "=")
		name = strings.Trim(name, "/")
		if !ok || name == "" || dir == "" {
			return exit.Usagef("-mount PREFIX=DIR, such as -mount /pub=/srv/mirror", "-mount %q", m)
		}
		if c.site.Mounts[name] != "" {
			return exit.Usagef("one -mount for each prefix", "-mount %q is there twice", name)
		}
		if c.site.Mounts == nil {
			c.site.Mounts = map[string]string{}
		}
		c.site.Mounts[name] = dir
	}
	c.hosts, c.listen, c.listenNames, err = f.parseHosts()
	return err
}

func (f Flags) network(c *Settings) (err error) {
	for _, addr := range c.listen {
		if err := checkAddr("listen", addr, "70"); err != nil {
			return err
		}
	}
	if f.Metrics != "" {
		if _, port, err := net.SplitHostPort(f.Metrics); err != nil || checkAddr("metrics", f.Metrics, port) != nil {
			return exit.Usagef("-metrics takes HOST:PORT, such as localhost:9170", "-metrics %q is no address", f.Metrics)
		}
	}
	c.server = &server.Server{
		RequestTimeout: f.RequestTimeout, StallTimeout: f.StallTimeout, DrainTimeout: noneIfZero(f.Drain),
		Host: f.Host, Port: f.Port,
		MaxConns: f.MaxConns, MaxConnsPerIP: noneIfZero(f.MaxConnsPerIP), Rate: f.Rate, Burst: f.Burst,
	}
	c.http = f.HTTP
	if c.server.TrustProxy, err = prefixes("trust-proxy", f.TrustProxy); err != nil {
		return err
	}
	if c.status, err = prefixes("status", f.Status); err != nil {
		return err
	}
	if err := c.enforce.UnmarshalText([]byte(f.Enforce)); err != nil {
		return exit.Usagef("one of off, slow, refuse", "-enforce: %w", err)
	}
	c.spare, err = prefixes("enforce-spare", f.EnforceSpare)
	return err
}

// browsers checks -http-theme and -http-lang.
func (f Flags) browsers(c *Settings) error {
	if f.HTTP != "view" && (cmp.Or(f.HTTPTheme, web.Themes[0]) != web.Themes[0] || len(f.HTTPLang) > 0) {
		return exit.Usagef("add -http view", "-http-theme or -http-lang without -http view")
	}
	c.view.Theme, c.langs = f.HTTPTheme, map[string]string{}
	for _, value := range f.HTTPLang {
		name, tag, named := strings.Cut(value, "=")
		if !named {
			name, tag = "", value
		}
		name = hostName(name)
		known := slices.ContainsFunc(c.hosts, func(h *virtualHost) bool { return h.name == name })
		if !langTag.MatchString(tag) || named && (name == "" || !known) {
			return exit.Usagef("a language tag for all hosts, or for one -vhost: -http-lang en, -http-lang gopher.example.org=pt-BR", "-http-lang %q", value)
		}
		if c.langs[name] = tag; !named {
			c.view.Lang = tag
		}
	}
	return nil
}

// langTag matches a language tag (RFC 5646).
var langTag = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// noneIfZero turns 0, which means none on the command line, into -1, which means none to
// package server.
func noneIfZero[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// prefixes reads address blocks; an address is a block of one.
func prefixes(flag string, list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if a, addrErr := netip.ParseAddr(s); addrErr == nil {
			a = a.Unmap()
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, exit.Usagef("an address or a block of them, such as 10.0.0.0/8 or ::1", "-%s %q", flag, s)
		}
		all = append(all, p)
	}
	return all, nil
}

func (f Flags) certificates(c *Settings) error {
	if len(f.TLSCert) != len(f.TLSKey) {
		without := "-tls-cert without its -tls-key"
		if len(f.TLSKey) > len(f.TLSCert) {
			without = "-tls-key without its -tls-cert"
		}
		return exit.Usagef("name both, as often as the other", "%s", without)
	}
	for i := range f.TLSCert {
		c.certs = append(c.certs, keypair.CertKey{Cert: f.TLSCert[i], Key: f.TLSKey[i]})
	}
	return nil
}

// DefaultSearchMemory is how much memory the search index may take.
var DefaultSearchMemory = fmt.Sprintf("%dMiB", sitesearch.DefaultMemory>>20)
