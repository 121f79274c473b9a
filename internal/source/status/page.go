package status

import (
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/tally"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/server"
)

// Selector is where the page is, with a slash before it or without.
const Selector = "server-status"

// Page is the answer.Source of Selector for clients in Allow. It declines all others:
// they read that there is no such page.
type Page struct {
	Stats *Stats
	Allow []netip.Prefix

	// ShowIP returns an address as the page shows it. If nil, it is shown in full.
	ShowIP func(netip.Addr) string
}

func (p *Page) allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(p.Allow, func(b netip.Prefix) bool { return b.Contains(a) })
}

// sheet holds the content of the page, written as text or drawn (draw.go).
type sheet struct {
	Head  string
	Hour  []graph
	Parts []table
}

// graph counts events of the last hour, by minutes.
type graph struct {
	Name   string
	Bad    bool // the fewer the better
	Counts [60]int64
}

// All is how often it happened in the hour.
func (g graph) All() int64 { return sum(g.Counts[:]) }

// Most is how often it happened in one minute.
func (g graph) Most() int64 { return slices.Max(g.Counts[:]) }

// table is a part of the page, with a title.
type table struct {
	Title string
	Rows  []row
}

// row is a name and its value; without a value it is a sentence.
type row struct {
	Name, Value string
	Share       int64 // of the largest of its kind, in percent
}

func (p *table) number(name string, n int64) {
	p.Rows = append(p.Rows, row{Name: name, Value: strconv.FormatInt(n, 10)})
}

func (p *table) say(format string, args ...any) {
	p.Rows = append(p.Rows, row{Name: fmt.Sprintf(format, args...)})
}

func (p *table) addresses(list []tally.Count[netip.Addr], show func(netip.Addr) string) {
	for _, c := range list {
		p.number(show(c.Key), c.Times)
	}
}

// sheet puts the numbers in the order of the page.
func (p *Page) sheet(n Numbers) sheet {
	s := sheet{
		Head:  fmt.Sprintf("gophd %s (%s), up %s", p.Stats.Version, runtime.Version(), time.Since(n.Start).Round(time.Second)),
		Hour:  []graph{{"requests", false, n.All.Hour[asked]}, {"not served", true, n.All.Hour[failed]}, {"for robots.txt", false, n.All.Hour[fetched]}},
		Parts: []table{requests(n.All), connections(n), p.refused(n)},
	}
	for i, h := range n.Hosts {
		parts := []table{p.robots(h), reloads(h)}
		if p.Stats.Hosts[i].Enforcer != nil {
			parts = append(parts, p.enforced(h))
		}
		if len(n.Hosts) > 1 {
			for k := range parts {
				parts[k].Title += " · " + h.Name
			}
			all := h.Outcomes()
			parts[0].number("requests", sum(all[:]))
		}
		s.Parts = append(s.Parts, parts...)
	}
	if p.Stats.Searchable != nil {
		texts, left := p.Stats.Searchable()
		search := table{Title: "Search"}
		search.number("texts and menus", int64(texts))
		search.number("did not fit into the index", int64(left))
		s.Parts = append(s.Parts, search)
	}
	if p.Stats.Lost != nil {
		log := table{Title: "Access log"}
		log.number("lines lost", n.Lost)
		s.Parts = append(s.Parts, log)
	}
	return s
}

func sum(list []int64) (all int64) {
	for _, n := range list {
		all += n
	}
	return all
}

func requests(n HostNumbers) table {
	p := table{Title: "Requests"}
	all := n.Outcomes()
	most := max(1, slices.Max(all[:]))
	for kind, times := range all {
		p.number(server.Kind(kind).String(), times)
		if times > 0 {
			p.Rows[kind].Share = max(1, 100*times/most)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Requests)) {
		times := n.Requests[name]
		p.number("over "+name, sum(times[:]))
	}
	p.number("bytes sent", n.Bytes)
	return p
}

func connections(n Numbers) table {
	p := table{Title: "Connections"}
	p.number("accepted", n.Accepted)
	p.number("reading", int64(n.Reading))
	p.number("writing", int64(n.Writing))
	p.number("lingering", int64(n.Lingering))
	return p
}

func (p *Page) refused(n Numbers) table {
	t := table{Title: "Refused"}
	for _, why := range slices.Sorted(maps.Keys(n.Refused)) {
		t.number(why, n.Refused[why])
	}
	for _, r := range n.Refusers {
		t.number(p.show(r.Block), r.Times)
	}
	return t
}

func (p *Page) robots(n HostNumbers) table {
	t := table{Title: "robots.txt"}
	t.number("bytes", int64(n.RobotsBytes))
	t.number("fetched", n.Fetches)
	t.number("then asked for what it denies", n.Rude)
	t.addresses(n.Rudest, p.show)
	t.say("SHA-256 of the policy, and of the file:")
	t.say("%s", n.Policy)
	t.say("%s", n.File)
	return t
}

func (p *Page) enforced(n HostNumbers) table {
	t := table{Title: "Robots that must obey robots.txt"}
	t.number("known", int64(n.Enforced.Robots))
	t.number("requests slowed", n.Enforced.Slowed)
	t.number("requests refused", n.Enforced.Refused)
	t.addresses(n.Enforced.Worst, p.show)
	return t
}

// maxReports is how many reports of the last reload the page shows.
const maxReports = 20

func reloads(n HostNumbers) table {
	t := table{Title: "Reloads"}
	t.number("done", n.Reloads)
	t.number("failed", n.Failures)
	if n.Reloads > 0 {
		t.Rows = append(t.Rows, row{Name: "last", Value: n.Last.Start.UTC().Format(time.RFC3339)}, row{Name: "it took", Value: n.Last.Took.Round(time.Microsecond).String()})
	}
	if n.Last.Err != nil {
		t.say("error: %q", n.Last.Err)
	}
	var serious []policy.Report
	for _, r := range n.Reports {
		if r.Severity != diag.Notice {
			serious = append(serious, r)
		}
	}
	t.number("reports", int64(len(serious)))
	for _, r := range serious[:min(len(serious), maxReports)] {
		t.say("%s", r.Diagnostic)
	}
	t.number("notices (gophd robots check -v)", int64(len(n.Reports)-len(serious)))
	return t
}

func (p *Page) show(block netip.Addr) string {
	if p.ShowIP != nil {
		return p.ShowIP(block)
	}
	return block.String()
}
