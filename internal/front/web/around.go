package web

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// maxCrumbs bounds the parent directories that a page links.
const maxCrumbs = 16

// around adds links to the parent directories of a resource and to the neighbors of a dated
// text.
func (p *page) around(q *answer.Asked, name string, dir bool) {
	if name == "." {
		return
	}
	for i := range name {
		if name[i] == '/' && len(p.Path) < maxCrumbs {
			p.Path = append(p.Path, crumb{q.LinkTitle(name[:i], true), pathOf(name[:i+1])})
		}
	}
	p.Up = &crumb{p.Site, "/"}
	if path.Dir(name) != "." {
		p.Up = &crumb{q.LinkTitle(path.Dir(name), true), pathOf(path.Dir(name) + "/")}
	}
	if day, ok := menu.Day(path.Base(name)); ok && !dir {
		p.Date = day.Format(time.DateOnly)
		p.neighbors(q, name)
	}
}

// pathOf returns the path of a name in a URL.
func pathOf(name string) string { return selector.URIPath("/" + name) }

// neighbors adds links to the dated texts before and after one. It considers only texts that
// the menu of the directory links and whose titles the page may show.
func (p *page) neighbors(q *answer.Asked, name string) {
	b := q.Builder()
	b.Run = nil // do not run programs for links
	list, err := b.Menu(q.Context(), path.Dir(name))
	if err != nil {
		return
	}
	at := map[string]time.Time{}
	for _, it := range list.Items {
		other := strings.TrimPrefix(q.Target(it).Path, "/")
		if day, ok := menu.Day(path.Base(other)); ok && it.Type == menu.TypeText &&
			path.Dir(other) == path.Dir(name) && (other == name || q.Shows(other, false)) {
			at[other] = day
		}
	}
	names := slices.SortedFunc(maps.Keys(at), func(a, b string) int {
		return cmp.Or(at[a].Compare(at[b]), strings.Compare(a, b))
	})
	link := func(i int) *crumb {
		if i < 0 || i >= len(names) {
			return nil
		}
		return &crumb{q.Title(names[i], false), pathOf(names[i])}
	}
	if here := slices.Index(names, name); here >= 0 {
		p.Older, p.Newer = link(here-1), link(here+1)
	}
}

// favicon returns the path of the site's icon, or "".
func favicon(q *answer.Asked) string {
	for _, name := range []string{"favicon.ico", "favicon.png"} {
		if f, err := q.View.Lookup(name); err == nil {
			_ = f.Close()
			return "/" + name
		}
	}
	return ""
}
