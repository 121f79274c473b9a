package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// menu renders a menu. Drawn blocks keep their columns. In others, consecutive info lines become
// a paragraph, and consecutive links a list. The title is not repeated.
func (p *page) menu(w *pageWriter, q *answer.Asked, items []menu.Item) {
	if len(items) == 0 {
		w.WriteString("<p>This directory is empty.</p>\n")
	}
	above := true // what was written so far is empty
	for _, b := range answer.Blocks(items) {
		if above {
			b, above = p.untitled(b)
		}
		if !b.Drawn {
			p.plain(w, q, b.Items, "")
			continue
		}
		w.block("pre", preOf(true, isArt(b.Items),
			slices.ContainsFunc(b.Items, func(it menu.Item) bool {
				return extendedColors.MatchString(it.Label)
			})))
		for _, it := range b.Items[:b.Filled()] {
			p.drawnLine(w, q, it)
		}
		w.WriteString("</pre>\n")
	}
}

// pre is an element of preformatted lines.
type pre struct {
	Wide  bool // it may scroll
	Class string
}

func preOf(wide, art, terminal bool) pre {
	var classes []string
	if art {
		classes = append(classes, "art")
	}
	if terminal {
		classes = append(classes, "term")
	}
	return pre{wide, strings.Join(classes, " ")}
}

// isArt reports whether a block is shown without line spacing, as on a terminal: box drawings,
// but not lists of links.
func isArt(items []menu.Item) bool {
	hasLinks := slices.ContainsFunc(items, func(it menu.Item) bool { return !answer.IsInfo(it) })
	return !hasLinks || slices.ContainsFunc(items, func(it menu.Item) bool {
		return strings.ContainsAny(it.Label, "│┃║|")
	})
}

// untitled removes the page's title from the first block of a menu. A drawing keeps it, and the
// page hides its own heading. empty reports whether nothing is left.
func (p *page) untitled(b answer.Block) (_ answer.Block, empty bool) {
	titled := func(it menu.Item) bool {
		return answer.IsInfo(it) && answer.CleanTitle(it.Label) == p.Title
	}
	at := slices.IndexFunc(b.Items, titled)
	hasMore := slices.ContainsFunc(b.Items, func(it menu.Item) bool {
		return !answer.IsInfo(it) || !titled(it) && !answer.IsRuler(it.Label)
	})
	switch {
	case at >= 0 && !hasMore || len(b.Items) == 0:
		return answer.Block{}, true
	case at < 0:
	case at > 0 || b.Drawn && b.Items[0].Label != p.Title:
		p.Hidden = true
	default:
		b.Items = b.Items[1:]
	}
	return b, false
}

// plain renders items that are not drawn: runs of info lines, and of links as lists of a class.
// Among the results of a search, the path at the end of a label is shown separately.
func (p *page) plain(w *pageWriter, q *answer.Asked, items []menu.Item, class string) {
	for len(items) > 0 {
		info := answer.IsInfo(items[0])
		n := slices.IndexFunc(items, func(it menu.Item) bool {
			return answer.IsInfo(it) != info && !it.Below
		})
		if n < 0 {
			n = len(items)
		}
		run := items[:n]
		items = items[n:]
		if !info {
			links := p.links(w, q, run)
			for i, l := range links {
				if at := strings.LastIndex(l.Label, " (/"); class == results && at > 0 &&
					strings.HasSuffix(l.Label, ")") {
					links[i].Label, links[i].Note = l.Label[:at],
						strings.TrimSuffix(l.Label[at+2:], ")")
				}
			}
			w.block("list", list{class, links})
			continue
		}
		var lines []string
		for _, it := range run {
			if answer.IsRuler(it.Label) && len(strings.TrimSpace(it.Label)) > 2 { // as wide as the screen is
				w.info(readable([]byte(strings.Join(lines, "\n"))))
				w.WriteString("<hr>\n")
				lines = nil
				continue
			}
			lines = append(lines, it.Label)
		}
		w.info(readable([]byte(strings.Join(lines, "\n"))))
	}
}

// results is the class of the list of a search's results.
const results = "results"

// A list is the data of the template "list".
type list struct {
	Class string
	Links []link
}

func (p *page) links(w *pageWriter, q *answer.Asked, items []menu.Item) (links []link) {
	for _, it := range items {
		if last := len(links) - 1; it.Below && last >= 0 {
			links[last].Below = append(links[last].Below, marked(it))
		} else {
			links = append(links, p.link(w, q, it))
		}
	}
	return links
}

// info renders info lines: words as paragraphs, other lines preformatted.
func (w *pageWriter) info(text string) {
	text = strings.Trim(text, "\n")
	switch {
	case strings.TrimSpace(text) == "":
		return
	case !isWords(text):
		w.prose(inPieces(text))
		return
	}
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			w.WriteString("<p class=\"info\">")
			w.pieces(inPieces(part))
			w.WriteString("</p>\n")
		}
	}
}

// isWords reports whether lines are words: nearly all letters, and no mark repeated three
// times.
func isWords(text string) bool {
	letters := 0
	all := 0
	run := 0
	last := ' '
	for _, r := range answer.StripEscapes(text) {
		all++
		isWord := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
		if isWord || r == ' ' || r == '\n' {
			letters++
		}
		if run++; r != last || r == '\n' {
			run = 1
		}
		if last = r; run >= 3 && r != '.' && !isWord {
			return false
		}
	}
	return 10*letters >= 8*all
}

// marked highlights the words that match a search.
func marked(it menu.Item) template.HTML {
	var b strings.Builder
	at := 0
	for _, h := range it.Hits {
		b.WriteString(template.HTMLEscapeString(it.Label[at:h.From]) + "<mark>" +
			template.HTMLEscapeString(it.Label[h.From:h.To]) + "</mark>")
		at = h.To
	}
	return template.HTML(b.String() + template.HTMLEscapeString(it.Label[at:]))
}

// drawnLine renders a line of a drawing. The icon is at its end, so that columns stay aligned.
func (p *page) drawnLine(w *pageWriter, q *answer.Asked, it menu.Item) {
	label := readable([]byte(it.Label))
	if answer.IsInfo(it) {
		w.text(label + "\n")
		return
	}
	label = answer.StripEscapes(label)

	// Blanks and the lines of a box stay outside of the link.
	core := strings.Trim(label, frame)
	at := max(strings.Index(label, core), 0)
	if core == "" {
		core, at = label, 0
	}
	w.escaped(label[:at])
	l := p.link(w, q, it)
	after := l
	if l.Asks = false; l.URL != "" {
		l.Label = core
		l.Icon = nil
		l.Note = ""
		w.block("link", l)
	} else {
		w.escaped(core)
	}
	w.escaped(label[at+len(core):])
	w.block("link", link{Icon: after.Icon})
	w.WriteString("\n")
}

const frame = " |│┃║:¦█▌▐░▒▓"

// link returns the link of an item. In a listing, a text has its title as the label, followed
// by its name.
func (p *page) link(w *pageWriter, q *answer.Asked, it menu.Item) link {
	t := q.Target(it)
	l := link{Label: strings.TrimSpace(answer.StripEscapes(readable([]byte(it.Label))))}
	if l.Label == "" {
		l.Label = it.Selector
	}
	if title, rest := q.ListedTitle(it); title != "" {
		l.Label, l.Note = title, rest
		if day, name, ok := menu.CutDay(rest); ok { // shown before the title; the rest of the name follows it
			l.Day, l.Note = day.Format(time.DateOnly), strings.TrimLeft(name, "-_. ")
		}
	}
	switch {
	case t.URL != "":
		l.URL, l.Away = template.URL(t.URL), true
	case t.Path != "":
		l.URL, l.Asks = template.URL(selector.URIPath(t.Path)), t.Asks
		l.Hidden = l.Label == p.Title // shown as the heading
	}
	l.Icon = w.icon(iconOf(it, t))
	return l
}

// A long menu is split into pages and has a form that filters it, without scripts.
const (
	perPage  = 500
	maxPages = 200
)

// list renders one page of a directory's menu, or the lines that the filter finds.
func (p *page) list(w *pageWriter, q *answer.Asked, a *answer.Value, f variant) {
	items := a.Items
	if len(items) <= perPage && !f.search {
		p.menu(w, q, items)
		return
	}
	here := selector.URIPath(a.Selector)
	form := struct{ Here, Query string }{here, ""}
	if f.search {
		form.Query = p.Query
	}
	w.block("find", form)
	if f.search {
		p.find(w, q, here, items)
		return
	}
	last := (len(items) - 1) / perPage
	at := min(f.page, last)
	if at > 0 {
		p.Canonical += fmt.Sprintf("?page=%d", at+1)
	}
	p.menu(w, q, items[at*perPage:min((at+1)*perPage, len(items))])

	// Link the first page, the last, and those around this one.
	type number struct {
		N   int
		URL string
		Gap bool
	}
	var numbers []number
	for n := range last + 1 {
		switch {
		case n == at:
			numbers = append(numbers, number{N: n + 1})
		case n == 0:
			numbers = append(numbers, number{N: 1, URL: here})
		case n == last || n >= at-3 && n <= at+3:
			numbers = append(numbers, number{N: n + 1, URL: fmt.Sprintf("%s?page=%d", here, n+1)})
		case !numbers[len(numbers)-1].Gap:
			numbers = append(numbers, number{Gap: true})
		}
	}
	w.block("pages", numbers)
}

// find renders the links whose label or selector contains the words of the query.
func (p *page) find(w *pageWriter, q *answer.Asked, here string, items []menu.Item) {
	query := p.Query
	p.Query, p.Noindex = "", true // it belongs to the form of the list
	words := strings.Fields(strings.ToLower(query))
	found := slices.DeleteFunc(slices.Clone(items), func(it menu.Item) bool {
		label := strings.ToLower(it.Label + " " + it.Selector)
		return answer.IsInfo(it) || slices.ContainsFunc(words, func(word string) bool {
			return !strings.Contains(label, word)
		})
	})
	count := diag.Count(len(found), "result", "results")
	switch n := len(found); {
	case n == 0:
		count = "Nothing found"
	case n > perPage:
		count = fmt.Sprintf("The first %d of %d results", perPage, n)
	}
	count += fmt.Sprintf(" for %q", query)
	w.block("found", struct {
		list
		Count, Here string
	}{list{Links: p.links(w, q, found[:min(len(found), perPage)])}, count, here})
}
