// Package daemon runs the server process: it opens sockets, drops privileges, serves, handles
// signals, and reports to systemd.
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
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/front/smallnet"
	"github.com/gophd/gophd/internal/process/accesslog"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/logs"
	"github.com/gophd/gophd/internal/process/metrics"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/source/status"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Run serves until ctx ends, a signal ends it, or something fails. It logs to stderr.
// Its errors come from package exit.
func Run(ctx context.Context, conf *Settings, stderr io.Writer) error {
	signal.Ignore(syscall.SIGPIPE) // if the reader of the log ends, only its lines are lost
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

// Check starts as Run does, with the same lines in the log to stderr, but ends after the first
// scan. An address in use is no error, since gophd may be running. Several errors are Failures.
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

// open prepares everything for serving.
func (d *daemon) open(ctx context.Context) error {
	for _, err := range d.conf.Warnings {
		d.logWarning(err)
	}
	d.srv = d.conf.server
	if d.srv.Host == "" {
		d.srv.Host = fullName(ctx)
	}
	failures := d.test(d.checking)
	for _, step := range []func() error{func() error {
		return d.openSockets(ctx)
	}, d.openCerts, d.becomeUser} {
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
	d.srv.Observer = d.observers
	return d.enterSandbox()
}

// serve serves the listeners until ctx ends or a signal stops it. Signals that arrive before
// systemd is notified are handled afterwards.
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
	d.notify.Ready() // before signals are handled: a READY=1 after RELOADING=1 would end the reload
	go d.obey(signals, stop)
	err := tasks.Wait()
	if err == nil {
		d.log.Info("stopped")
	}
	return err
}

// obey handles signals: SIGHUP reloads everything, the first SIGTERM or SIGINT starts a graceful
// stop, and a second one ends the process.
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
	for _, s := range d.sites() {
		s.Reload()
	}
}

// A daemon is a running gophd.
type daemon struct {
	conf      *Settings
	srv       *server.Server
	certs     *keypair.Certificates // nil: no TLS
	hosts     *hosts
	listeners []listener
	conn      net.Conn          // of -inetd, instead of listeners
	notify    *systemd.Notifier // nil without systemd
	log       *slog.Logger
	logs      *logs.Logger   // behind log
	checking  bool           // for gophd check-config: nothing is served
	access    *accesslog.Log // nil: none
	stats     *status.Stats  // nil: off
	metrics   net.Listener   // nil: none for Prometheus
	observers observers
	ports     map[string]int     // in links, by URL scheme
	limiter   answer.Limiter     // of all hosts
	programs  *programs.Programs // of all hosts
	cache     *answer.Cache      // of all hosts, or nil

	reloading sync.Mutex
	asked     time.Time // of the last SIGHUP; zero when all hosts have been read since
}

func newDaemon(conf *Settings, stderr io.Writer) *daemon {
	if conf.Inetd && isConnection(os.Stderr) {
		stderr = io.Discard
	}
	l := logs.Open(stderr, conf.logLevel, conf.LogFormat)
	d := &daemon{
		conf:  conf,
		cache: answer.NewCache(conf.Cache),
		log:   l.Logger,
		logs:  l,
	}
	d.programs = &programs.Programs{
		Rules:    conf.programs,
		Software: "gophd/" + conf.Version,
		Log:      d.log,
	}
	return d
}

// observers are several observers as one.
type observers []server.Observer

// Observe calls all observers.
func (o observers) Observe(r server.Served) {
	for _, one := range o {
		one.Observe(r)
	}
}

// sites returns the sites of all hosts.
func (d *daemon) sites() []*site.Site {
	var all []*site.Site
	for _, h := range d.conf.hosts {
		all = append(all, h.tree)
	}
	return all
}

// close closes the listeners and the logs.
func (d *daemon) close() {
	for _, l := range d.listeners {
		_ = l.Close()
	}
	d.access.Close()
	d.logs.Close()
}
