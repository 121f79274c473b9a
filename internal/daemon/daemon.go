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
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/metrics"
	"github.com/gophd/gophd/internal/stall"
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
// since gophd may be running.
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

// files makes the calls of the start that may wait for a file system.
var files = disk.Guarded(&stall.Guard{})

// open makes everything ready.
func (d *daemon) open(ctx context.Context) error {
	if _, err := files.Stat(d.conf.Root); err != nil {
		return rootError(d.conf.Root, err)
	}
	if err := d.conf.Outside(); err != nil {
		return err
	}
	d.logWarnings()
	if doubt, hint := Doubt(d.conf.Root); doubt != "" {
		d.log.Warn(doubt, "root", d.conf.Root, "hint", hint)
	}
	if err := d.checkUsers(); err != nil {
		return err
	}
	if err := d.openSockets(ctx); err != nil {
		return err
	}
	if err := d.openCerts(); err != nil {
		return err
	}
	if err := d.becomeUser(); err != nil {
		return err
	}
	if err := d.checkDirs(); err != nil {
		return err
	}
	d.lookForUsers()
	if err := d.openServer(ctx); err != nil {
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
	d.announceFronts()
	tasks, ctx := errgroup.WithContext(ctx)
	for _, l := range d.listeners {
		tasks.Go(func() error { return d.srv.Serve(ctx, l) })
	}
	for _, f := range d.fronts {
		tasks.Go(func() error { return d.srv.ServeProtocol(ctx, f.Listener, d.protocol(f.name)) })
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
	d.rereading.begin(d.conf.hosts, d.notify.Reloading)
	d.access.Reopen()
	d.certs.Reload()
	for _, s := range d.sites() {
		s.Reload()
	}
}
