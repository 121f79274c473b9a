package daemon

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/process/accesslog"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/source/status"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// openAccessLog opens the access log. A check does not create it.
func (d *daemon) openAccessLog() (err error) {
	name := d.conf.AccessLog
	if name == "" {
		return nil
	}
	if _, err := files.Stat(name); d.checking && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if d.access, err = accesslog.Open(name, d.conf.LogIPs, d.log); err != nil {
		return exit.Hint(err, "the user that gophd runs as must be able to write it, and to make a new one in its directory")
	}
	d.observers = append(d.observers, d.access)
	return nil
}

// logPaths returns the paths that the sandbox must keep writable for the access log: the
// directory of a file, so that it can be created again after a rotation, or a device. An unnamed
// pipe needs none.
func logPaths(name string) []string {
	real, err := files.RealPath(name)
	if name == "" || err != nil {
		return nil
	}
	info, err := files.Stat(real)
	switch {
	case err != nil:
		return nil
	case !info.Mode().IsRegular() || strings.HasPrefix(name, "/dev/"):
		return []string{real}
	}
	return sandbox.Around(name)
}

// openStats starts the statistics if the status page or the metrics need them.
func (d *daemon) openStats() {
	if len(d.conf.Status) == 0 && d.metrics == nil {
		return
	}
	d.stats = status.New(d.conf.Version)
	d.stats.Server = d.srv
	for _, h := range d.conf.hosts {
		h.stats = &status.HostStats{
			Name:     cmp.Or(h.name, d.srv.Host),
			Site:     h.tree,
			Enforcer: h.enforcer,
		}
		d.stats.Hosts = append(d.stats.Hosts, h.stats)
	}
	if d.access != nil {
		d.stats.Lost = d.access.Lost
	}
	if d.conf.search != nil {
		d.stats.Searchable = d.conf.search.Counts
	}
	d.observers = append(d.observers, d.stats)
	if len(d.conf.Status) > 0 {
		page := &status.Page{
			Stats:  d.stats,
			Allow:  d.conf.Status,
			ShowIP: d.conf.LogIPs.Name,
		}
		first := d.conf.hosts[0].front.Host
		first.Before = append([]answer.Source{page}, first.Before...)
	}
}

// reloaded is called after each reload of a host.
func (d *daemon) reloaded(h *virtualHost, r site.Reload) {
	if h.stats != nil {
		h.stats.Reloaded(r)
	}
	if h.name == "" && d.conf.search != nil {
		d.conf.search.Reloaded()
	}
	if !r.Everything {
		return
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	h.read = r.Start
	unread := func(h *virtualHost) bool { return h.read.Before(d.asked) }
	if !d.asked.IsZero() && !slices.ContainsFunc(d.conf.hosts, unread) {
		d.asked = time.Time{}
		d.notify.Ready()
	}
}

// alive reports whether the handler answers and connections are accepted. Since the sandbox
// forbids connecting, the request goes through memory and the kernel reports the lengths of the
// queues. The request reads no file: a hung disk is no reason for a restart.
func (d *daemon) alive(ctx context.Context) bool {
	if !d.answers(ctx) {
		return false
	}
	for _, l := range d.listeners {
		if !d.accepts(ctx, l.Listener) {
			d.log.Error("connections are not accepted", "address", l.Addr().String())
			return false
		}
	}
	return true
}

// answers sends the handler a request for a name that is never served.
func (d *daemon) answers(ctx context.Context) bool {
	client, conn := net.Pipe()
	defer func() { _ = client.Close() }()
	probe := server.Server{Handler: d.srv.Handler, LingerTimeout: time.Nanosecond}
	go probe.ServeConn(ctx, conn)
	if end, ok := ctx.Deadline(); ok {
		_ = client.SetDeadline(end)
	}
	if _, err := io.WriteString(client, "/.alive\n"); err != nil {
		return false
	}
	var first [1]byte
	_, err := io.ReadFull(client, first[:])
	if err != nil {
		d.log.Error("the handler does not answer", "error", err)
	}
	return err == nil
}

// accepts waits until a listener's queue is empty or the server accepts a connection. It returns
// false at the deadline of ctx, but true if gophd ends meanwhile.
func (d *daemon) accepts(ctx context.Context, l net.Listener) bool {
	before := d.srv.Counts().Accepted
	for waiting(l) > 0 && d.srv.Counts().Accepted == before {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return errors.Is(ctx.Err(), context.Canceled)
		}
	}
	return true
}

// tellProgress logs the progress of the first scan and then of the search index every 2 s, until
// both are complete, if the log goes to a terminal.
func (d *daemon) tellProgress(ctx context.Context) {
	if !d.logs.ForPeople {
		return
	}
	indexed := 0 // directories; the number stays while a file system hangs
	for {
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return
		}
		working := false
		for _, h := range d.conf.hosts {
			if h.tree.Now() == nil {
				working = true
				d.log.Info(diag.EventReading, "root", h.dir, "directories", h.tree.Scanned())
			}
		}
		if search := d.conf.search; search != nil && !working && !d.checking {
			done, complete := search.Progress()
			if working = !complete; working && done != indexed {
				d.log.Info(diag.EventIndexing, "directories", done)
			}
			indexed = done
		}
		if !working {
			return
		}
	}
}
