package daemon

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gophd/gophd/internal/exit"
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
