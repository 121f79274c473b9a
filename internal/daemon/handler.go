package daemon

import (
	"context"
	"net"
	"net/http"
	"net/netip"

	"github.com/gophd/gophd/internal/exit"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/server"
)

func (d *daemon) openServer(ctx context.Context) (err error) {
	for _, rule := range d.conf.programs {
		rule.LogErrors(d.log)
	}
	if err := d.openHosts(); err != nil {
		return err
	}
	all, err := d.conf.newHosts()
	if err != nil {
		return err
	}
	d.srv = d.conf.server
	d.srv.Handler = all
	if len(d.conf.hosts) == 1 {
		d.srv.Handler = all.first.handler
	}
	if d.conf.http != "off" {
		browsers := &web.HTTPServer{Log: d.log, Site: func(r *server.Request) (http.Handler, *server.Request) {
			h := all.of(r)
			return h.web, h.own(r)
		}}
		d.srv.HTTP = browsers.Serve
	}
	d.srv.Log, d.srv.ShowIP = d.requests, d.conf.ips.Name
	if d.srv.Host == "" {
		d.srv.Host = fullName(ctx)
	}
	return d.setTLS()
}

// hosts hands each request to the host that it is for. A client names a host only
// by TLS; others are told apart by the address that they have reached. No name from
// a client becomes a path: it is looked up among the names that were configured.
type hosts struct {
	first  *virtualHost
	byName map[string]*virtualHost
	byAddr map[netip.AddrPort]*virtualHost // an unspecified address is any of this port
}

func (c *Settings) newHosts() (*hosts, error) {
	all := &hosts{first: c.hosts[0], byName: map[string]*virtualHost{}, byAddr: map[netip.AddrPort]*virtualHost{}}
	for _, h := range c.hosts[1:] {
		all.byName[h.name] = h
	}
	for addr, name := range c.listenNames {
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

// ServeGopher hands the request on.
func (h *hosts) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	to := h.of(r)
	return to.handler.ServeGopher(w, to.own(r))
}

// Quick asks the handler for the request, if it is Quick, too.
func (h *hosts) Quick(r *server.Request) (server.Answer, bool) {
	to := h.of(r)
	if quick, ok := to.handler.(server.Quick); ok {
		return quick.Quick(to.own(r))
	}
	return server.Answer{}, false
}

// of returns the host that a request is for.
func (h *hosts) of(r *server.Request) *virtualHost {
	if named := h.byName[hostName(r.ServerName)]; named != nil {
		return named
	}
	local := netip.AddrPortFrom(r.Local.Addr().Unmap(), r.Local.Port())
	if at := h.byAddr[local]; at != nil {
		return at
	}
	if at := h.byAddr[netip.AddrPortFrom(netip.Addr{}, local.Port())]; at != nil {
		return at
	}
	return h.first
}
