package status

import (
	_ "embed"
	"html/template"
	"strings"

	"github.com/gophd/gophd/server"
)

//go:embed status.html
var source string

var drawing = template.Must(template.New("status").Funcs(template.FuncMap{"bars": bars}).Parse(source))

// bar is a bar of a chart that is 24 high; each is 1 wide, in 60 columns.
type bar struct {
	X, Y, Height float64
}

// bars are those of a chart. What is not nothing can be seen.
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

// HTML draws the page for a browser, without style or script of its own; ok is
// false for clients that are not in Allow. Class names are those of the web view.
func (p *Page) HTML(r *server.Request) (body template.HTML, ok bool) {
	if !p.allows(r.Remote.Addr()) {
		return "", false
	}
	var b strings.Builder
	if err := drawing.Execute(&b, p.sheet(p.Stats.Numbers())); err != nil {
		return "", false
	}
	return template.HTML(b.String()), true
}
