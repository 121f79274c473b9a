package status

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gophd/gophd/server"
)

// ServeGopher answers a request with the page as text.
func (p *Page) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	if !p.allows(r.Remote.Addr()) {
		return server.ErrDeclined
	}
	return p.sheet(p.Stats.Numbers()).write(w)
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

// marks are the heights of a chart.
var marks = []rune("▁▂▃▄▅▆▇█")

// chart is one line, a mark for each count: nothing is a dot, the most is full.
func chart(counts []int64) string {
	var most int64
	for _, n := range counts {
		most = max(most, n)
	}
	var b strings.Builder
	for _, n := range counts {
		if n == 0 {
			b.WriteByte('.')
			continue
		}
		b.WriteRune(marks[(n*int64(len(marks))-1)/most])
	}
	return b.String()
}

// share is a bar for a share in percent, at most 20 marks; what is not nothing has
// one.
func share(percent int64) string {
	return strings.Repeat("█", int(max(1, percent/5)))
}
