package main

import (
	"fmt"
	"net"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/status"
	"github.com/gophd/gophd/server"
)

// statsFlags are the flags of who may see how gophd does.
func statsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "status", Usage: "`CIDR` of those who may see /server-status, repeatable", Category: catLog, EnvVars: env("status")},
		&cli.StringFlag{Name: "metrics", Usage: "`ADDR` for Prometheus, such as localhost:9170", Category: catLog, EnvVars: env("metrics")},
	}
}

// openMetrics listens for Prometheus.
func (s *service) openMetrics(c *cli.Context) (err error) {
	addr := c.String("metrics")
	if addr == "" {
		return nil
	}
	var lc net.ListenConfig
	if s.metrics, err = lc.Listen(c.Context, "tcp", addr); err != nil {
		return withHint(fmt.Errorf("-metrics: %w", err), "-metrics takes HOST:PORT, such as localhost:9170")
	}
	s.log.Info("metrics", "url", "http://"+s.metrics.Addr().String()+"/metrics")
	return nil
}

// openStats begins to count, if anybody may see it.
func (s *service) openStats(c *cli.Context) error {
	allow, err := prefixes("status", c.StringSlice("status"))
	if err != nil || len(allow) == 0 && s.metrics == nil {
		return err
	}
	s.stats = status.New(c.App.Version)
	s.stats.Server, s.stats.Site = s.srv, s.tree
	if s.access != nil {
		s.stats.Lost = s.access.Lost
	}
	s.observers = append(s.observers, s.stats)
	if next, ok := s.srv.Handler.(server.Quick); ok && len(allow) > 0 {
		s.srv.Handler = &status.Page{Next: next, Stats: s.stats, Allow: allow, ShowIP: s.ips.Name}
	}
	return nil
}
