package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gophd/gophd/internal/accesslog"
	"github.com/gophd/gophd/internal/keypair"
	"github.com/gophd/gophd/internal/metrics"
	"github.com/gophd/gophd/internal/status"
	"github.com/gophd/gophd/internal/systemd"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// service is what runs, and who is told how it goes.
type service struct {
	dir       string // the content root
	srv       *server.Server
	tree      *site.Site
	certs     *keypair.Store // nil: no TLS
	listeners []net.Listener
	conn      net.Conn          // of -inetd, instead of listeners
	notify    *systemd.Notifier // nil: not under systemd
	log       *slog.Logger
	ips       accesslog.IPs  // how logs name addresses
	access    *accesslog.Log // nil: none
	stats     *status.Stats  // nil: nobody may see them
	metrics   net.Listener   // nil: none for Prometheus
	observers observers

	rereading atomic.Pointer[time.Time] // when SIGHUP came, until it is done
}

// run serves until ctx ends, a signal ends it, or a task fails.
func (s *service) run(ctx context.Context) error {
	if s.conn != nil {
		return s.serveOne(ctx)
	}
	announce(s.log, s.dir, s.srv, s.listeners)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := make(chan os.Signal, 4)
	signal.Ignore(syscall.SIGPIPE) // a reader of the log that goes away takes only lines with it
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	tasks, ctx := errgroup.WithContext(ctx)
	for _, l := range s.listeners {
		tasks.Go(func() error { return s.srv.Serve(ctx, l) })
	}
	tasks.Go(func() error { return s.tree.Run(ctx) })
	if s.metrics != nil {
		tasks.Go(func() error { return metrics.Serve(ctx, s.metrics, s.stats) })
	}
	tasks.Go(func() error { s.notify.Watch(ctx, s.alive); return nil })
	go s.obey(signals, stop)
	s.notify.Ready()
	err := tasks.Wait()
	if err == nil {
		s.log.Info("stopped")
	}
	return err
}

// close lets go of what was opened.
func (s *service) close() {
	closeAll(s.listeners)
	s.access.Close()
}

// obey does what signals ask for: the first SIGTERM or SIGINT stops, a second
// ends at once, SIGHUP reads everything anew.
func (s *service) obey(signals <-chan os.Signal, stop func()) {
	stopping := false
	for sig := range signals {
		switch {
		case sig == syscall.SIGHUP:
			s.reread(sig)
		case stopping:
			os.Exit(exitFailure)
		default:
			s.log.Info("stopping", "signal", sig.String())
			s.notify.Stopping()
			stopping = true
			stop()
		}
	}
}

func (s *service) reread(sig os.Signal) {
	s.log.Info("reading everything anew", "signal", sig.String())
	now := time.Now()
	s.rereading.Store(&now)
	s.notify.Reloading()
	s.access.Reopen()
	s.certs.Reload()
	s.tree.Reload()
}

// reloaded is called after each reload.
func (s *service) reloaded(r site.Reload) {
	if s.stats != nil {
		s.stats.Reloaded(r)
	}
	asked := s.rereading.Load()
	if asked != nil && r.Reopened && !r.Start.Before(*asked) && s.rereading.CompareAndSwap(asked, nil) {
		s.notify.Ready()
	}
}
