package web

import (
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// fill puts the items of a menu into a page. Drawings keep their columns. Elsewhere,
// consecutive lines of information form one part, and consecutive links another.
func (p *page) fill(q *answer.Asked, items []menu.Item) {
	for _, b := range answer.Blocks(items) {
		if !b.Drawn {
			p.fillPlain(q, b.Items)
			continue
		}
		part := block{}
		for _, it := range b.Items {
			shown := p.item(q, it)
			label := strings.TrimLeft(shown.Label, " ")
			shown.Indent, shown.Label = shown.Label[:len(shown.Label)-len(label)], label
			part.Drawn = append(part.Drawn, shown)
		}
		p.Blocks = append(p.Blocks, part)
	}
}

func (p *page) fillPlain(q *answer.Asked, items []menu.Item) {
	for len(items) > 0 {
		n := slices.IndexFunc(items, func(it menu.Item) bool { return answer.IsInfo(it) != answer.IsInfo(items[0]) })
		if n < 0 {
			n = len(items)
		}
		var b block
		var info []string
		for _, it := range items[:n] {
			if answer.IsInfo(it) {
				info = append(info, it.Label)
				continue
			}
			b.Items = append(b.Items, p.item(q, it))
		}
		if text := strings.Join(info, "\n"); strings.TrimSpace(text) != "" {
			b.Info = inPieces(readable([]byte(text)))
		}
		if b.Items != nil || b.Info.Pieces != nil {
			p.Blocks = append(p.Blocks, b)
		}
		items = items[n:]
	}
}

// item returns what a page shows of an item. A dated text in the directory that the
// page shows makes it have a feed.
func (p *page) item(q *answer.Asked, it menu.Item) item {
	shown := item{Label: readable([]byte(it.Label))}
	if answer.IsInfo(it) {
		return shown
	}
	shown.Kind = menu.TypeName(it.Type)
	if strings.TrimSpace(shown.Label) == "" {
		shown.Label = it.Selector
	}
	t := q.Target(it)
	switch {
	case t.URL != "":
		shown.URL, shown.Away = safe(t.URL), true
		if it.Host != "" && it.Type != menu.TypeTelnet && it.Type != menu.TypeTN3270 && strings.HasPrefix(t.URL, "gopher:") {
			shown.Kind = strings.TrimPrefix(shown.Kind+", elsewhere", ", ")
		}
	case t.Path != "":
		shown.URL = safe(selector.URIPath(t.Path))
		if shown.Form = t.Asks; t.Asks {
			shown.Kind = "" // its button says so
		}
		dir, base := path.Split(t.Path)
		if _, dated := answer.Day(base); dated && it.Type == menu.TypeText && p.Canonical == webURL(q.Request, dir) && !deniedToAll(q, t.Path) {
			p.Feed = selector.URIPath(dir) + feedName
		}
	}
	return shown
}

// deniedToAll reports whether robots.txt denies a file to all robots, so that it is in no
// feed.
func deniedToAll(q *answer.Asked, sel string) bool {
	name, dir, err := selector.Path(sel)
	snap := q.Host.Site.Now()
	return err != nil || snap == nil || snap.Compiled.DeniedToAll(name, dir)
}

// feedName is the name of the feed of a directory.
const feedName = "feed.xml"

// webURL is the URL of a path for a browser.
func webURL(req *server.Request, p string) string {
	u := url.URL{Scheme: "http", Host: req.Host, Path: p}
	usual := 80
	if req.TLS {
		u.Scheme, usual = "https", 443
	}
	if req.Port != usual {
		u.Host = net.JoinHostPort(req.Host, strconv.Itoa(req.Port))
	} else if strings.Contains(req.Host, ":") {
		u.Host = "[" + req.Host + "]"
	}
	return u.String()
}

// inline reports whether a browser may show a type instead of saving it.
func inline(kind string) bool { return kind != "application/octet-stream" }
