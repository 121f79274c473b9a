package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/metrics"
	"github.com/gophd/gophd/internal/sandbox"
)

// rightsFlags say what gophd gives up before it serves.
func rightsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "user", Usage: "`USER[:GROUP]` to become once gophd listens", Category: catRights, EnvVars: env("user")},
		&cli.StringFlag{Name: "sandbox", Value: "auto", Usage: "`MODE` require, auto (what works) or off", Category: catRights, EnvVars: env("sandbox")},
	}
}

// becomeUser lets go of root's rights, if -user asks for it. The listeners are
// open by then; everything else is opened as that user, so that what it may
// not read is told at once and not at the next reload.
func becomeUser(c *cli.Context, logger *slog.Logger) error {
	spec := c.String("user")
	if spec == "" {
		if os.Geteuid() == 0 {
			logger.Warn("serving as root", "hint", "-user NAME lets go of root's rights once gophd listens")
		}
		return nil
	}
	u, err := sandbox.LookUpUser(spec)
	if err != nil {
		return usageError("-user wants NAME or NAME:GROUP, known to this machine (or both as numbers)", "-user: %w", err)
	}
	if err := u.Become(); errors.Is(err, fs.ErrPermission) {
		return withHint(err, "only root can become another user: start gophd as root, or leave -user out")
	} else if err != nil {
		return err
	}
	logger.Info("became user", "user", u.Name, "uid", u.UID, "gid", u.GID)
	return nil
}

// enterSandbox gives up, last before serving, what serving does not need.
func (s *service) enterSandbox(c *cli.Context) error {
	mode := c.String("sandbox")
	switch mode {
	case "off":
		return nil
	case "auto", "require":
	default:
		return usageError("one of off, auto, require", "unknown -sandbox %q", mode)
	}
	paths, err := s.needed(c)
	if err != nil {
		return err
	}
	holds, err := sandbox.Enter(paths)
	switch {
	case mode == "require" && err != nil:
		return withHint(err, "-sandbox auto serves without what fails")
	case mode == "require" && !holds.Full():
		return withHint(fmt.Errorf("-sandbox require: this kernel's Landlock (ABI %d) cannot forbid all that gophd asks for", holds.ABI),
			"Linux 6.7 and later can; -sandbox auto takes what there is")
	case err != nil:
		s.log.Warn("no sandbox", "error", err)
		return nil
	}
	s.log.Info("sandbox", "forbidden", holds)
	return nil
}

// needed lists what serving reads and writes.
func (s *service) needed(c *cli.Context) (sandbox.Paths, error) {
	read, err := sandbox.Tree(s.dir)
	for _, f := range s.certs.Files() {
		read = append(read, sandbox.Around(f.Cert)...)
		read = append(read, sandbox.Around(f.Key)...)
	}
	if s.metrics != nil {
		read = append(read, metrics.Files()...)
	}
	return sandbox.Paths{Read: read, Append: logPaths(c.String("access-log"))}, err
}
