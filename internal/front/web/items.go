package web

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// menu writes a menu. Drawings keep their columns. Elsewhere, consecutive lines of
// information form one part, and consecutive links a list. The title stands above it once.
func (p *page) menu(w *pageWriter, q *answer.Asked, items []menu.Item) {
	if len(items) == 0 {
		w.raw("<p>This directory is empty.</p>\n")
	}
	above := true // what was written so far is empty
	for _, b := range answer.Blocks(items) {
		if above {
			b, above = p.untitled(b)
		}
		if !b.Drawn {
			p.plain(w, q, b.Items)
			continue
		}
		n := len(b.Items)
		for n > 1 && answer.IsInfo(b.Items[n-1]) && strings.TrimSpace(b.Items[n-1].Label) == "" {
			n--
		}
		w.raw("<pre tabindex=\"0\"" + art(b.Items) + ">\n")
		for _, it := range b.Items[:n] {
			p.drawnLine(w, q, it)
		}
		w.raw("</pre>\n")
	}
}

// art returns the class of a drawing whose lines stand close to each other, as on a terminal.
// Lists of links have room between their lines, but not in a box.
func art(items []menu.Item) string {
	if slices.ContainsFunc(items, func(it menu.Item) bool { return !answer.IsInfo(it) }) && !slices.ContainsFunc(items, func(it menu.Item) bool { return strings.ContainsAny(it.Label, "│┃║|") }) {
		return ""
	}
	return ` class="art"`
}

// untitled returns the first block of a menu without the title of the page. A drawing keeps
// it, and the page hides its own. Empty reports whether nothing is left.
func (p *page) untitled(b answer.Block) (_ answer.Block, empty bool) {
	titled := func(it menu.Item) bool { return answer.IsInfo(it) && answer.CleanTitle(it.Label) == p.Title }
	rest := slices.Clone(b.Items)
	rest = slices.DeleteFunc(rest, func(it menu.Item) bool { return answer.IsInfo(it) && (titled(it) || answer.IsRuler(it.Label)) })
	at := slices.IndexFunc(b.Items, titled)
	switch {
	case at >= 0 && len(rest) == 0 || len(b.Items) == 0:
		return answer.Block{}, true
	case at < 0:
	case at > 0 || b.Drawn && b.Items[0].Label != p.Title:
		p.Hidden = true
	default:
		b.Items = b.Items[1:]
	}
	return b, false
}

// plain writes lines that are not drawn.
func (p *page) plain(w *pageWriter, q *answer.Asked, items []menu.Item) {
	for len(items) > 0 {
		n := slices.IndexFunc(items, func(it menu.Item) bool { return answer.IsInfo(it) != answer.IsInfo(items[0]) })
		if n < 0 {
			n = len(items)
		}
		if answer.IsInfo(items[0]) {
			var info []string
			for _, it := range items[:n] {
				info = append(info, it.Label)
			}
			if text := strings.Join(info, "\n"); strings.TrimSpace(text) != "" {
				w.info(readable([]byte(text)))
			}
		} else {
			w.raw("<ul>\n")
			for _, it := range items[:n] {
				w.raw("<li>")
				p.item(w, q, it)
				w.raw("</li>\n")
			}
			w.raw("</ul>\n")
		}
		items = items[n:]
	}
}

// info writes lines of information that are not drawn: words as paragraphs, and whatever
// else there may be in letters of one width.
func (w *pageWriter) info(text string) {
	text = strings.Trim(text, "\n")
	if !isWords(text) {
		w.prose(inPieces(text))
		return
	}
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			w.raw("<p class=\"info\">")
			w.pieces(inPieces(part))
			w.raw("</p>\n")
		}
	}
}

// isWords reports whether lines are words, which need no columns: nearly all letters, and
// no mark three times in a row.
func isWords(text string) bool {
	letters, all, run, last := 0, 0, 0, ' '
	for _, r := range answer.StripEscapes(text) {
		all++
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == ' ' || r == '\n' {
			letters++
		}
		if run++; r != last || r == '\n' {
			run = 1
		}
		if last = r; run >= 3 && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return 10*letters >= 8*all
}

// results writes the answer of a source, which no author has drawn.
func (p *page) results(w *pageWriter, q *answer.Asked, items []menu.Item) {
	for i := 0; i < len(items); {
		n := i
		for n < len(items) && !answer.IsInfo(items[n]) {
			n++
		}
		if n == i {
			for n < len(items) && answer.IsInfo(items[n]) {
				n++
			}
			p.plain(w, q, items[i:n])
			i = n
			continue
		}
		w.raw("<ul class=\"results\">\n")
		for i < len(items) && !answer.IsInfo(items[i]) {
			w.raw("<li>")
			it, at := items[i], ""
			it.Label, at = cutPath(it)
			p.item(w, q, it)
			if at != "" {
				w.raw(` <span class="kind">`)
				w.escaped(at)
				w.raw("</span>")
			}
			for i++; i < len(items) && items[i].Below; i++ {
				w.raw("<p>")
				w.marked(readable([]byte(strings.TrimSpace(items[i].Label))))
				w.raw("</p>")
			}
			w.raw("</li>\n")
		}
		w.raw("</ul>\n")
	}
}

// cutPath cuts the path off the label of a result, which people who see the URL of a link
// need less.
func cutPath(it menu.Item) (label, at string) {
	at = "/" + strings.Trim(it.Selector, "/")
	if label, ok := strings.CutSuffix(it.Label, " ("+at+")"); ok {
		return label, at
	}
	return it.Label, ""
}

// marked writes a line in which asterisks stand around what was found.
func (w *pageWriter) marked(line string) {
	for i, part := range strings.Split(line, "*") {
		if i%2 == 1 {
			w.raw("<mark>")
		}
		w.escaped(part)
		if i%2 == 1 {
			w.raw("</mark>")
		}
	}
}

// drawnLine writes a line of a drawing. Its columns are those of the author: an icon stands
// at its end.
func (p *page) drawnLine(w *pageWriter, q *answer.Asked, it menu.Item) {
	label := readable([]byte(it.Label))
	if answer.IsInfo(it) {
		w.text(label)
		w.raw("\n")
		return
	}
	label = answer.StripEscapes(label)
	before, core, after := cutFrame(label)
	w.escaped(before)
	t := q.Target(it)
	switch {
	case t.URL != "":
		w.link(t.URL, true)
	case t.Path != "":
		w.link(selector.URIPath(t.Path), false)
	}
	w.escaped(core)
	if t.URL+t.Path != "" {
		w.raw("</a>")
	}
	w.escaped(after)
	if name := iconOf(it, t); name != "" {
		w.raw(" ")
		w.icon(name)
	}
	w.raw("\n")
}

// cutFrame cuts blanks and the lines of a box off both ends of a label.
func cutFrame(label string) (before, core, after string) {
	core = strings.TrimLeft(label, frame)
	before = label[:len(label)-len(core)]
	core = strings.TrimRight(core, frame)
	if core == "" {
		return "", label, ""
	}
	return before, core, label[len(before)+len(core):]
}

const frame = " |│┃║:¦█▌▐░▒▓"

// item writes a link of a list, or a form for words.
func (p *page) item(w *pageWriter, q *answer.Asked, it menu.Item) {
	label := strings.TrimSpace(answer.StripEscapes(readable([]byte(it.Label))))
	if label == "" {
		label = it.Selector
	}
	t := q.Target(it)
	switch {
	case t.URL != "":
		w.link(t.URL, true)
		w.escaped(label)
		w.raw("</a>")
	case t.Path != "" && t.Asks:
		w.raw(`<form action="`)
		w.escaped(selector.URIPath(t.Path))
		w.raw(`"><label>`)
		if label == p.Title { // which stands above
			w.raw(`<span class="hidden">`)
			w.escaped(label)
			w.raw("</span>")
		} else {
			w.escaped(label)
		}
		w.raw(` <input name="q" type="search"></label><button>Search</button></form>`)
	case t.Path != "":
		w.link(selector.URIPath(t.Path), false)
		w.escaped(label)
		w.raw("</a>")
	default:
		w.escaped(label)
	}
	if name := iconOf(it, t); name != "" {
		w.raw(" ")
		w.icon(name)
	}
}

// feedName is the name of the feed of a directory.
const feedName = "feed.xml"

// inline reports whether a browser may show a type instead of saving it.
func inline(kind string) bool { return kind != "application/octet-stream" }
