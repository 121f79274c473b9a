package robotscmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gophd/gophd/internal/command/exit"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/robots/irc"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/site"
)

// ruleSource is the source of an answer: a robots file, a directory or an IRC network.
type ruleSource struct {
	name     string // as shown before a line number
	file     *robots.File
	snap     *site.Snapshot    // of a directory
	dir      string            // its name
	gopher   bool              // targets are selectors, not paths of URIs
	note     string            // why there is no file, if there is none
	network  *readers.Crawler  // of an IRC network
	problems []diag.Diagnostic // of the network's token
}

// load reads what a TARGET argument names.
func (c *Command) load(ctx context.Context, target string) (ruleSource, error) {
	dialect, err := dialectOf("dialect", c.Dialect, readers.Gopher)
	if err != nil {
		return ruleSource{}, err
	}
	if c.MaxSize == 0 {
		return ruleSource{}, exit.Usagef("-max-size 1MiB", "-max-size: 0 bytes are too few")
	}
	var s ruleSource
	scheme, _, isURL := strings.Cut(strings.ToLower(target), "://")
	switch {
	case isURL && (scheme == "irc" || scheme == "ircs"):
		return c.loadNetwork(ctx, target)
	case isURL:
		s, err = c.loadURL(ctx, target)
	case target == "-":
		s, err = c.readSource("standard input", dialect, c.In)
	default:
		s, err = c.loadPath(target, dialect)
	}
	if err == nil {
		s.gopher = s.gopher || !isURL && c.Dialect == ""
		c.remark(&s)
	}
	return s, err
}

// remark chooses the dialect if none was requested. It prints a remark on that
// choice, on an annotation read as a robots.txt, and on a file above the limit.
func (c *Command) remark(s *ruleSource) {
	if c.Dialect == "" && c.From == "" && !strings.HasPrefix(c.To, "content-") {
		s.file = client.Reread(s.file)
		if s.file.Dialect() == readers.RFC9309 && !strings.HasPrefix(s.name, "http") {
			exit.Say(c.Err, s.name+" uses Allow, a final $ or escapes, so it is read as rfc9309",
				"-dialect gopher knows none of these")
		}
		if filepath.Base(s.name) == ".robots" {
			exit.Say(c.Err, s.name+" is read as the robots.txt of a host",
				"as an annotation: gophd robots check DIR")
		}
	}
	if s.file.Truncated() && s.file.Size() > 0 {
		exit.Say(c.Err, fmt.Sprintf("%s is longer than the limit: only its first %d bytes count",
			s.name, s.file.Size()), "-max-size reads more; robots need not")
	}
}

// loadPath reads a file, or the file that gophd makes of a directory.
func (c *Command) loadPath(name string, dialect readers.Dialect) (ruleSource, error) {
	if info, err := disk.Caller(disk.Direct).Stat(name); err == nil && info.IsDir() {
		snap, err := site.Load(name)
		if err != nil {
			return ruleSource{}, exit.Root(name, err)
		}
		return ruleSource{
			name:   "robots.txt",
			snap:   snap,
			dir:    name,
			gopher: true,
			file:   robots.Parse(dialect, snap.Robots),
		}, nil
	}
	r, err := disk.Caller(disk.Direct).OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = exit.Hint(err, fmt.Sprintf("a target is a file, a directory, - or a URL with its scheme, such as %q", "gopher://"+name))
	}
	if err != nil {
		return ruleSource{}, err
	}
	defer func() { _ = r.Close() }()
	return c.readSource(name, dialect, r)
}

// dialectOf returns the dialect that a flag names.
func dialectOf(flag, name string, otherwise readers.Dialect) (readers.Dialect, error) {
	if name == "" {
		return otherwise, nil
	}
	d, err := readers.ParseDialect(name)
	if err != nil {
		var all []string
		for _, d := range readers.Dialects() {
			all = append(all, d.String())
		}
		if flag == "to" {
			all = append(all, "content-usage", "content-signal")
		}
		return 0, exit.Usagef("one of "+strings.Join(all, ", "), "unknown -%s %q", flag, name)
	}
	return d, nil
}

func (c *Command) readSource(name string, dialect readers.Dialect,
	r io.Reader) (ruleSource, error) {
	f, err := robots.ParseReader(dialect, r, c.MaxSize)
	if err != nil {
		return ruleSource{}, fmt.Errorf("reading %s: %w", name, err)
	}
	return ruleSource{name: name, file: f}, nil
}

// loadURL fetches the robots.txt of a host, from the selectors that its protocol prescribes, in
// their order.
func (c *Command) loadURL(ctx context.Context, target string) (ruleSource, error) {
	a, err := c.fetchRobots(ctx, target)
	if err != nil {
		return ruleSource{}, err
	}
	if a.Access == client.Unavailable {
		return ruleSource{
			name: target,
			note: "the host has no robots file" + received(a.Instead) + ": everything is allowed",
		}, nil
	}
	return ruleSource{
		name:   a.URL,
		gopher: strings.HasPrefix(a.URL, "gopher"),
		file:   a.File,
	}, nil
}

// received describes what a host sent in place of a robots file.
func received(instead error) string {
	if status, ok := errors.AsType[*client.StatusError](instead); ok {
		instead = status
	}
	if instead == nil || instead == fs.ErrNotExist { //nolint:errorlint // an error that wraps it has more to report
		return ""
	}
	return fmt.Sprintf(" (%v)", instead)
}

// fetchRobots gets the robots file of a host that can be reached.
func (c *Command) fetchRobots(ctx context.Context, target string) (*client.HostRules, error) {
	config, err := c.hostTLS()
	if err != nil {
		return nil, err
	}
	asking := &client.Client{
		Agent:   strings.Trim(readers.ProductToken(c.Agent), "*"),
		Timeout: c.Timeout,
		Fetcher: &client.Fetcher{UserAgent: "gophd/" + c.Version, TLS: config},
		Limit:   c.MaxSize,
	}
	if c.Dialect != "" {
		dialect, _ := readers.ParseDialect(c.Dialect) // load has checked it
		asking.Dialect = func(string) readers.Dialect { return dialect }
	}
	a, err := asking.Get(ctx, target)
	if err != nil && ctx.Err() == nil {
		return nil, exit.Usagef("schemes are gopher, gophers, gemini, http, https, irc and ircs: gopher://host/", "%w", err)
	}
	if err == nil && a.Access == client.Unreachable {
		err = a.Err
	}
	if err != nil {
		return nil, exit.Hint(fmt.Errorf("asking %s: %w", target, err), unreachableHint(err))
	}
	return a, nil
}

// hostTLS returns the configuration of TLS for a host, after it has checked -timeout.
func (c *Command) hostTLS() (*tls.Config, error) {
	switch {
	case c.Timeout <= 0:
		return nil, exit.Usagef("how long to wait for a host, such as -timeout 30s",
			"-timeout %s", c.Timeout)
	case c.Insecure:
		return &tls.Config{InsecureSkipVerify: true}, nil
	}
	return nil, nil
}

func unreachableHint(err error) string {
	if _, bad := errors.AsType[*tls.CertificateVerificationError](err); bad {
		return "-insecure accepts any certificate"
	}
	return "until it can be reached, a robot must take everything as denied; -timeout sets how long to wait"
}

// loadNetwork fetches the CRAWLER token of an IRC network.
func (c *Command) loadNetwork(ctx context.Context, target string) (ruleSource, error) {
	if c.Dialect != "" {
		return ruleSource{}, exit.Usagef("leave it out",
			"-dialect %s: a network has no robots.txt", c.Dialect)
	}
	config, err := c.hostTLS()
	if err != nil {
		return ruleSource{}, err
	}
	network := irc.Visitor{Timeout: c.Timeout, Limit: c.MaxSize, TLS: config}
	crawler, problems, err := network.Crawler(ctx, target)
	if err != nil {
		return ruleSource{}, exit.Hint(err, unreachableHint(err))
	}
	return ruleSource{name: target, network: &crawler, problems: problems}, nil
}
