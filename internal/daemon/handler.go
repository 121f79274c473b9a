package daemon

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/server"
)

// openServer opens the sites and connects the server with what answers for them.
func (d *daemon) openServer() error {
	d.ports = d.linkPorts()
	if err := d.openHosts(); err != nil {
		return err
	}
	d.hosts = d.conf.newHosts(d.listeners)
	d.srv.Handler = d.hosts
	if d.conf.HTTP != "off" {
		browsers := &web.HTTPServer{Log: d.log, Site: d.hosts.browsed}
		d.srv.HTTP = browsers.Serve
	}
	d.srv.Log, d.srv.ShowIP = d.logs.Requests, d.conf.LogIPs.Name
	return d.setTLS()
}

// hosts passes each request to its host. A client names the host by TLS, a browser also in its
// request, a trusted proxy in its header; for other clients the address decides that they have
// reached. Names are looked up among the configured ones and never become paths.
type hosts struct {
	*Settings
	byAddr map[netip.AddrPort]named // an unspecified address is any of this port
}

// named is a host under one of its names.
type named struct {
	*virtualHost
	as string // "" for the first host
}

// own returns a request whose reply names the host as the client does.
func (h named) own(r *server.Request) *server.Request {
	if h.as == "" {
		return r
	}
	own := *r
	own.Site, own.Host = h.name, h.as
	return &own
}

func (c *Settings) newHosts(listeners []listener) *hosts {
	all := &hosts{Settings: c, byAddr: map[netip.AddrPort]named{}}
	for _, l := range listeners {
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok || l.host == "" {
			continue
		}
		ip := addr.AddrPort().Addr().Unmap()
		if ip.IsUnspecified() {
			ip = netip.Addr{}
		}
		to := named{c.hosts[0], ""}
		if h := c.names[l.host]; h != nil {
			to = named{h, l.host}
		}
		all.byAddr[netip.AddrPortFrom(ip, uint16(addr.Port))] = to
	}
	return all
}

// ServeGopher passes the request to its host.
func (h *hosts) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	to, _ := h.called(r, "", true)
	r.Site = to.name
	return to.front.ServeGopher(w, to.own(r))
}

// Quick passes the request to its host.
func (h *hosts) Quick(r *server.Request) (server.Answer, bool) {
	to, _ := h.called(r, "", true)
	r.Site = to.name
	return to.front.Quick(to.own(r))
}

// reached returns the host of the address that a client has reached.
func (h *hosts) reached(r *server.Request) named {
	local := netip.AddrPortFrom(r.Local.Addr().Unmap(), r.Local.Port())
	if at, ok := h.byAddr[local]; ok {
		return at
	}
	if at, ok := h.byAddr[netip.AddrPortFrom(netip.Addr{}, local.Port())]; ok {
		return at
	}
	return named{h.hosts[0], ""}
}

// called returns the host of a name in a request, "" if it has none: a configured one, else the
// host of the address if the name may be its own, or with anyName. ok is false if this server has
// no such host, or if the client has named another site by TLS. Names of one host are one site.
func (h *hosts) called(r *server.Request, name string, anyName bool) (host named, ok bool) {
	byTLS, known := h.resolve(r, r.ServerName)
	if name == "" {
		return byTLS, true
	}
	host, ok = h.resolve(r, name)
	if known && r.ServerName != "" && byTLS.virtualHost != host.virtualHost {
		return named{}, false
	}
	return host, ok || anyName
}

// resolve looks up one name.
func (h *hosts) resolve(r *server.Request, name string) (host named, ok bool) {
	if name == "" {
		return h.reached(r), true
	}
	name = strings.Trim(hostName(name), "[]")
	if host := h.names[name]; host != nil {
		return named{host, name}, true
	}
	own := hostName(h.server.Host)
	if own != "" && name == own {
		return named{h.hosts[0], ""}, true
	}
	local := r.Local.Addr().Unmap()
	mine := own == "" || name == local.String() || name == "localhost" && local.IsLoopback()
	return h.reached(r), mine
}

// browsed returns the handler for a browser that names a host, or nil if this server has no
// such host. The browser may have come through a gateway under another address, and the first
// host's name may not be configured: then any name will do.
func (h *hosts) browsed(r *server.Request, name string) (http.Handler, *server.Request) {
	_, noAddr := netip.ParseAddr(strings.Trim(name, "[]"))
	anyName := h.Host == "" || len(h.names) == 0 || noAddr == nil || hostName(name) == "localhost"
	to, ok := h.called(r, name, anyName)
	if !ok {
		return nil, r
	}
	return to.web, to.own(r)
}

// hostOf returns the host of a request of another protocol.
func (d *daemon) hostOf(r *server.Request, name string) (*answer.Host, *server.Request, bool) {
	h, ok := d.hosts.called(r, name, false)
	if !ok {
		return nil, nil, false
	}
	r.Site = h.name
	own := *h.own(r)
	own.Port = d.ports["gopher"]
	return h.front.Host, &own, true
}

// linkPorts returns the ports in links, by URL scheme.
func (d *daemon) linkPorts() map[string]int {
	ports := map[string]int{"gopher": 70}
	for _, l := range slices.Backward(d.listeners) { // the first one counts
		if addr, ok := l.Addr().(*net.TCPAddr); ok {
			ports[l.name] = addr.Port
		}
	}
	if d.srv.Port != 0 {
		ports["gopher"] = d.srv.Port
	}
	if d.conf.HTTP == "view" {
		ports["http"] = ports["gopher"]
		if d.conf.hasTLS() {
			ports["https"] = ports["gopher"]
		}
	}
	return ports
}
