package status

import (
	"fmt"
	"io"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

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
	return p.write(w, p.Stats.Numbers())
}

func (p *Page) allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(p.Allow, func(b netip.Prefix) bool { return b.Contains(a) })
}

func (p *Page) write(to io.Writer, n Numbers) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("gophd %s (%s), up %s", p.Stats.Version, runtime.Version(), time.Since(n.Start).Round(time.Second))
	hours(line, n)
	line("\nRequests")
	most := slices.Max(n.Requests[:])
	for kind, times := range n.Requests {
		bar := share(times, most)
		if bar != "" {
			bar = "\t" + bar
		}
		line("  %s\t%d%s", server.Kind(kind), times, bar)
	}
	line("  bytes sent\t%d", n.Bytes)
	line("\nConnections")
	line("  accepted\t%d", n.Accepted)
	line("  reading\t%d\n  writing\t%d\n  lingering\t%d", n.Reading, n.Writing, n.Lingering)
	line("\nRefused")
	for _, why := range slices.Sorted(maps.Keys(n.Refused)) {
		line("  %s\t%d", why, n.Refused[why])
	}
	for _, r := range n.Refusers {
		line("  %s\t%d", p.show(r.Block), r.Times)
	}
	p.robots(line, n)
	if p.Stats.Lost != nil {
		line("\nAccess log\n  lines lost\t%d", n.Lost)
	}
	return w.Flush()
}

// hours draws the last hour, a line for each chart so that it fits 67 columns.
func hours(line func(string, ...any), n Numbers) {
	line("\nThe last hour, a mark for each minute, now at the right")
	for what, name := range [counted]string{asked: "requests", failed: "not served", fetched: "of robots.txt"} {
		var all int64
		for _, times := range n.Hour[what] {
			all += times
		}
		line("\n  %s: %d, at most %d a minute\n  %s", name, all, slices.Max(n.Hour[what][:]), chart(n.Hour[what][:]))
	}
}

func (p *Page) robots(line func(string, ...any), n Numbers) {
	line("\nrobots.txt")
	line("  SHA-256 of the policy:\n  %s", n.Policy)
	line("  bytes\t%d\n  fetched\t%d\n  then asked for what it denies\t%d", n.RobotsBytes, n.Fetches, n.Rude)
	for _, c := range n.Rudest {
		line("  %s\t%d", p.show(c.Key), c.Times)
	}
	if p.Stats.Enforcer != nil {
		line("\nRobots held to robots.txt\n  known\t%d\n  requests slowed\t%d\n  requests refused\t%d", n.Enforced.Robots, n.Enforced.Slowed, n.Enforced.Refused)
		for _, c := range n.Enforced.Worst {
			line("  %s\t%d", p.show(c.Key), c.Times)
		}
	}
	line("\nReloads\t%d", n.Reloads)
	line("  failed\t%d", n.Failures)
	if n.Reloads > 0 {
		line("  last\t%s, in %s", n.Last.Start.UTC().Format(time.RFC3339), n.Last.Took.Round(time.Microsecond))
		if n.Last.Err != nil {
			line("  error\t%q", n.Last.Err)
		}
	}
	line("  reports\t%d", len(n.Reports))
	for _, r := range n.Reports[:min(len(n.Reports), maxReports)] {
		line("  %q:%d: %s: %q", r.File, r.Line, r.Code, r.Message)
	}
}

// maxReports is how many reports of the last reload the page shows.
const maxReports = 20

func (p *Page) show(block netip.Addr) string {
	if p.ShowIP != nil {
		return p.ShowIP(block)
	}
	return block.String()
}
