package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/internal/process/enforce"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/search"
	"github.com/gophd/gophd/internal/source/sitemap"
	"github.com/gophd/gophd/internal/source/status"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A virtualHost is one site and everything that answers for it. The first answers all who
// ask for no other by name or address; it alone has users, mounts and a search.
type virtualHost struct {
	name    string // lower case, without a final dot; "" for the first
	aliases []string
	dir     string

	tree     *site.Site
	front    *gopher.Front     // the tree, its programs, feeds and search
	enforcer *enforce.Enforcer // nil: robots are not held to anything
	web      http.Handler      // for browsers
	stats    *status.HostStats // nil: off
	sitemap  *sitemap.Sitemaps // nil: it has none
}

// openHosts opens the sites of all hosts. Every option holds for each of them.
func (d *daemon) openHosts() error {
	if d.conf.search != nil {
		if err := d.openSearch(); err != nil {
			return searchError(err)
		}
	}
	for i, h := range d.conf.hosts {
		if err := d.openHost(h, i == 0); err != nil {
			return rootError(h.dir, err)
		}
	}
	return nil
}

func searchError(err error) error {
	if errors.Is(err, search.ErrUnsupported) {
		return exit.Usagef("leave -search out", "-search: %w", err)
	}
	return exit.Usagef("-search-dir needs a directory that gophd may write to", "-search: %w", err)
}

// openSearch opens the search index. A check does not: a gophd that runs has it open.
func (d *daemon) openSearch() error {
	if dir := d.conf.search.SearchDir; dir != "" {
		if err := d.writable("the search index", dir); err != nil || d.checking {
			return err
		}
	}
	if err := d.conf.search.Open(context.Background()); err != nil {
		return err
	}
	if dir := d.conf.search.SearchDir; dir != "" {
		for _, name := range search.Files(dir) {
			if info, err := files.Stat(name); err == nil {
				disk.Withhold(name, info)
			}
		}
	}
	return nil
}

func (d *daemon) openHost(h *virtualHost, first bool) (err error) {
	conf := d.conf.site
	conf.Log, conf.Reloaded = d.log, func(r site.Reload) { d.reloaded(h, r) }
	switch {
	case !first:
		conf.Users, conf.Mounts, conf.Endless, conf.Log = "", nil, nil, d.log.With("host", h.name)
	case d.conf.search != nil:
		conf.Touched = d.conf.search.Touch
	}
	if d.conf.Sitemap {
		h.sitemap = &sitemap.Sitemaps{}
		conf.Sitemaps, conf.Touched = d.sitemapURLs(h), both(conf.Touched, h.sitemap.Touch)
	}
	if h.tree, err = site.Open(h.dir, conf); err != nil {
		return err
	}
	h.front = d.conf.front(h.tree)
	h.front.Host.Limiter, h.front.Host.Cache = &d.limiter, d.cache
	h.front.Host.Names = append([]string{cmp.Or(h.name, hostName(d.srv.Host))}, h.aliases...)
	h.front.Host.Fronts = d.ports()
	if len(d.conf.programs) > 0 {
		h.front.Host.Before, h.front.Host.Runner = append(h.front.Host.Before, d.programs), d.programs
	}
	h.front.Host.Beside = []answer.Source{&feed.Feeds{Web: d.conf.HTTP == "view"}}
	searches := first && d.conf.search != nil
	if searches {
		d.conf.search.Site, d.conf.search.Log = h.tree, d.log
		h.front.Host.Beside = append(h.front.Host.Beside, d.conf.search)
	}
	if h.sitemap != nil {
		h.sitemap.Site = h.tree
		h.front.Host.Beside = append(h.front.Host.Beside, h.sitemap)
	}
	if len(d.conf.hosts) > 1 {
		h.front.Host.Hosts = d.hostItems
	}
	if d.conf.Enforce != enforce.Off {
		h.enforcer = &enforce.Enforcer{Mode: d.conf.Enforce, Spare: d.conf.EnforceSpare, Site: h.tree}
		h.front.Host.Admission = h.enforcer
	}
	h.web = d.pages(h, searches)
	return nil
}

// both calls two functions; the first may be nil.
func both(first, then func(dir string)) func(dir string) {
	if first == nil {
		return then
	}
	return func(dir string) { first(dir); then(dir) }
}

// sitemapURLs returns where robots find the sitemap of a host: over Gopher, and over HTTP if
// browsers see the site.
func (d *daemon) sitemapURLs(h *virtualHost) (urls []string) {
	r := &server.Request{Host: cmp.Or(h.name, d.srv.Host, "localhost"), Port: cmp.Or(d.portOf(h), d.gopherPort())}
	urls = append(urls, answer.GopherURL(r, menu.TypeText, sitemap.Selector))
	if d.conf.HTTP == "view" {
		r.TLS = r.Port == 443
		urls = append(urls, answer.WebURL(r, sitemap.Selector))
	}
	return urls
}

// portOf is the port of the listener that a host has for itself, 0 if it has none or -port
// names the port of all.
func (d *daemon) portOf(h *virtualHost) (port int) {
	for addr, name := range d.conf.listenNames {
		if _, at, err := net.SplitHostPort(withPort(addr, "70")); err == nil && name == h.name && d.srv.Port == 0 {
			port, _ = strconv.Atoi(at)
		}
	}
	return port
}

// pages returns the handler of a site for browsers.
func (d *daemon) pages(h *virtualHost, search bool) http.Handler {
	if d.conf.HTTP != "view" {
		return &web.AddressPage{Host: h.front.Host}
	}
	view := d.conf.view
	if tag := d.conf.langs[h.name]; tag != "" {
		view.Lang = tag
	}
	return &web.Pages{Host: h.front.Host, PageOptions: view, Search: search}
}

// hostItems returns the items of a line "%" in a gophermap: all hosts, each with the port
// of its own listener, if it has one.
func (d *daemon) hostItems() (items []menu.Item) {
	for _, h := range d.conf.hosts {
		it := menu.Item{Type: menu.TypeMenu, Label: h.name, Selector: "/", Host: h.name}
		if h.name == "" {
			it.Label, it.Host = d.srv.Host, d.srv.Host
		}
		it.Port = d.portOf(h)
		items = append(items, it)
	}
	return items
}

// parseHosts reads -host, -vhost NAME=DIR, -alias NAME=HOST and -listen ADDR=NAME. It
// returns the hosts, the root's first, the addresses without names, and the names of the
// others. No name is two hosts'.
func (f Flags) parseHosts() (list []*virtualHost, addrs []string, named map[string]string, err error) {
	list, named = []*virtualHost{{dir: f.Root}}, map[string]string{}
	byName := map[string]*virtualHost{}
	if f.Host != "" {
		byName[hostName(f.Host)] = list[0]
	}

	for _, v := range f.VHosts {
		name, dir, ok := strings.Cut(v, "=")
		name = hostName(name)
		if !ok || dir == "" || !isHostName(name) {
			return nil, nil, nil, exit.Usagef("-vhost NAME=DIR: a host name such as gopher.example.org, and the directory of its site", "-vhost %q", v)
		}
		if byName[name] != nil {
			return nil, nil, nil, exit.Usagef("each name of -host, -vhost and -alias is one host's", "-vhost %q is there twice", name)
		}
		h := &virtualHost{name: name, dir: dir}
		byName[name] = h
		list = append(list, h)
	}

	for _, a := range f.Aliases {
		name, of, isNamed := strings.Cut(a, "=")
		name = hostName(name)
		if !isHostName(name) || isNamed && of == "" {
			return nil, nil, nil, exit.Usagef("-alias NAME or NAME=HOST: another name of a host, such as www.example.org", "-alias %q", a)
		}
		if byName[name] != nil {
			return nil, nil, nil, exit.Usagef("each name of -host, -vhost and -alias is one host's", "-alias %q is there twice", name)
		}
		h := list[0]
		if isNamed {
			h = byName[hostName(of)]
		}
		if h == nil {
			return nil, nil, nil, exit.Usagef(fmt.Sprintf("-vhost %s=DIR makes that host; without =HOST the alias is the first one's", hostName(of)), "-alias %q: there is no host %q", a, of)
		}
		byName[name] = h
		h.aliases = append(h.aliases, name)
	}

	for _, l := range f.Listen {
		addr, name, ok := strings.Cut(l, "=")
		if addrs = append(addrs, addr); !ok {
			continue
		}
		name = hostName(name)
		if byName[name] == nil {
			return nil, nil, nil, exit.Usagef(fmt.Sprintf("-vhost %s=DIR makes that host, -alias %s names the first", name, name), "-listen %q: there is no host %q", l, name)
		}
		named[addr] = name
	}
	return list, addrs, named, nil
}

// SelfSigned returns the pairs that -tls-self-signed may have made for the names that the
// flags say; the first one is that of an earlier gophd.
func (f Flags) SelfSigned() (pairs []keypair.CertKey) {
	names := []string{cmp.Or(hostName(f.Host), "localhost")}
	for _, name := range append(append([]string{}, f.VHosts...), f.Aliases...) {
		name, _, _ = strings.Cut(name, "=")
		names = append(names, hostName(name))
	}
	pairs = append(pairs, keypair.Older(f.TLSSelfSigned))
	for _, name := range names {
		pairs = append(pairs, keypair.Named(f.TLSSelfSigned, name))
	}
	return pairs
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
