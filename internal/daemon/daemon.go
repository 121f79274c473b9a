// Package daemon is how a server process lives: it opens its sockets, gives up
// what it does not need, serves, does what signals and systemd ask for, and ends.
//
//	Flags → Settings (checked) → open → serve until SIGTERM → close
//
// Opening goes in an order that matters: first what only root may open, then, as
// the user that serves, what serving needs, the sandbox last.
package daemon

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gophd/gophd/fileserver"
	"github.com/gophd/gophd/internal/accesslog"
	"github.com/gophd/gophd/internal/enforce"
	"github.com/gophd/gophd/internal/exit"
	"github.com/gophd/gophd/internal/feed"
	"github.com/gophd/gophd/internal/keypair"
	"github.com/gophd/gophd/internal/logs"
	"github.com/gophd/gophd/internal/metrics"
	"github.com/gophd/gophd/internal/programs"
	"github.com/gophd/gophd/internal/sitesearch"
	"github.com/gophd/gophd/internal/status"
	"github.com/gophd/gophd/internal/systemd"
	"github.com/gophd/gophd/internal/webview"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Run serves until ctx ends, a signal ends it, or something fails. It logs to
// stderr. Errors are those of package exit.
func Run(ctx context.Context, conf *Settings, stderr io.Writer) error {
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

func newDaemon(conf *Settings, stderr io.Writer) *daemon {
	l := logs.Open(stderr, logs.Style{Level: conf.logLevel, Format: conf.logFormat})
	return &daemon{conf: conf, log: l.Logger, requests: l.Requests(), logs: l}
}

// daemon is what runs, and who is told how it goes.
type daemon struct {
	conf      *Settings
	srv       *server.Server
	mux       server.ServeMux // its Handler: the tree, and what is beside it
	tree      *site.Site
	certs     *keypair.Store // nil: no TLS
	listeners []net.Listener
	conn      net.Conn          // of -inetd, instead of listeners
	notify    *systemd.Notifier // nil: not under systemd
	log       *slog.Logger
	requests  *slog.Logger      // for the server
	logs      *logs.Logger      // what both write to
	checking  bool              // nothing is served
	access    *accesslog.Log    // nil: none
	stats     *status.Stats     // nil: nobody may see them
	page      *status.Page      // that shows them; nil: nobody may see it
	metrics   net.Listener      // nil: none for Prometheus
	enforcer  *enforce.Enforcer // nil: robots are not held to anything
	observers observers

	rereading atomic.Pointer[time.Time] // when SIGHUP came, until it is done
}

// open makes everything ready.
func (d *daemon) open(ctx context.Context) error {
	if _, err := os.Stat(d.conf.root); err != nil {
		return exit.Root(d.conf.root, err)
	}
	if doubt, hint := Doubt(d.conf.root); doubt != "" {
		d.log.Warn(doubt, "root", d.conf.root, "hint", hint)
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
	if err := d.openTree(); err != nil {
		return err
	}
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

func (d *daemon) openTree() (err error) {
	conf := d.conf.site
	conf.Log, conf.Reloaded = d.log, d.reloaded
	if d.conf.search != nil {
		conf.Touched = d.conf.search.Touch
	}
	if d.tree, err = site.Open(d.conf.root, conf); err != nil {
		return exit.Root(d.conf.root, err)
	}
	return d.openHosts()
}

func (d *daemon) openServer(ctx context.Context) (err error) {
	d.srv = d.conf.server
	d.conf.files.Site = d.tree
	d.conf.files.Missing = d.madeByUs()
	d.mux.Handle("/", d.withPrograms())
	if len(d.conf.hosts) > 0 {
		d.conf.files.Hosts = d.hostItems
	}
	var first server.Handler = &d.mux
	if d.conf.enforce != enforce.Off {
		d.enforcer = d.enforce(d.tree, first)
		first = d.enforcer
	}
	if d.srv.Handler, err = d.handler(first); err != nil {
		return err
	}
	d.srv.HTTP = d.browsers()
	d.srv.Log, d.srv.ShowIP = d.requests, d.conf.ips.Name
	if d.srv.Host == "" {
		d.srv.Host = fullName(ctx)
	}
	return d.setTLS()
}

// browsers answers HTTP, if anybody is to: for each host with its own site.
func (d *daemon) browsers() func(*server.HTTPConn, *server.Request) error {
	if d.conf.http == "off" {
		return nil
	}
	first := d.pages(d.tree, &d.mux, d.conf.files, d.conf.search != nil)
	if view, ok := first.(*webview.Pages); ok {
		view.Drawn = d.drawn
	}
	web := &webview.HTTPServer{Log: d.log, Site: func(r *server.Request) (http.Handler, *server.Request) {
		if all, ok := d.srv.Handler.(*hosts); ok {
			if named := all.named(r); named != nil {
				return named.web, named.own(r)
			}
		}
		return first, r
	}}
	return web.Serve
}

// pages is what browsers get of a site.
func (d *daemon) pages(tree *site.Site, handler server.Handler, files *fileserver.Files, search bool) http.Handler {
	if d.conf.http == "view" {
		return &webview.Pages{Site: tree, Handler: handler, Search: search}
	}
	return &webview.AddressPage{Handler: handler, Type: files.ItemType, Site: tree}
}

// enforce holds robots of a site to what they have read.
func (d *daemon) enforce(s *site.Site, next server.Handler) *enforce.Enforcer {
	return &enforce.Enforcer{Mode: d.conf.enforce, Spare: d.conf.spare, Site: s, Next: next}
}

// withPrograms is what serves the tree, and asks programs for what they answer.
func (d *daemon) withPrograms() server.Handler {
	if len(d.conf.programs) == 0 {
		return d.conf.files
	}
	for _, rule := range d.conf.programs {
		rule.LogErrors(d.log)
	}
	h := &programs.Programs{Rules: d.conf.programs, Next: d.conf.files, Site: d.tree,
		Software: "gophd/" + d.conf.version, InfoPrefix: d.conf.files.InfoPrefix, Log: d.log}
	d.conf.files.Answers = h.Answers
	return h
}

// madeByUs answers what gophd makes itself where the tree has no such name.
func (d *daemon) madeByUs() server.Handler {
	var made server.ServeMux
	made.Handle("/", &feed.Feeds{Site: d.tree, InfoPrefix: d.conf.files.InfoPrefix, Web: d.conf.http == "view"})
	if s := d.conf.search; s != nil {
		s.Site, s.Log = d.tree, d.log
		made.Handle(sitesearch.Selector, s)
	}
	return &made
}

// serve serves the listeners.
func (d *daemon) serve(ctx context.Context) error {
	announce(d.log, d.conf.root, d.srv, d.listeners)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := make(chan os.Signal, 4)
	signal.Ignore(syscall.SIGPIPE) // a reader of the log that goes away takes only lines with it
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	tasks, ctx := errgroup.WithContext(ctx)
	for _, l := range d.listeners {
		tasks.Go(func() error { return d.srv.Serve(ctx, l) })
	}
	for _, s := range d.sites() {
		tasks.Go(func() error { return s.Run(ctx) })
	}
	tasks.Go(func() error { d.tellProgress(ctx); return nil })
	if d.conf.search != nil {
		tasks.Go(func() error { return d.conf.search.Run(ctx) })
	}
	if d.metrics != nil {
		tasks.Go(func() error { return metrics.Serve(ctx, d.metrics, d.stats) })
	}
	tasks.Go(func() error { d.notify.Watch(ctx, d.alive); return nil })
	go d.obey(signals, stop)
	d.notify.Ready()
	err := tasks.Wait()
	if err == nil {
		d.log.Info("stopped")
	}
	return err
}

// close lets go of what was opened.
func (d *daemon) close() {
	closeAll(d.listeners)
	d.access.Close()
	d.logs.Close()
}

// obey does what signals ask for: the first SIGTERM or SIGINT stops, a second
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
	now := time.Now()
	d.rereading.Store(&now)
	d.notify.Reloading()
	d.access.Reopen()
	d.certs.Reload()
	for _, s := range d.sites() {
		s.Reload()
	}
}

// reloaded is called after each reload.
func (d *daemon) reloaded(r site.Reload) {
	if d.stats != nil {
		d.stats.Reloaded(r)
	}
	if d.conf.search != nil {
		d.conf.search.Reloaded()
	}
	asked := d.rereading.Load()
	if asked != nil && r.Reopened && !r.Start.Before(*asked) && d.rereading.CompareAndSwap(asked, nil) {
		d.notify.Ready()
	}
}
