package status

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"text/tabwriter"

	"github.com/gophd/gophd/server"
)

// Selector is where the page is, with a slash before it or without.
const Selector = "server-status"

// Page is a Handler for Selector that answers clients in Allow. It declines all
// others, so that a server.ServeMux asks the handler behind it: nobody else learns
// that there is such a page.
type Page struct {
	Stats *Stats
	Allow []netip.Prefix

	// ShowIP returns an address as the page shows it. If nil, it is shown in full.
	ShowIP func(netip.Addr) string
}

// ServeGopher answers a request.
func (p *Page) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	if !p.allows(r.Remote.Addr()) {
		return server.ErrDeclined
	}
	return p.sheet(p.Stats.Numbers()).write(w)
}

func (p *Page) allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(p.Allow, func(b netip.Prefix) bool { return b.Contains(a) })
}

// write writes the page as text, a line for each chart so that it fits 67 columns.
func (s sheet) write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s\n\nThe last hour, a mark for each minute, now at the right", s.Head)
	for _, g := range s.Hour {
		line("\n  %s: %d, at most %d a minute\n  %s", g.Name, g.All(), g.Most(), chart(g.Counts[:]))
	}
	for _, p := range s.Parts {
		line("\n%s", p.Title)
		for _, r := range p.Rows {
			switch {
			case r.Value == "":
				line("  %s", r.Name)
			case r.Share > 0:
				line("  %s\t%s\t%s", r.Name, r.Value, share(r.Share))
			default:
				line("  %s\t%s", r.Name, r.Value)
			}
		}
	}
	return w.Flush()
}
