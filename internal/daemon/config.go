package daemon

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/process/accesslog"
	"github.com/gophd/gophd/internal/process/enforce"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/source/sitemap"
	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Flags are the options of a daemon, which doc/gophd.8.md documents. Package main makes flags from
// the tags of the fields: category (of this field and the following ones), flag, value (its
// placeholder in the help), default, oneof (the permitted words), needs (the flag without which
// it has no effect, with its hyphen) and usage.
type Flags struct {
	Root         string   `category:"Content" flag:"root" value:"DIR" usage:"the directory to serve"`
	VHosts       []string `flag:"vhost" value:"NAME=DIR" usage:"another site, chosen by TLS name or by -listen ADDR=NAME"`
	Aliases      []string `flag:"alias" value:"NAME" usage:"another name of the site, NAME=HOST of a -vhost"`
	Users        string   `flag:"users" value:"PATTERN" usage:"users' trees, /home/*/gopher, or gemini=PATTERN"`
	UsersGemini  string   // in the same homes
	UsersMinUID  int      `flag:"users-min-uid" value:"UID" default:"1000" needs:"-users '/home/*/public_gopher'" usage:"from which on accounts are users"`
	Mounts       []string `flag:"mount" value:"PREFIX=DIR" usage:"serves DIR as /PREFIX/, too; may be repeated"`
	FastCGI      []string `flag:"fastcgi" value:"PREFIX=SOCKET" usage:"a program answers; or '*.EXT=SOCKET', menus=SOCKET"`
	Search       bool     `flag:"search" usage:"/search finds texts of the site"`
	Sitemap      bool     `flag:"sitemap" usage:"/sitemap.xml lists what robots may fetch"`
	StrictText   bool     `flag:"strict-text" usage:"texts end with a dot, as in RFC 1436"`
	InfoPrefix   bool     `flag:"info-prefix" usage:"text lines in gophermaps begin with i (Motsognir)"`
	SearchDir    string   `flag:"search-dir" value:"DIR" needs:"-search" usage:"for the index, in a directory that is not served (default: in memory)"`
	SearchMemory int64    `flag:"search-memory" value:"SIZE" default:"256MiB" needs:"-search" usage:"limit of the index"`
	SearchAll    bool     `flag:"search-all" needs:"-search" usage:"also search what robots must not fetch"`
	Dates        bool     `flag:"dates" usage:"date and size after each name of a listing"`

	Charset menu.Charset `flag:"charset" value:"NAME" default:"auto" usage:"of texts that are not UTF-8"`

	Cache int64 `flag:"cache" value:"SIZE" default:"64MiB" usage:"memory for replies, 0: none"` // of all hosts

	Listen        []string       `category:"Network" flag:"listen" value:"ADDR" usage:"where to listen; may be repeated (default :70)"`
	Inetd         bool           `flag:"inetd" usage:"serve one connection, on standard input and output"`
	Host          string         `flag:"host" value:"NAME" usage:"of this host in menus (default: the machine's)"`
	Port          uint16         `flag:"port" value:"PORT" default:"0" usage:"in menus (default: the one reached)"`
	HTTP          string         `flag:"http" value:"MODE" default:"page" oneof:"page, view, off" usage:"for browsers: page, view (the site) or off"`
	HTTPTheme     string         `flag:"http-theme" value:"THEME" default:"plain" oneof:"plain, paper, terminal" needs:"-http view" usage:"how pages look: plain, paper or terminal"`
	HTTPLang      []string       `flag:"http-lang" value:"TAG" usage:"language of texts, or NAME=TAG of one -vhost"`
	TrustProxy    []netip.Prefix `flag:"trust-proxy" value:"CIDR" usage:"of proxies that send PROXY headers"`
	TLSCert       []string       `flag:"tls-cert" value:"FILE" usage:"of a certificate: TLS, on the same port"`
	TLSKey        []string       `flag:"tls-key" value:"FILE" usage:"with its key, in a directory that is not served"`
	Gemini        []string       `flag:"gemini" value:"ADDR" usage:"where to listen for Gemini, such as :1965; needs a certificate"`
	Spartan       []string       `flag:"spartan" value:"ADDR" usage:"where to listen for Spartan, such as :300"`
	Nex           []string       `flag:"nex" value:"ADDR" usage:"where to listen for Nex, such as :1900"`
	Finger        []string       `flag:"finger" value:"ADDR" usage:"where to listen for Finger, such as :79"`
	TLSSelfSigned string         `flag:"tls-self-signed" value:"DIR" usage:"for certificates made once, in no served directory"`

	RequestTimeout time.Duration  `category:"Limits" flag:"request-timeout" value:"DURATION" default:"10s" usage:"from accept to the request's end"`
	StallTimeout   time.Duration  `flag:"stall-timeout" value:"DURATION" default:"1m" usage:"ends a reply without progress"`
	Drain          time.Duration  `flag:"drain" value:"DURATION" default:"10s" usage:"for open replies after SIGTERM"`
	MaxConns       int            `flag:"max-conns" value:"N" default:"0" usage:"open connections (default: half the open-file limit)"`
	MaxConnsPerIP  int            `flag:"max-conns-per-ip" value:"N" default:"32" usage:"connections per address or IPv6 /56; 0: no limit"`
	Enforce        enforce.Mode   `flag:"enforce" value:"MODE" default:"off" oneof:"off, slow, refuse" usage:"make robots obey the file that they fetched: off, slow, refuse"`
	EnforceSpare   []netip.Prefix `flag:"enforce-spare" value:"CIDR" needs:"-enforce slow" usage:"that -enforce exempts, such as a public proxy"`
	Rate           float64        `flag:"rate" value:"N" default:"0" usage:"requests per second and address; 0: no limit"`
	Burst          int            `flag:"burst" value:"N" default:"20" needs:"-rate 2" usage:"requests at once before -rate counts"`

	Watch      site.Watch    `category:"Changes" flag:"watch" value:"MODE" default:"inotify" oneof:"inotify, poll, off" usage:"inotify, poll or off"`
	Poll       time.Duration `flag:"poll" value:"DURATION" default:"5m" usage:"between two readings of everything"`
	PollRemote time.Duration `flag:"poll-remote" value:"DURATION" default:"15s" usage:"between two comparisons of network file systems"`

	Quiet     bool           `category:"Log" flag:"quiet" usage:"warnings and errors only"`
	Verbose   bool           `flag:"v" usage:"requests, and connections without one, too"`
	LogFormat string         `flag:"log-format" value:"FORMAT" default:"auto" oneof:"auto, short, text, json" usage:"short, text, json, or auto: by the reader"`
	AccessLog string         `flag:"access-log" value:"FILE" usage:"for a line per request, in a directory that is not served"`
	LogIPs    accesslog.IPs  `flag:"log-ips" value:"FORM" default:"full" oneof:"full, masked, none" usage:"of addresses: full, masked or none"`
	Status    []netip.Prefix `flag:"status" value:"CIDR" usage:"addresses that may see /server-status, repeatable"`
	Metrics   string         `flag:"metrics" value:"ADDR" usage:"for Prometheus, such as localhost:9170"`

	User          string `category:"Rights" flag:"user" value:"USER[:GROUP]" usage:"switch to it once ports are open"`
	Sandbox       string `flag:"sandbox" value:"MODE" default:"auto" oneof:"auto, require, off" usage:"require, auto (what works) or off"`
	SandboxParent bool   `flag:"sandbox-parent" usage:"the sandbox shows DIR's parent, so that a rename can replace DIR"`

	Version string // of gophd

	// Warnings are mistakes in options that do not prevent a start.
	Warnings []error
	// Variable reports whether an option is set by its variable; messages then name the
	// variable. A mistake there that an earlier version accepted is only a warning, so that
	// no upgrade stops a server. If nil, all options are flags.
	Variable func(name string) bool

	failures Failures // mistakes that prevent a start
}

// Settings configure a daemon. They are valid as far as that can be checked without looking at
// the machine.
type Settings struct {
	Flags
	site      site.Config
	options   answer.HostOptions
	server    *server.Server       // its limits; Run adds handler, certificates and log
	langs     map[string]string    // by host; "" for all others
	search    *sitesearch.Searcher // nil: off; Run adds the site
	programs  []programs.Mapping
	hosts     []*virtualHost          // the root's first
	names     map[string]*virtualHost // of -vhost and -alias
	endpoints []endpoint
	certs     []keypair.CertKey
	account   *sandbox.Identity // of -user, or nil
	logLevel  slog.Level
}

// Failures are reasons why gophd cannot start. As an error, they are the first one.
type Failures []error

func (f Failures) Error() string { return f[0].Error() }

func (f Failures) Unwrap() error { return f[0] }

// orNil returns the failures as an error, or nil if there are none.
func (f Failures) orNil() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Settings checks the options together. Its error is Failures, each from package exit.
func (f Flags) Settings() (*Settings, error) {
	c := &Settings{Flags: f}
	c.parts()
	c.process()
	c.network()
	if c.Root == "" {
		c.refuse("name the directory: gophd ./content, or gophd -root ./content, or set GOPHD_ROOT",
			"no directory to serve")
	}
	if err := c.failures.orNil(); err != nil {
		return nil, err
	}

	c.options = answer.HostOptions{
		BuildOptions: menu.BuildOptions{
			InfoPrefix: f.InfoPrefix,
			Dates:      f.Dates,
			Charset:    f.Charset,
		},
		Version: f.Version,
	}
	if f.Search {
		c.search = &sitesearch.Searcher{
			SearchOptions: sitesearch.SearchOptions{
				SearchDir: f.SearchDir,
				SearchAll: f.SearchAll,
			},
			HostOptions: c.options,
			Memory:      f.SearchMemory,
		}
	}
	c.server = &server.Server{
		RequestTimeout: f.RequestTimeout,
		StallTimeout:   f.StallTimeout,
		DrainTimeout:   noneIfZero(f.Drain),
		Host:           f.Host,
		Port:           int(f.Port),
		TrustProxy:     f.TrustProxy,
		MaxConns:       f.MaxConns,
		MaxConnsPerIP:  noneIfZero(f.MaxConnsPerIP),
		Rate:           f.Rate,
		Burst:          f.Burst,
	}
	return c, nil
}

// Variable returns the variable of a flag.
func Variable(flag string) string {
	return "GOPHD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// option returns an option, with a value, as the user sets it: as a flag or a variable.
func (f *Flags) option(name string, value ...string) string {
	text, between := "-"+name, " "
	if f.Variable != nil && f.Variable(name) {
		text, between = Variable(name), "="
	}
	if len(value) > 0 {
		text += between + value[0]
	}
	return text
}

// refuse adds a failure.
func (f *Flags) refuse(hint, format string, args ...any) {
	f.failures = append(f.failures, exit.Usagef(hint, format, args...))
}

// doubt adds a failure for a mistake that earlier versions accepted, or a warning if the option
// is set by its variable.
func (f *Flags) doubt(name, hint, format string, args ...any) {
	if f.Variable != nil && f.Variable(name) {
		f.warn(hint, format, args...)
		return
	}
	f.refuse(hint, format, args...)
}

// warn adds a warning.
func (f *Flags) warn(hint, format string, args ...any) {
	f.Warnings = append(f.Warnings, exit.Usagef(hint, format, args...))
}

// process checks the account and the log.
func (c *Settings) process() {
	if c.User != "" {
		u, err := sandbox.LookUpUser(c.User)
		if err != nil {
			c.refuse(c.option("user")+
				" takes NAME or NAME:GROUP, known to this machine (or both as numbers)", "%s: %w",
				c.option("user"), err)
		}
		c.account = &u
	}
	quiet, verbose := c.option("quiet"), c.option("v")
	if c.Quiet && c.Verbose && quiet[0] == verbose[0] { // both are flags, or variables: else the flag wins
		c.refuse("leave one of them out", "%s and %s", quiet, verbose)
	}
	if c.Quiet && !(c.Verbose && verbose[0] == '-') {
		c.logLevel = slog.LevelWarn
	} else if c.Verbose {
		c.logLevel = slog.LevelDebug
	}
	for _, block := range c.Status {
		if block.Bits() == 0 {
			c.warn("name the addresses of those who look after the server: "+
				c.option("status", "192.0.2.0/24"), "%s: everybody may see the status page",
				c.option("status", block.String()))
		}
	}
	if host, _, err := net.SplitHostPort(c.Metrics); err == nil &&
		(host == "" || host == "0.0.0.0" || host == "::") {
		c.warn(c.option("metrics", "localhost:PORT")+", unless another machine collects them",
			"%s: everybody who reaches this machine may read the metrics",
			c.option("metrics", c.Metrics))
	}
}

// Parts returns the parts of a site besides its root directory, and the rules of the
// programs among them.
func (f Flags) Parts() (site.Config, []programs.Mapping, error) {
	c := &Settings{Flags: f}
	c.parts()
	return c.site, c.programs, c.failures.orNil()
}

// WithoutSitemaps returns the lines of a robots.txt but those of sitemaps, whose URLs a running
// server alone knows.
func WithoutSitemaps(file []byte) string {
	var kept strings.Builder
	for line := range strings.Lines(string(file)) {
		if line != "\n" && !strings.HasPrefix(line, "Sitemap:") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// VirtualHosts returns the directories of -vhost by name, as far as they are valid.
func (f Flags) VirtualHosts() map[string]string {
	hosts := map[string]string{}
	c := &Settings{Flags: f}
	c.parseHosts()
	for _, h := range c.hosts[1:] {
		hosts[h.name] = h.dir
	}
	return hosts
}

// parts parses -users, -mount, -fastcgi, -vhost and -alias.
func (c *Settings) parts() {
	c.site = site.Config{
		Watch:       c.Watch,
		Poll:        c.Poll,
		PollRemote:  c.PollRemote,
		Users:       c.Users,
		Capsules:    c.UsersGemini,
		UsersMinUID: c.UsersMinUID,
	}
	if c.Search {
		c.site.Endless = []string{sitesearch.Selector}
	}
	if c.Sitemap {
		c.site.Sitemaps = []string{"gopher://localhost/0" + sitemap.Selector} // a start knows the names of the hosts
	}

	for _, flag := range c.FastCGI {
		rule, err := programs.ParseRule(flag)
		if err != nil {
			c.refuse(c.option("fastcgi", "/cgi-bin=/run/fcgiwrap.socket")+
				", '*.dcgi=/run/fcgiwrap.socket', menus=/run/fcgiwrap.socket or '/~*/cgi-bin=/run/gophd-programs-*.sock'", "%s: %w", c.option("fastcgi", strconv.Quote(flag)), err)
			continue
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
			c.refuse(c.option("users", "'/home/*/public_gopher'")+
				": one * for the user's name, in quotes, since a shell replaces it otherwise",
				"%s: %w", c.option("users"), err)
		}
	}
	if c.Users != "" && c.UsersMinUID == 0 {
		c.doubt("users-min-uid",
			"root's directories are no user's: "+c.option("users-min-uid", "1")+" or more",
			"%s: 0 is the uid of root", c.option("users-min-uid", "0"))
	}
	if c.UsersGemini != "" {
		homes, _, _ := strings.Cut(c.Users, "/*")
		also, _, _ := strings.Cut(c.UsersGemini, "/*")
		if err := site.CheckUsers(c.UsersGemini); err != nil || also != homes || c.Users == "" {
			c.refuse("name both in one directory of homes: "+
				c.option("users", "'/home/*/public_gopher'")+" "+
				c.option("users", "'gemini=/home/*/public_gemini'"),
				"%s", cmp.Or(err, fmt.Errorf("%s: there is no %s",
					c.option("users", "gemini="+c.UsersGemini), c.option("users", also+"/*"))))
		}
	}

	c.site.Mounts = map[string]string{}
	for _, m := range c.Mounts {
		name, dir, ok := strings.Cut(m, "=")
		name = strings.Trim(name, "/")
		switch {
		case !ok || name == "" || dir == "":
			c.refuse(c.option("mount", "PREFIX=DIR")+", such as -mount /pub=/srv/mirror", "%s",
				c.option("mount", strconv.Quote(m)))
			continue
		case c.site.Mounts[name] != "":
			c.refuse("one DIR for each PREFIX", "%s: there is another directory for /%s",
				c.option("mount", m), name)
		case slices.Contains([]string{"robots.txt", "caps.txt", "about-robots"}, name):
			c.doubt("mount", "choose another PREFIX, such as "+c.option("mount", "/pub="+dir),
				"%s: gophd itself answers /%s", c.option("mount", m), name)
		}
		c.site.Mounts[name] = dir
	}
	c.parseHosts()
}

// network checks names, addresses, certificates and languages.
func (c *Settings) network() {
	// A wrong -host makes menus without a working link.
	nameAlone := "a name or an address alone: " + c.option("host", "gopher.example.org") +
		"; the port is " + c.option("port")
	if _, err := netip.ParseAddr(c.Host); c.Host != "" && err != nil {
		if u, err := selector.ParseURL("gopher://" + c.Host); err != nil || u.Host != c.Host {
			c.refuse(nameAlone, "%s", c.option("host", strconv.Quote(c.Host)))
		} else if !isHostName(hostName(c.Host)) && !strings.Contains(c.Host, "_") {
			c.doubt("host", nameAlone, "%s is no host name",
				c.option("host", strconv.Quote(c.Host)))
		}
	}

	if c.Metrics != "" {
		_, port, err := net.SplitHostPort(c.Metrics)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil || port == "" {
			c.refuse(c.option("metrics")+" takes HOST:PORT, such as localhost:9170",
				"%s is no address", c.option("metrics", strconv.Quote(c.Metrics)))
		}
	}
	if has, lacks := "tls-cert", "tls-key"; len(c.TLSCert) != len(c.TLSKey) {
		if len(c.TLSCert) < len(c.TLSKey) {
			has, lacks = lacks, has
		}
		c.refuse("give one -tls-key for each -tls-cert", "%s without its %s", c.option(has),
			c.option(lacks))
	}
	for i := range min(len(c.TLSCert), len(c.TLSKey)) {
		c.certs = append(c.certs, keypair.CertKey{Cert: c.TLSCert[i], Key: c.TLSKey[i]})
	}
	c.parseEndpoints()

	c.langs = map[string]string{}
	hint := "a language tag for all hosts, or for one -vhost: " + c.option("http-lang", "en") +
		", " + c.option("http-lang", "gopher.example.org=pt-BR")
	for _, value := range c.HTTPLang {
		name, tag, named := strings.Cut(value, "=")
		if !named {
			name, tag = "", value
		}
		name = hostName(name)
		known := slices.ContainsFunc(c.hosts, func(h *virtualHost) bool { return h.name == name })
		switch {
		case named && (name == "" || !known):
			c.refuse(hint, "%s", c.option("http-lang", strconv.Quote(value)))
		case !langTag.MatchString(tag):
			c.doubt("http-lang", hint, "%s", c.option("http-lang", strconv.Quote(value)))
		default:
			c.langs[name] = tag
		}
	}
}

// langTag matches a language tag (RFC 5646) that begins with a language of ISO 639.
var langTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// noneIfZero translates 0, none on the command line, to -1, none in package server.
func noneIfZero[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}
