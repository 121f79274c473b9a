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

// URL returns the URL of a resource of the site in the protocol of the request.
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

// GopherURL returns the gopher URL of a resource.
func GopherURL(r *server.Request, typ byte, sel string) string {
	if sel == "/" {
		sel = ""
	}
	return selector.URL{
		Host:     r.Host,
		Port:     r.Port,
		Type:     typ,
		Selector: sel,
		TLS:      r.TLS && r.Protocol == "",
	}.String()
}

// WebURL returns the http or https URL of a resource, on the port that the client has
// requested, or else on the Gopher port.
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

// Reference returns a relative reference (RFC 3986 section 4.2) to a resource of the site.
// It begins with exactly one slash: after two, a client would expect a host.
func Reference(sel string) string {
	return selector.URIPath("/" + strings.TrimLeft(sel, "/"))
}

// untyped answers a selector that begins with an item type, as the path of a gopher URL does
// (RFC 4266 section 2.1), with Moved to the rest. It returns nil if the rest names nothing.
func (h *Host) untyped(r *server.Request, f *Format) *Value {
	path := r.Selector
	if len(path) < 2 || len(path) > 2 && path[2] != '/' || !menu.IsType(path[1]) {
		return nil
	}
	rest := cmp.Or(path[2:], "/")
	if h.Programs(rest) { // do not run the program
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
	if strings.HasSuffix(rest, "/") { // a.Selector may be that of the index
		to = rest
	}
	return &Value{Class: Moved, Selector: to}
}
