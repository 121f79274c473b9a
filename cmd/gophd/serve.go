package main

import (
	"log/slog"
	"math"
	"net/netip"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// serve is the daemon.
func serve(c *cli.Context) error {
	if err := noMoreArguments(c, 0); err != nil {
		return err
	}
	dir, err := needRoot(c)
	if err != nil {
		return err
	}
	if err := checkValues(c); err != nil {
		return err
	}
	conf, err := siteConfig(c)
	if err != nil {
		return err
	}
	logger, flush, err := newLogger(c)
	if err != nil {
		return err
	}
	defer flush()
	s := &service{dir: dir, log: logger}
	defer s.close()
	if err := s.open(c, conf); err != nil {
		return err
	}
	return s.run(c.Context)
}

// checkValues refuses what would leave a server that answers nobody, or menus
// without a link.
func checkValues(c *cli.Context) error {
	if err := noNegative(c, "request-timeout", "stall-timeout", "drain", "poll"); err != nil {
		return err
	}
	if port := c.Int("port"); port < 0 || port > math.MaxUint16 {
		return usageError("a number from 1 to 65535", "-port %d", port)
	}
	host := c.String("host")
	if _, err := netip.ParseAddr(host); host == "" || err == nil {
		return nil
	}
	if u, err := selector.ParseURL("gopher://" + host); err != nil || u.Host != host {
		return usageError("a name or an address alone: -host gopher.example.org; the port is -port", "-host %q", host)
	}
	return nil
}

// noNegative refuses durations below 0, which no timer knows.
func noNegative(c *cli.Context, names ...string) error {
	for _, name := range names {
		if d := c.Duration(name); d < 0 {
			return usageError("a duration of 0 or more, such as 90s or 10m", "-%s %v", name, d)
		}
	}
	return nil
}

func siteConfig(c *cli.Context) (conf site.Config, err error) {
	if err := conf.Watch.UnmarshalText([]byte(c.String("watch"))); err != nil {
		return conf, usageError("one of inotify, poll, off", "%w", err)
	}
	if conf.Cache, err = parseSize(c.String("cache")); err != nil {
		return conf, usageError("a number of octets, or KiB, MiB, GiB: -cache 64MiB", "-cache: %w", err)
	}
	conf.Poll, conf.InfoPrefix = c.Duration("poll"), c.Bool("info-prefix")
	return conf, nil
}

// open makes everything ready, in an order that matters: first what only root
// may open, then as the user that serves what serving needs, last the sandbox.
func (s *service) open(c *cli.Context, conf site.Config) (err error) {
	if _, err := os.Stat(s.dir); err != nil {
		return rootError(s.dir, err)
	}
	if err := s.openSockets(c); err != nil {
		return err
	}
	if s.certs, err = openCerts(c, s.log); err != nil {
		return err
	}
	if err := becomeUser(c, s.log); err != nil {
		return err
	}
	conf.Log, conf.Reloaded = s.log, s.reloaded
	if s.tree, err = site.Open(s.dir, conf); err != nil {
		return rootError(s.dir, err)
	}
	if s.srv, err = newServer(c, s.tree, s.log); err != nil {
		return err
	}
	if err := setTLS(c, s.srv, s.certs); err != nil {
		return err
	}
	if err := s.openAccessLog(c); err != nil {
		return err
	}
	if err := s.openStats(c); err != nil {
		return err
	}
	s.srv.ShowIP = s.ips.Name
	if len(s.observers) > 0 {
		s.srv.Observer = s.observers
	}
	return s.enterSandbox(c)
}

func newServer(c *cli.Context, tree *site.Site, logger *slog.Logger) (*server.Server, error) {
	srv := &server.Server{
		Handler:        &server.Tree{Site: tree, StrictText: c.Bool("strict-text"), Version: c.App.Version},
		RequestTimeout: c.Duration("request-timeout"), StallTimeout: c.Duration("stall-timeout"),
		DrainTimeout: drain(c.Duration("drain")),
		Host:         c.String("host"), Port: c.Int("port"), Log: logger,
	}
	if srv.Host == "" {
		srv.Host = fullName(c.Context)
	}
	return srv, setNetwork(c, srv)
}

// drain turns 0, which means none on the command line, into what server takes
// for none.
func drain(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}
