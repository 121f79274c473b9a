package answer

import (
	"cmp"
	"net"
	"strconv"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// URL returns the URL of a resource of the site in the protocol that was asked.
func (q *Asked) URL(typ byte, sel string) string {
	switch r := q.Request; {
	case q.Format != nil && q.Format.Web:
		return WebURL(r, sel)
	case r.Protocol != "":
		return pathURL(r.Protocol, r.Host, cmp.Or(r.URLPort, int(r.Local.Port())), sel)
	default:
		return GopherURL(r, typ, sel)
	}
}

// GopherURL is the URL of a resource for a Gopher client.
func GopherURL(r *server.Request, typ byte, sel string) string {
	if sel == "/" {
		sel = ""
	}
	return selector.URL{Host: r.Host, Port: r.Port, Type: typ, Selector: sel, TLS: r.TLS && r.Protocol == ""}.String()
}

// WebURL is the URL of a resource for a browser, on the port that it has asked for, else on
// Gopher's.
func WebURL(r *server.Request, sel string) string {
	scheme := "http"
	if r.TLS {
		scheme = "https"
	}
	return pathURL(scheme, r.Host, cmp.Or(r.URLPort, r.Port), sel)
}

func pathURL(scheme, host string, port int, sel string) string {
	switch {
	case port != selector.PortOf(scheme):
		host = net.JoinHostPort(host, strconv.Itoa(port))
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host + selector.URIPath(sel)
}

// Reference returns a relative reference (RFC 3986 section 4.2) to a resource of the
// site. It begins with one slash, so that no host can be read in it.
func Reference(sel string) string {
	return selector.URIPath("/" + strings.TrimLeft(sel, "/"))
}

// untyped answers the path of a gopher URL, which has an item type in front (RFC 4266,
// section 2.1), with Moved to what the rest of the path names; nil if that names nothing.
func (h *Host) untyped(r *server.Request, f *Format) *Value {
	path := r.Selector
	if len(path) < 2 || len(path) > 2 && path[2] != '/' || !menu.IsType(path[1]) {
		return nil
	}
	rest := cmp.Or(path[2:], "/")
	if h.Programs(rest) { // which is not run to find out
		rest, _, _ = strings.Cut(rest, "?")
		return &Value{Class: Moved, Selector: rest}
	}
	other := r.WithContext(r.Context())
	other.Selector = rest
	a, err := h.ask(other, f)
	if err != nil {
		return nil
	}
	if a.Class == Leaving {
		return a
	}
	a.Close()
	to := a.Selector
	if strings.HasSuffix(rest, "/") { // whose index may have answered
		to = rest
	}
	return &Value{Class: Moved, Selector: to}
}
