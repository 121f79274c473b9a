package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/accesslog"
	"github.com/gophd/gophd/internal/sandbox"
	"github.com/gophd/gophd/server"
)

// accessFlags are the flags of who was here.
func accessFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "access-log", Usage: "`FILE` for a line per request, in Apache's form", Category: catLog, EnvVars: env("access-log")},
		&cli.StringFlag{Name: "log-ips", Value: "full", Usage: "`FORM` of addresses: full, masked or none", Category: catLog, EnvVars: env("log-ips")},
	}
}

// openAccessLog opens what those flags ask for.
func (s *service) openAccessLog(c *cli.Context) error {
	if err := s.ips.UnmarshalText([]byte(c.String("log-ips"))); err != nil {
		return usageError("one of full, masked (/24, IPv6 /48), none", "unknown -log-ips %q", c.String("log-ips"))
	}
	name := c.String("access-log")
	if name == "" {
		return nil
	}
	var err error
	if s.access, err = accesslog.Open(name, s.ips, s.log); err != nil {
		return withHint(err, "the user that gophd runs as must be able to write it, and to make it anew in its directory")
	}
	s.observers = append(s.observers, s.access)
	return nil
}

// logPaths is where the access log is written: a file in its directory, so that
// it can be made anew when it was rotated; a device, or /dev/stdout, as it is. A
// pipe without a name needs no right.
func logPaths(name string) []string {
	real, err := filepath.EvalSymlinks(name)
	if name == "" || err != nil {
		return nil
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil
	case !info.Mode().IsRegular() || strings.HasPrefix(name, "/dev/"):
		return []string{real}
	}
	return sandbox.Around(name)
}

// observers are all told.
type observers []server.Observer

// Observe tells all.
func (o observers) Observe(r server.Served) {
	for _, one := range o {
		one.Observe(r)
	}
}
