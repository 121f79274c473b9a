package daemon

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"

	"github.com/gophd/gophd/fileserver"
	"github.com/gophd/gophd/internal/enforce"
	"github.com/gophd/gophd/internal/exit"
	"github.com/gophd/gophd/internal/feed"
	"github.com/gophd/gophd/internal/programs"
	"github.com/gophd/gophd/internal/sitesearch"
	"github.com/gophd/gophd/internal/webview"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

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

// hosts hands each request to the host that it is for. A client names a host only
// by TLS; others are told apart by the address that they have reached. No name from
// a client becomes a path: it is looked up among the names that were configured.
type hosts struct {
	first  server.Handler
	byName map[string]*virtualHost
	byAddr map[netip.AddrPort]*virtualHost // an unspecified address is any of this port
}

// ServeGopher hands the request on.
func (h *hosts) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	handler, r := h.of(r)
	return handler.ServeGopher(w, r)
}

// Quick asks the handler for the request, if it is Quick, too.
func (h *hosts) Quick(r *server.Request) (server.Answer, bool) {
	handler, r := h.of(r)
	if quick, ok := handler.(server.Quick); ok {
		return quick.Quick(r)
	}
	return server.Answer{}, false
}

// of returns the handler for a request, and the request as it concerns that host.
func (h *hosts) of(r *server.Request) (server.Handler, *server.Request) {
	named := h.named(r)
	if named == nil {
		return h.first, r
	}
	return named.handler, named.own(r)
}

// named returns the host that a request is for, nil for the first site.
func (h *hosts) named(r *server.Request) *virtualHost {
	if named := h.byName[hostName(r.ServerName)]; named != nil {
		return named
	}
	local := netip.AddrPortFrom(r.Local.Addr().Unmap(), r.Local.Port())
	if named := h.byAddr[local]; named != nil {
		return named
	}
	return h.byAddr[netip.AddrPortFrom(netip.Addr{}, local.Port())]
}

// openHosts opens the sites of all virtual hosts.
func (d *daemon) openHosts() error {
	for _, h := range d.conf.hosts {
		if _, err := os.Stat(h.dir); err != nil {
			return exit.Root(h.dir, err)
		}
		conf := d.conf.site
		conf.Users, conf.Mounts, conf.Programs, conf.Log = "", nil, nil, d.log.With("host", h.name)
		tree, err := site.Open(h.dir, conf)
		if err != nil {
			return exit.Root(h.dir, err)
		}
		files := fileserver.Files{Site: tree, StrictText: d.conf.files.StrictText, InfoPrefix: d.conf.files.InfoPrefix,
			Dates: d.conf.files.Dates, Charset: d.conf.files.Charset, Version: d.conf.files.Version, Cache: d.conf.files.Cache,
			Hosts: d.hostItems, Missing: &feed.Feeds{Site: tree, InfoPrefix: d.conf.files.InfoPrefix, Web: d.conf.http == "view"}}
		h.tree, h.handler, h.web = tree, &files, d.pages(tree, &files, &files, false)
		if d.conf.enforce != enforce.Off {
			h.handler = d.enforce(tree, h.handler)
		}
	}
	return nil
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

// handler is that of all hosts: first, if there are no others.
func (d *daemon) handler(first server.Handler) (server.Handler, error) {
	if len(d.conf.hosts) == 0 {
		return first, nil
	}
	all := &hosts{first: first, byName: map[string]*virtualHost{}, byAddr: map[netip.AddrPort]*virtualHost{}}
	for _, h := range d.conf.hosts {
		all.byName[h.name] = h
	}
	for addr, name := range d.conf.listenNames {
		at, err := net.ResolveTCPAddr("tcp", withPort(addr))
		if err != nil {
			return nil, exit.Usagef("-listen ADDR=NAME: HOST:PORT=NAME, :PORT=NAME", "-listen %q: %w", addr+"="+name, err)
		}
		ip := at.AddrPort().Addr().Unmap()
		if !ip.IsValid() || ip.IsUnspecified() {
			ip = netip.Addr{}
		}
		all.byAddr[netip.AddrPortFrom(ip, uint16(at.Port))] = all.byName[name]
	}
	return all, nil
}

// hostItems are the items of a line "%" in a gophermap.
func (d *daemon) hostItems() (items []menu.Item) {
	for _, h := range d.conf.hosts {
		items = append(items, menu.Item{Type: menu.TypeMenu, Label: h.name, Host: h.name})
	}
	return items
}
