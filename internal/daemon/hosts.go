package daemon

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/gophd/gophd/fileserver"
	"github.com/gophd/gophd/internal/enforce"
	"github.com/gophd/gophd/internal/exit"
	"github.com/gophd/gophd/internal/feed"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A virtualHost is a site of its own, for those who reach it by its name or address:
// its own tree, policy and robots.txt, and its own name in menus.
type virtualHost struct {
	name    string // lower case, without a final dot
	dir     string
	tree    *site.Site
	handler server.Handler
	web     http.Handler // for browsers
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

// own is a request as it concerns the host.
func (h *virtualHost) own(r *server.Request) *server.Request {
	own := *r
	own.Host = h.name
	return &own
}

// parseHosts reads -vhost NAME=DIR and -listen ADDR=NAME, and returns the hosts,
// the addresses without names, and the names of those that have one.
func parseHosts(vhosts, listen []string) (list []*virtualHost, addrs []string, named map[string]string, err error) {
	named = map[string]string{}
	for _, v := range vhosts {
		name, dir, ok := strings.Cut(v, "=")
		name = hostName(name)
		if !ok || dir == "" || !isHostName(name) {
			return nil, nil, nil, exit.Usagef("-vhost NAME=DIR: a host name such as gopher.example.org, and the directory of its site", "-vhost %q", v)
		}
		if slices.ContainsFunc(list, func(h *virtualHost) bool { return h.name == name }) {
			return nil, nil, nil, exit.Usagef("one -vhost for each name", "-vhost %q is there twice", name)
		}
		list = append(list, &virtualHost{name: name, dir: dir})
	}
	for _, l := range listen {
		addr, name, ok := strings.Cut(l, "=")
		if addrs = append(addrs, addr); !ok {
			continue
		}
		name = hostName(name)
		if !slices.ContainsFunc(list, func(h *virtualHost) bool { return h.name == name }) {
			return nil, nil, nil, exit.Usagef(fmt.Sprintf("-vhost %s=DIR makes that host", name), "-listen %q: there is no host %q", l, name)
		}
		named[addr] = name
	}
	return list, addrs, named, nil
}

// hostName is a name as it is compared: in lower case, and without the dot at the end
// of a name in full, which TLS clients do not send (RFC 6066, section 3).
func hostName(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// isHostName reports whether a name is one that DNS knows: labels of letters,
// digits and hyphens, at most 253 bytes, and no address.
func isHostName(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		bad := strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
		if bad || label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	u, err := selector.ParseURL("gopher://" + name)
	return err == nil && strings.EqualFold(u.Host, name)
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

// sites are those of all hosts, the first one first.
func (d *daemon) sites() []*site.Site {
	all := []*site.Site{d.tree}
	for _, h := range d.conf.hosts {
		all = append(all, h.tree)
	}
	return all
}
