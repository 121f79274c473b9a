package web

import (
	"cmp"
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
	var names []string
	for _, it := range list.Items {
		other := strings.TrimPrefix(q.Target(it).Path, "/")
		if _, ok := menu.Day(path.Base(other)); ok && it.Type == menu.TypeText &&
			path.Dir(other) == path.Dir(name) && (other == name || q.Shows(other, false)) {
			names = append(names, other)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := menu.Day(path.Base(a))
		y, _ := menu.Day(path.Base(b))
		return cmp.Or(x.Compare(y), strings.Compare(a, b))
	})
	names = slices.Compact(names)
	at := slices.Index(names, name)
	if at > 0 {
		p.Older = &crumb{q.Title(names[at-1], false), pathOf(names[at-1])}
	}
	if at >= 0 && at+1 < len(names) {
		p.Newer = &crumb{q.Title(names[at+1], false), pathOf(names[at+1])}
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
