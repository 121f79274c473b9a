package status

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

// Answers reports whether a selector leads to the page.
func (p *Page) Answers(sel string) bool { return strings.Trim(sel, "/") == Selector }

// Answer is the page as text and drawn, for clients that may see it.
func (p *Page) Answer(q *answer.Asked) (*answer.Value, error) {
	if !p.allows(q.Request.Remote.Addr()) {
		return nil, server.ErrDeclined
	}
	s := p.sheet(p.Stats.Numbers())
	var text bytes.Buffer
	_ = s.write(&text)
	return &answer.Value{Class: answer.File, Selector: "/" + Selector, Type: menu.TypeText, Title: "Server status", Body: text.Bytes(), HTML: s.html()}, nil
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

// share is a bar for a share in percent, at most 20 marks; any share above 0 has
// one.
func share(percent int64) string {
	return strings.Repeat("█", int(max(1, percent/5)))
}

//go:embed status.html
var source string

var drawing = template.Must(template.New("status").Funcs(template.FuncMap{"bars": bars}).Parse(source))

// bar is a bar of a chart that is 24 high; each is 1 wide, in 60 columns.
type bar struct {
	X, Y, Height float64
}

// bars returns the bars of a chart. Any count above 0 is visible.
func bars(g graph) (list []bar) {
	const height = 24
	for i, n := range g.Counts {
		if n > 0 {
			h := max(1, height*float64(n)/float64(g.Most()))
			list = append(list, bar{float64(i), height - h, h})
		}
	}
	return list
}

// html draws the page for a browser, without style or script of its own. The web
// view defines the class names.
func (s sheet) html() string {
	var b strings.Builder
	if err := drawing.Execute(&b, s); err != nil {
		return ""
	}
	return b.String()
}
