package daemon

import (
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/process/accesslog"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/logs"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/source/status"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A daemon is a running gophd and everything that reports on it.
type daemon struct {
	conf      *Settings
	srv       *server.Server
	certs     *keypair.Certificates // nil: no TLS
	hosts     *hosts
	listeners []listener
	conn      net.Conn          // of -inetd, instead of listeners
	notify    *systemd.Notifier // nil: not under systemd
	log       *slog.Logger
	requests  *slog.Logger   // for the server
	logs      *logs.Logger   // what both write to
	checking  bool           // nothing is served
	access    *accesslog.Log // nil: none
	stats     *status.Stats  // nil: off
	page      *status.Page   // nil: off
	metrics   net.Listener   // nil: none for Prometheus
	observers observers
	limiter   answer.Limiter     // of all hosts
	programs  *programs.Programs // of all hosts
	cache     *answer.Cache      // of all hosts; nil: nothing is kept

	rereading rereading
}

func newDaemon(conf *Settings, stderr io.Writer) *daemon {
	l := logs.Open(stderr, logs.Style{Level: conf.logLevel, Format: conf.LogFormat})
	d := &daemon{conf: conf, cache: answer.NewCache(conf.Cache), log: l.Logger, requests: l.Requests(), logs: l}
	if conf.Inetd {
		d.log, d.requests = inetdLogger(d.log), inetdLogger(d.requests)
	}
	d.programs = &programs.Programs{Rules: conf.programs, Software: "gophd/" + conf.Version, Log: d.log}
	return d
}

// observers pass each request on.
type observers []server.Observer

// Observe passes the request to all observers.
func (o observers) Observe(r server.Served) {
	for _, one := range o {
		one.Observe(r)
	}
}

// sites returns the sites of all hosts in order.
func (d *daemon) sites() []*site.Site {
	var all []*site.Site
	for _, h := range d.conf.hosts {
		all = append(all, h.tree)
	}
	return all
}

// close closes what was opened.
func (d *daemon) close() {
	for _, l := range d.listeners {
		_ = l.Close()
	}
	d.access.Close()
	d.logs.Close()
}

// rereading tracks a SIGHUP until every host was read. The zero value tracks none.
type rereading struct {
	mu    sync.Mutex
	asked time.Time
	left  map[*virtualHost]bool // the hosts that are still to be read
}

// begin asks for all hosts. It calls say before any of them is done.
func (r *rereading) begin(hosts []*virtualHost, say func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.left = time.Now(), map[*virtualHost]bool{}
	for _, h := range hosts {
		r.left[h] = true
	}
	say()
}

// done notes that a host was read from start on. It calls say if it was the last one.
func (r *rereading) done(h *virtualHost, start time.Time, say func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.left[h] || start.Before(r.asked) {
		return
	}
	if delete(r.left, h); len(r.left) == 0 {
		say()
	}
}
