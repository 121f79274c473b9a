package web

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// A long menu has pages, and a form that finds lines in it. Both work without a script.
const (
	perPage  = 500
	maxPages = 200
)

// list writes the menu of a directory: a page of it, or what a search in it finds.
func (p *page) list(w *pageWriter, q *answer.Asked, a *answer.Value, f variant) {
	items := a.Items
	here := html.EscapeString(selector.URIPath(a.Selector))
	if len(items) <= perPage && !f.search {
		p.menu(w, q, items)
		return
	}
	w.raw(`<form class="find" action="` + here + `"><label>Find in this list <input name="q" type="search" value="`)
	if f.search {
		w.escaped(p.Query)
	}
	w.raw(`"></label><button>Find</button></form>` + "\n")
	if f.search {
		p.find(w, q, items)
		w.raw(`<p><a href="` + here + `">The whole list</a></p>` + "\n")
		return
	}
	last := (len(items) - 1) / perPage
	at := min(f.page, last)
	if at > 0 {
		p.Canonical += fmt.Sprintf("?page=%d", at+1)
	}
	p.menu(w, q, items[at*perPage:min((at+1)*perPage, len(items))])
	w.pagesNav(here, at, last)
}

// find writes the links with a label or a selector that has the words of the query.
func (p *page) find(w *pageWriter, q *answer.Asked, items []menu.Item) {
	query := p.Query
	p.Query, p.Noindex = "", true // it belongs to the form of the list
	words := strings.Fields(strings.ToLower(query))
	found := slices.DeleteFunc(slices.Clone(items), func(it menu.Item) bool {
		label := strings.ToLower(it.Label + " " + it.Selector)
		return answer.IsInfo(it) || slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(label, word) })
	})
	w.raw("<p>")
	switch n := len(found); {
	case n == 0:
		w.escaped(fmt.Sprintf("Nothing found for %q", query))
	case n > perPage:
		w.escaped(fmt.Sprintf("The first %d of %d results for %q", perPage, n, query))
	case n == 1:
		w.escaped(fmt.Sprintf("1 result for %q", query))
	default:
		w.escaped(fmt.Sprintf("%d results for %q", n, query))
	}
	w.raw("</p>\n")
	if len(found) > 0 {
		p.plain(w, q, found[:min(len(found), perPage)])
	}
}

// pagesNav links the pages of a list: the first, the last and those around the current one.
func (w *pageWriter) pagesNav(here string, at, last int) {
	w.raw(`<nav class="pages" aria-label="Pages of this list"><ol>` + "\n")
	gap := false
	for n := range last + 1 {
		switch {
		case n == at:
			w.raw(fmt.Sprintf("<li aria-current=\"page\">%d</li>\n", n+1))
		case n == 0:
			w.raw(`<li><a href="` + here + `">1</a></li>` + "\n")
		case n == last || n >= at-3 && n <= at+3:
			w.raw(fmt.Sprintf("<li><a href=\"%s?page=%d\">%d</a></li>\n", here, n+1, n+1))
		default:
			if !gap {
				w.raw("<li>…</li>\n")
			}
			gap = true
			continue
		}
		gap = false
	}
	w.raw("</ol></nav>\n")
}
