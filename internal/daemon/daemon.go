// Package daemon runs the server process: it opens its sockets, drops needless
// privileges, serves, obeys signals and systemd, and ends.
//
//	Flags → Settings (checked) → open → serve until SIGTERM → close
//
// The order of opening matters: files and ports that only root may open come first, then
// everything else as the user that serves, then the sandbox.
package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/front/smallnet"
	"github.com/gophd/gophd/internal/process/metrics"
)

// Run serves until ctx ends, a signal ends it, or something fails. It logs to stderr.
// Its errors come from package exit.
func Run(ctx context.Context, conf *Settings, stderr io.Writer) error {
	signal.Ignore(syscall.SIGPIPE) // a reader of the log that goes away takes only lines with it
	d := newDaemon(conf, stderr)
	defer d.close()
	if err := d.open(ctx); err != nil {
		return err
	}
	if d.conn != nil {
		return d.serveOne(ctx)
	}
	return d.serve(ctx)
}

// Check starts as Run does, up to the first reading of the tree, and does not serve. The
// log, to stderr, shows the same lines as a start. An address that is in use is no error,
// since gophd may be running. If several things keep gophd from starting, the error is
// Failures.
func Check(ctx context.Context, conf *Settings, stderr io.Writer) error {
	d := newDaemon(conf, stderr)
	defer d.close()
	d.checking = true
	if err := d.open(ctx); err != nil {
		return err
	}
	d.announce()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go d.tellProgress(ctx)
	for _, s := range d.sites() {
		_, end, err := s.Read(ctx)
		if err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// open makes everything ready.
func (d *daemon) open(ctx context.Context) error {
	for _, err := range d.conf.Warnings {
		d.logWarning(err)
	}
	d.srv = d.conf.server
	if d.srv.Host == "" {
		d.srv.Host = fullName(ctx)
	}
	failures := d.test(d.checking)
	for _, step := range []func() error{func() error { return d.openSockets(ctx) }, d.openCerts, d.becomeUser} {
		if len(failures) > 0 && !d.checking {
			break
		}
		err := step()
		if several, ok := errors.AsType[Failures](err); ok {
			failures = append(failures, several...)
		} else if err != nil {
			failures = append(failures, err)
		}
	}
	if err := failures.orNil(); err != nil {
		return err
	}

	if err := d.openServer(); err != nil {
		return err
	}
	if err := d.openAccessLog(); err != nil {
		return err
	}
	d.openStats()
	if len(d.observers) > 0 {
		d.srv.Observer = d.observers
	}
	return d.enterSandbox()
}

// serve serves the listeners. A signal that comes before it says so is obeyed then.
func (d *daemon) serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	d.announce()
	tasks, ctx := errgroup.WithContext(ctx)
	others := &smallnet.Protocols{Hosts: d.hostOf, ClientCert: len(d.conf.programs) > 0}
	for _, l := range d.listeners {
		tasks.Go(func() error {
			if l.make == nil {
				return d.srv.Serve(ctx, l.Listener)
			}
			return d.srv.ServeProtocol(ctx, l.Listener, l.make(others))
		})
	}
	for _, s := range d.sites() {
		tasks.Go(func() error { return s.Run(ctx) })
	}
	tasks.Go(func() error { d.certs.Run(ctx); return nil })
	tasks.Go(func() error { d.tellProgress(ctx); return nil })
	if d.conf.search != nil {
		tasks.Go(func() error { return d.conf.search.Run(ctx) })
	}
	if d.metrics != nil {
		tasks.Go(func() error { return metrics.Serve(ctx, d.metrics, d.stats) })
	}
	tasks.Go(func() error { d.notify.Watch(ctx, d.alive); return nil })
	d.notify.Ready() // before a signal is obeyed: a READY=1 after RELOADING=1 would end the reload
	go d.obey(signals, stop)
	err := tasks.Wait()
	if err == nil {
		d.log.Info("stopped")
	}
	return err
}

// obey handles signals: the first SIGTERM or SIGINT stops, a second
// ends at once, SIGHUP reads everything again.
func (d *daemon) obey(signals <-chan os.Signal, stop func()) {
	stopping := false
	for sig := range signals {
		switch {
		case sig == syscall.SIGHUP:
			d.reread(sig)
		case stopping:
			os.Exit(exit.Failure)
		default:
			d.log.Info("stopping", "signal", sig.String())
			d.notify.Stopping()
			stopping = true
			stop()
		}
	}
}

func (d *daemon) reread(sig os.Signal) {
	d.log.Info("reading everything again", "signal", sig.String())
	d.reloading.Lock()
	d.asked = time.Now()
	d.notify.Reloading()
	d.reloading.Unlock()
	d.access.Reopen()
	d.certs.Reload()
	for _, s := range d.sites() {
		s.Reload()
	}
}
