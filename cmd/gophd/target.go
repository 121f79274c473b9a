package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/robots/irc"
	"github.com/gophd/gophd/robots/lint"
	"github.com/gophd/gophd/site"
)

// source is a robots file of any kind, ready to be asked.
type source struct {
	name     string // as shown before a line number
	file     *robots.File
	note     string            // why there is no file, if there is none
	network  *robots.Crawler   // of an IRC network
	problems []diag.Diagnostic // of the network's token
}

// diagnostics tells what is wrong with it.
func (s source) diagnostics() []diag.Diagnostic {
	if s.network != nil {
		return s.problems
	}
	return lint.File(s.file)
}

// loadTarget reads what a TARGET argument names.
func loadTarget(c *cli.Context, target string) (source, error) {
	dialect, err := dialectOf(c, "dialect", robots.Gopher)
	if err != nil {
		return source{}, err
	}
	limit, err := maxSize(c)
	if err != nil {
		return source{}, err
	}
	if scheme, _, isURL := strings.Cut(target, "://"); isURL {
		if strings.EqualFold(scheme, "irc") || strings.EqualFold(scheme, "ircs") {
			return loadNetwork(c, target, dialect, limit)
		}
		return loadURL(c, target)
	}
	if target == "-" {
		return readSource("standard input", dialect, c.App.Reader, limit)
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return source{}, withHint(err, "a target is a file, a directory, - or a URL with its scheme, such as gopher://"+target)
	case err != nil:
		return source{}, err
	case info.IsDir():
		return loadDir(target, dialect)
	}
	return loadFile(target, dialect, limit)
}

// maxSize gives the octets of -max-size; 0 is the default of what reads them.
func maxSize(c *cli.Context) (int64, error) {
	if c.String("max-size") == "" {
		return 0, nil
	}
	limit, err := parseSize(c.String("max-size"))
	if err == nil && limit == 0 {
		err = errors.New("0 octets hold nothing")
	}
	if err != nil {
		return 0, usageError("a number of octets, or KiB, MiB, GiB: -max-size 1MiB", "-max-size: %w", err)
	}
	return limit, nil
}

// hostTimeout gives the time that a host has.
func hostTimeout(c *cli.Context) (time.Duration, error) {
	d := c.Duration("timeout")
	if d <= 0 {
		return 0, usageError("how long to wait for a host, such as -timeout 30s", "-timeout %s", d)
	}
	return d, nil
}

// dialectOf gives the dialect that a flag names.
func dialectOf(c *cli.Context, flag string, otherwise robots.Dialect) (robots.Dialect, error) {
	name := c.String(flag)
	if name == "" {
		return otherwise, nil
	}
	d, err := robots.ParseDialect(name)
	if err != nil {
		var all []string
		for _, d := range robots.Dialects() {
			all = append(all, d.String())
		}
		return 0, badChoice(flag, name, all)
	}
	return d, nil
}

// badChoice is the error for a flag with a value that is none of those known.
func badChoice(flag, value string, all []string) error {
	hint := "one of " + strings.Join(all, ", ")
	if near := nearest(value, all); near != "" {
		hint = "did you mean -" + flag + " " + near + "?"
	}
	return usageError(hint, "unknown -%s %q", flag, value)
}

// loadDir takes the file that gophd makes of a directory.
func loadDir(dir string, dialect robots.Dialect) (source, error) {
	snap, err := site.Load(dir)
	if err != nil {
		return source{}, rootError(dir, err)
	}
	return source{name: "robots.txt", file: robots.Parse(dialect, snap.Robots)}, nil
}

func loadFile(name string, dialect robots.Dialect, limit int64) (source, error) {
	r, err := os.Open(name)
	if err != nil {
		return source{}, err
	}
	defer func() { _ = r.Close() }()
	return readSource(name, dialect, r, limit)
}

func readSource(name string, dialect robots.Dialect, r io.Reader, limit int64) (source, error) {
	f, err := robots.ParseReader(dialect, r, limit)
	if err != nil {
		return source{}, fmt.Errorf("reading %s: %w", name, err)
	}
	return source{name: name, file: f}, nil
}

// loadURL asks a host for its file, in the order that its protocol wants.
func loadURL(c *cli.Context, target string) (source, error) {
	a, err := fetchRobots(c, target)
	if err != nil {
		return source{}, err
	}
	if a.Access == client.Unavailable {
		return source{name: target, note: "the host has no robots file: everything is allowed"}, nil
	}
	return source{name: a.URL, file: a.File}, nil
}

// fetchRobots gets the robots file of a host that can be reached.
func fetchRobots(c *cli.Context, target string) (*client.Answer, error) {
	timeout, err := hostTimeout(c)
	if err != nil {
		return nil, err
	}
	asking := &client.Client{Agent: c.String("agent"), Timeout: timeout, Fetch: fetcher(c).Fetch}
	if c.String("dialect") != "" {
		dialect, err := dialectOf(c, "dialect", robots.Gopher)
		if err != nil {
			return nil, err
		}
		asking.Dialect = func(string) robots.Dialect { return dialect }
	}
	if asking.Limit, err = maxSize(c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.Context, timeout)
	defer cancel()
	a, err := asking.Get(ctx, target)
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, usageError("schemes are gopher, gophers, http, https, irc and ircs: gopher://host/", "%w", err)
	case err != nil:
		return nil, unreachable(target, err)
	case a.Access == client.Unreachable:
		return nil, unreachable(target, a.Err)
	}
	return a, nil
}

func fetcher(c *cli.Context) *client.Fetcher {
	f := &client.Fetcher{UserAgent: "gophd/" + c.App.Version}
	if conf := tlsConfig(c); conf != nil {
		f.TLS, f.Transport = conf, &http.Transport{TLSClientConfig: conf, Proxy: http.ProxyFromEnvironment}
	}
	return f
}

func tlsConfig(c *cli.Context) *tls.Config {
	if !c.Bool("insecure") {
		return nil
	}
	return &tls.Config{InsecureSkipVerify: true}
}

func unreachable(target string, err error) error {
	return withHint(fmt.Errorf("asking %s: %w", target, err), unreachableHint(err))
}

func unreachableHint(err error) string {
	var bad *tls.CertificateVerificationError
	if errors.As(err, &bad) {
		return "-insecure takes any certificate"
	}
	return "until it can be reached, a robot must take everything as denied; -timeout sets how long to wait"
}

// loadNetwork asks an IRC network for its CRAWLER token.
func loadNetwork(c *cli.Context, target string, dialect robots.Dialect, limit int64) (source, error) {
	if c.String("dialect") != "" && dialect != robots.IRCv3 {
		return source{}, usageError("leave -dialect out: IRC knows ircv3 only", "no %s on IRC", dialect)
	}
	timeout, err := hostTimeout(c)
	if err != nil {
		return source{}, err
	}
	network := irc.Client{Timeout: timeout, Limit: limit, TLS: tlsConfig(c)}
	crawler, problems, err := network.Crawler(c.Context, target)
	if err != nil {
		return source{}, withHint(err, unreachableHint(err))
	}
	return source{name: target, file: robots.Parse(robots.IRCv3, []byte(crawler.String())), network: &crawler, problems: problems}, nil
}
