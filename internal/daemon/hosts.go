package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

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
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A virtualHost is one site and everything that answers for it. The first answers all requests
// that name no other, by name or address; it alone has users, mounts and a search.
type virtualHost struct {
	name    string // lower case, without a final dot; "" for the first
	aliases []string
	dir     string

	tree     *site.Site
	read     time.Time         // when it was last read from its start
	front    *gopher.Front     // the tree, its programs, feeds and search
	enforcer *enforce.Enforcer // nil: off
	web      http.Handler      // for browsers
	stats    *status.HostStats // nil: off
}

// openHosts opens the sites of all hosts, each with the same options.
func (d *daemon) openHosts() error {
	// The search index. A check opens none that a running gophd may have open.
	if s := d.conf.search; s != nil && !(d.checking && s.SearchDir != "") {
		option := d.conf.option("search")
		if err := s.Open(context.Background()); errors.Is(err, search.ErrUnsupported) {
			return exit.Usagef("leave "+option+" out", "%s: %w", option, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", option, err)
		}
		if s.SearchDir != "" {
			for _, name := range search.Files(s.SearchDir) {
				if info, err := files.Stat(name); err == nil {
					disk.Withhold(name, info)
				}
			}
		}
	}

	for i, h := range d.conf.hosts {
		if err := d.openHost(h, i == 0); err != nil {
			return exit.Directory(d.conf.option("root"), h.dir, nil,
				fmt.Errorf("opening the content tree: %w", err))
		}
	}
	return nil
}

func (d *daemon) openHost(h *virtualHost, first bool) (err error) {
	conf := d.conf.site
	conf.Log, conf.Reloaded = d.log, func(r site.Reload) { d.reloaded(h, r) }
	if !first {
		conf.Users, conf.Capsules, conf.Mounts, conf.Endless, conf.Log = "", "", nil, nil,
			d.log.With("host", h.name)
	}
	searches := first && d.conf.search != nil
	if d.conf.Sitemap {
		conf.Sitemaps = d.sitemapURLs(cmp.Or(h.name, d.srv.Host, "localhost"), h.name)
		conf.SitemapsAs = map[string][]string{}
		for _, alias := range h.aliases {
			conf.SitemapsAs[alias] = d.sitemapURLs(alias, alias)
		}
	}
	conf.Files = searches || d.conf.Sitemap
	if h.tree, err = site.Open(h.dir, conf); err != nil {
		return err
	}
	host := &answer.Host{
		Site:        h.tree,
		HostOptions: d.conf.options,
		Limiter:     &d.limiter,
		Cache:       d.cache,
		Names:       append([]string{cmp.Or(h.name, hostName(d.srv.Host))}, h.aliases...),
		Fronts:      d.ports,
		Beside:      []answer.Source{&feed.Feeds{HTML: web.Entry}},
	}
	host.Lang = cmp.Or(d.conf.langs[h.name], d.conf.langs[""])
	h.front = &gopher.Front{Host: host, StrictText: d.conf.StrictText}
	if len(d.conf.programs) > 0 {
		host.Before = []answer.Source{d.programs}
		host.Runner = d.programs
	}
	if searches {
		d.conf.search.Site, d.conf.search.Log = h.tree, d.log
		host.Beside = append(host.Beside, d.conf.search)
	}
	if d.conf.Sitemap {
		host.Beside = append(host.Beside, &sitemap.Sitemaps{Site: h.tree})
	}
	if len(d.conf.hosts) > 1 {
		host.Hosts = d.hostItems
	}
	if mode := d.conf.Enforce; mode == enforce.Slow || mode == enforce.Refuse {
		h.enforcer = &enforce.Enforcer{
			Mode:  mode,
			Spare: d.conf.EnforceSpare,
			Site:  h.tree,
		}
		host.Admission = h.enforcer
	}
	h.web = &web.Pages{
		Host:        host,
		AddressOnly: d.conf.HTTP != "view",
		Theme:       d.conf.HTTPTheme,
		Search:      searches,
	}
	return nil
}

// sitemapURLs returns the URLs of a host's sitemap under one of its names: over Gopher, and
// over HTTP if browsers see the site. The name of its listener may differ.
func (d *daemon) sitemapURLs(name, listener string) (urls []string) {
	r := &server.Request{Host: name, Port: cmp.Or(d.portOf(listener), d.ports["gopher"])}
	urls = append(urls, answer.GopherURL(r, menu.TypeText, sitemap.Selector))
	if d.conf.HTTP == "view" {
		r.TLS = r.Port == 443
		urls = append(urls, answer.WebURL(r, sitemap.Selector))
	}
	return urls
}

// portOf returns the port of a name's own listener, or 0 if it has none or -port is set.
func (d *daemon) portOf(name string) (port int) {
	for _, e := range d.conf.endpoints {
		if e.host != "" && e.host == name && d.srv.Port == 0 {
			port = e.port
		}
	}
	return port
}

// hostItems returns the items for a line "%" in a gophermap: all hosts, each with the port of
// its own listener, if it has one.
func (d *daemon) hostItems() (items []menu.Item) {
	for _, h := range d.conf.hosts {
		name := cmp.Or(h.name, d.srv.Host)
		items = append(items, menu.Item{
			Type:     menu.TypeMenu,
			Label:    name,
			Selector: "/",
			Host:     name,
			Port:     d.portOf(h.name),
		})
	}
	return items
}

// parseHosts parses -host, -vhost NAME=DIR and -alias NAME=HOST to the hosts, the root's first,
// and their names.
func (c *Settings) parseHosts() {
	c.hosts, c.names = []*virtualHost{{dir: c.Root}}, map[string]*virtualHost{}
	for _, v := range c.VHosts {
		name, dir, ok := strings.Cut(v, "=")
		h := &virtualHost{name: hostName(name), dir: dir}
		switch {
		case !ok || dir == "" || !isHostName(h.name):
			c.refuse(c.option("vhost", "NAME=DIR")+
				": a host name such as gopher.example.org, and the directory of its site", "%s",
				c.option("vhost", strconv.Quote(v)))
		case c.configured(h.name) != nil:
			c.refuse("each name of -host, -vhost and -alias is one host's", "%s is there twice",
				c.option("vhost", strconv.Quote(h.name)))
		default:
			c.hosts = append(c.hosts, h)
			c.names[h.name] = h
		}
	}
	for _, a := range c.Aliases {
		name, of, isNamed := strings.Cut(a, "=")
		name = hostName(name)
		h := c.hosts[0]
		if isNamed {
			h = c.configured(hostName(of))
		}
		switch {
		case !isHostName(name) || isNamed && of == "":
			c.refuse(c.option("alias", "NAME")+
				" or NAME=HOST: another name of a host, such as www.example.org", "%s",
				c.option("alias", strconv.Quote(a)))
		case c.configured(name) != nil:
			c.refuse("each name of -host, -vhost and -alias is one host's", "%s is there twice",
				c.option("alias", strconv.Quote(name)))
		case h == nil:
			c.refuse(c.option("vhost", hostName(of)+"=DIR")+
				" makes that host; without =HOST the alias is the first one's",
				"%s: there is no host %q", c.option("alias", a), of)
		default:
			h.aliases = append(h.aliases, name)
			c.names[name] = h
		}
	}
}

// configured returns the host with a name, or nil. -host names the first.
func (c *Settings) configured(name string) *virtualHost {
	if c.Host != "" && name == hostName(c.Host) {
		return c.hosts[0]
	}
	return c.names[name]
}

// SelfSigned returns the pairs that -tls-self-signed may have made for the names in the flags,
// preceded by the pair of an earlier gophd.
func (f Flags) SelfSigned() []keypair.CertKey {
	pairs := []keypair.CertKey{keypair.Older(f.TLSSelfSigned)}
	for _, name := range f.HostNames() {
		pairs = append(pairs, keypair.Named(f.TLSSelfSigned, name))
	}
	return pairs
}

// HostNames returns the names of all hosts in the flags, and their aliases. The first host is
// "localhost" without -host.
func (f Flags) HostNames() []string {
	c := &Settings{Flags: f}
	c.parseHosts()
	return c.hostNames(f.Host)
}

// hostNames returns the names of all hosts, beginning with the first host's.
func (c *Settings) hostNames(first string) (names []string) {
	for _, h := range c.hosts {
		names = append(names, cmp.Or(h.name, hostName(first), "localhost"))
		names = append(names, h.aliases...)
	}
	return names
}

// hostName normalizes a name for comparison: lower case, and without a final dot, which TLS
// clients do not send (RFC 6066 section 3).
func hostName(name string) string {
	return strings.TrimSuffix(strings.ToLower(name), ".")
}

// isHostName reports whether a name is a valid DNS name: labels of letters, digits and
// hyphens, at most 253 bytes, and no address.
func isHostName(name string) bool {
	_, notAddr := netip.ParseAddr(name)
	return notAddr != nil && len(name) <= 253 && labels.MatchString(name)
}

// label matches a label of a host name.
const label = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`

var labels = regexp.MustCompile(`(?i)^(` + label + `\.)*` + label + `$`)
