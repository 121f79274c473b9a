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

	reloading sync.Mutex
	asked     time.Time // for what SIGHUP reads; zero when all hosts have been read since
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
