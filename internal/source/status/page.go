package status

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/server"
)

// pageSelector is the selector of the page; a slash in front is optional.
const pageSelector = "server-status"

// maxReports bounds the reports of the policy that the page shows.
const maxReports = 20

// Page is the answer.Source of the page for clients in Allow. For all others there is no such
// page.
type Page struct {
	Stats *Stats
	Allow []netip.Prefix

	// ShowIP formats an address.
	ShowIP func(netip.Addr) string
}

// Answers reports whether a selector leads to the page.
func (p *Page) Answers(sel string) bool {
	return strings.Trim(sel, "/") == pageSelector
}

// Answer returns the page as text and as HTML.
func (p *Page) Answer(q *answer.Asked) (*answer.Value, error) {
	client := q.Request.Remote.Addr().Unmap().WithZone("")
	if !slices.ContainsFunc(p.Allow, func(b netip.Prefix) bool { return b.Contains(client) }) {
		return nil, server.ErrDeclined
	}
	s := p.sheet(p.Stats.Numbers(), time.Now())
	return &answer.Value{
		Class:    answer.File,
		Selector: "/" + pageSelector,
		Type:     menu.TypeText,
		Title:    "Server status",
		Body:     s.text(),
		HTML:     s.html(),
	}, nil
}

// A sheet is the content of the page.
type sheet struct {
	Head   string
	Charts []chart
	Tables []*table
}

// A chart has the counts of the last 60 minutes, the oldest first.
type chart struct {
	Name   string
	Bad    bool // drawn in the color of errors
	Counts []int64
	All    int64
	Most   int64 // in one minute
}

// A table is a section of the page. A row with a nil Value is a sentence.
type table struct {
	Title string
	Rows  []row
}

type row struct {
	Name  string
	Value any
	Share int64 // in percent of the largest value; 0 draws no bar
}

// add adds a table. The pairs are names and values.
func (s *sheet) add(title string, pairs ...any) *table {
	t := &table{Title: title}
	for pair := range slices.Chunk(pairs, 2) {
		t.Rows = append(t.Rows, row{Name: fmt.Sprint(pair[0]), Value: pair[1]})
	}
	s.Tables = append(s.Tables, t)
	return t
}

// sheet returns the content of the page.
func (p *Page) sheet(n Numbers, now time.Time) *sheet {
	s := &sheet{Head: fmt.Sprintf("gophd %s (%s), up %s", p.Stats.Version, runtime.Version(),
		now.Sub(n.Start).Round(time.Second))}
	for what, name := range []string{
		asked:   "requests",
		failed:  "not served",
		fetched: "for robots.txt",
	} {
		s.Charts = append(s.Charts, charted(name, what, n, now))
	}

	// Sum the requests of all hosts.
	var all Outcomes
	var bytes int64
	parts := map[string]int64{}
	for _, h := range n.Hosts {
		bytes += h.Bytes
		for protocol, outcomes := range h.Requests {
			for kind, times := range outcomes {
				all[kind] += times
				parts["over "+protocol] += times
				if len(n.Hosts) > 1 {
					parts["for "+h.Name] += times
				}
			}
		}
	}
	var requests []any
	for kind, times := range all {
		requests = append(requests, server.Kind(kind), times)
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		requests = append(requests, part, parts[part])
	}
	t := s.add("Requests", append(requests, "bytes sent", bytes)...)
	for kind, times := range all {
		if times > 0 {
			t.Rows[kind].Share = max(1, 100*times/slices.Max(all[:]))
		}
	}

	s.add("Connections", "accepted", n.Accepted, "reading", n.Reading, "writing", n.Writing,
		"lingering", n.Lingering)
	var refused []any
	for _, why := range slices.Sorted(maps.Keys(n.Refused)) {
		refused = append(refused, why, n.Refused[why])
	}
	for _, r := range n.Refusers {
		refused = append(refused, p.ShowIP(r.Block), r.Times)
	}
	s.add("Refused", refused...)

	for i, h := range n.Hosts {
		of := ""
		if len(n.Hosts) > 1 {
			of = " · " + h.Name
		}
		rude := []any{"bytes", h.RobotsBytes, "fetched", h.Fetches,
			"then asked for what it denies", h.Rude}
		for _, c := range h.Rudest {
			rude = append(rude, p.ShowIP(c.Key), c.Times)
		}
		s.add("robots.txt"+of, append(rude, "SHA-256 of the policy, and of the file:", nil,
			h.Policy, nil, h.File, nil)...)
		s.add("Reloads"+of, reloads(h)...)
		if p.Stats.Hosts[i].Enforcer != nil {
			enforced := []any{"known", h.Enforced.Robots, "requests slowed", h.Enforced.Slowed,
				"requests refused", h.Enforced.Refused}
			for _, c := range h.Enforced.Worst {
				enforced = append(enforced, p.ShowIP(c.Key), c.Times)
			}
			s.add("Robots that must obey robots.txt"+of, enforced...)
		}
	}

	if p.Stats.Searchable != nil {
		texts, left := p.Stats.Searchable()
		s.add("Search", "texts and menus", texts, "did not fit into the index", left)
	}
	if p.Stats.Lost != nil {
		s.add("Access log", "lines lost", n.Lost)
	}
	return s
}

func reloads(h HostNumbers) []any {
	list := []any{"done", h.Reloads, "failed", h.Failures}
	if h.Reloads > 0 {
		list = append(list, "last", h.Last.Start.UTC().Format(time.RFC3339), "it took",
			h.Last.Took.Round(time.Microsecond))
	}
	if h.Last.Err != nil {
		list = append(list, fmt.Sprintf("error: %q", h.Last.Err), nil)
	}
	serious := slices.DeleteFunc(slices.Clone(h.Reports), func(r policy.Report) bool {
		return r.Severity == diag.Notice
	})
	list = append(list, "reports", len(serious))
	for _, r := range serious[:min(len(serious), maxReports)] {
		list = append(list, r.Diagnostic, nil)
	}
	return append(list, "notices (gophd robots check -v)", len(h.Reports)-len(serious))
}

// charted returns the chart of one count, summed over all hosts.
func charted(name string, what int, n Numbers, now time.Time) chart {
	c := chart{Name: name, Bad: what == failed}
	for minute := now.Unix()/60 - 59; minute <= now.Unix()/60; minute++ {
		var times int64
		for _, h := range n.Hosts {
			if m := h.Hour[minute%int64(len(h.Hour))]; m.Start == minute {
				times += m.Counts[what]
			}
		}
		c.Counts = append(c.Counts, times)
		c.All += times
		c.Most = max(c.Most, times)
	}
	return c
}

// Line draws a chart as text, with a dot for zero.
func (c chart) Line() string {
	marks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, n := range c.Counts {
		mark := '.'
		if n > 0 {
			mark = marks[(n*int64(len(marks))-1)/c.Most]
		}
		b.WriteRune(mark)
	}
	return b.String()
}

// Height returns the height of a bar in a chart of height 24, at least 1.
func (c chart) Height(n int64) float64 {
	return max(1, 24*float64(n)/float64(c.Most))
}

// text returns the page as text of 67 columns.
func (s *sheet) text() []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s\n\nThe last hour, a mark for each minute, now at the right", s.Head)
	for _, c := range s.Charts {
		line("\n  %s: %d, at most %d a minute\n  %s", c.Name, c.All, c.Most, c.Line())
	}
	for _, t := range s.Tables {
		line("\n%s", t.Title)
		for _, r := range t.Rows {
			switch {
			case r.Value == nil:
				line("  %s", r.Name)
			case r.Share > 0:
				line("  %s\t%v\t%s", r.Name, r.Value, strings.Repeat("█", int(max(1, r.Share/5))))
			default:
				line("  %s\t%v", r.Name, r.Value)
			}
		}
	}
	_ = w.Flush()
	return b.Bytes()
}

//go:embed status.html
var source string

var drawing = template.Must(template.New("status").Parse(source))

// html draws the page for a browser, without style or script of its own. The web
// view defines the class names.
func (s *sheet) html() string {
	var b strings.Builder
	if err := drawing.Execute(&b, s); err != nil {
		return ""
	}
	return b.String()
}
