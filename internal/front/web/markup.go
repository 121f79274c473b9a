package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
)

// gemtext renders gemtext. It omits the first heading if that is the page's title.
func (p *page) gemtext(w *pageWriter, text string) {
	var reader menu.GemReader
	titled, below := false, 1 // below 1: the page's heading has a level of its own
	shape := preOf(true, false, extendedColors.MatchString(text))
	element := "" // that is open: ul, blockquote or pre
	enter := func(next string) {
		if next == element {
			return
		}
		if element != "" {
			w.WriteString("</" + element + ">\n")
		}
		element = next
		if next == "pre" {
			w.block("pre", shape)
		} else if next != "" {
			w.WriteString("<" + next + ">\n")
		}
	}
	put := func(before, text, after string) {
		w.WriteString(before)
		w.text(text)
		w.WriteString(after + "\n")
	}
	for line := range strings.Lines(text) {
		l := reader.Line(strings.TrimSuffix(line, "\n"))
		switch l.Kind {
		case menu.GemFence:
			if element == "pre" {
				enter("")
			} else {
				enter("pre")
			}
		case menu.GemPre:
			put("", l.Text, "")
		case menu.GemLink:
			enter("ul")
			w.WriteString("<li>")
			w.block("link", p.gemLink(w, l))
			w.WriteString("</li>\n")
		case menu.GemItem:
			enter("ul")
			put(`<li class="dot">`, l.Text, "</li>")
		case menu.GemQuote:
			enter("blockquote")
			put("<p>", l.Text, "</p>")
		case menu.GemHeading:
			if !titled && answer.CleanTitle(l.Text) == p.Title {
				titled = true
				if l.Level == 1 && strings.Count("\n"+text, "\n# ") == 1 {
					below = 0
				}
				continue
			}
			enter("")
			level := max(l.Level+below, 2)
			_, _ = fmt.Fprintf(w, "<h%d>%s</h%d>\n", level, template.HTMLEscapeString(l.Text), level)
		default:
			enter("")
			if strings.TrimSpace(l.Text) != "" {
				p.Hidden = p.Hidden || !titled && answer.TitleOf(l.Text) == p.Title
				put("<p>", l.Text, "</p>")
			}
		}
	}
	enter("")
}

// gemLink returns the link of a line. A Gemini URL of this site becomes a path on the web.
func (p *page) gemLink(w *pageWriter, l menu.GemLine) *link {
	if u, err := url.Parse(l.URL); err == nil && u.Host != "" && p.own != nil && p.own(u) {
		l.URL = answer.Reference(u.Path)
	}
	shown := &link{Label: l.Text}
	if shown.URL, shown.Away = safeURL(l.URL); shown.Away {
		shown.Icon = w.icon("away")
	}
	return shown
}

// maxMarkdown bounds texts that are rendered as Markdown, in bytes. Longer ones are shown as
// plain text.
const maxMarkdown = 128 << 10

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough,
	extension.Linkify, extension.Footnote, extension.TaskList))

// restrict shows a link that browsers might run as text, and an image on another server as a
// link. Links to other servers send no referrer.
func restrict(n ast.Node, src []byte) {
	var to []byte
	switch n := n.(type) {
	case *ast.Link:
		to = n.Destination
	case *ast.AutoLink:
		to = n.URL(src)
	case *ast.Image:
		to = n.Destination
	}
	safe, away := safeURL(string(to))
	shown := ast.NewLink()
	for _, link := range []ast.Node{n, shown} {
		if away {
			link.SetAttributeString("rel", []byte("external nofollow noreferrer"))
		}
	}
	if safe != "" && !(away && n.Kind() == ast.KindImage) {
		return
	}

	// Put what describes the target in its place.
	if !n.HasChildren() {
		address := ast.NewString(to)
		address.SetRaw(true)
		n.AppendChild(n, address)
	}
	parent := n.Parent()
	if shown.Destination = to; safe != "" {
		parent.InsertBefore(parent, n, shown)
	}
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		if safe != "" {
			shown.AppendChild(shown, c)
		} else {
			parent.InsertBefore(parent, n, c)
		}
	}
	parent.RemoveChild(parent, n)
}

// markdown renders Markdown and drops HTML. If the text is too large or too slow to parse, it
// writes nothing and returns false.
func (p *page) markdown(w *pageWriter, source string) bool {
	if len(source) > maxMarkdown || isSlow(source) {
		return false
	}
	src := []byte(answer.StripEscapes(source))
	doc := markdown.Parser().Parse(text.NewReader(src))
	size := 0 // of the URLs: a definition of one may be used often
	var headings []*ast.Heading
	var links []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings = append(headings, n)
		case *ast.AutoLink:
			links = append(links, n)
		case *ast.Link:
			links = append(links, n)
			size += len(n.Destination)
		case *ast.Image:
			links = append(links, n)
			size += len(n.Destination)
		case *tables.Table: // what may scroll can have the focus
			n.SetAttributeString("tabindex", []byte("0"))
		}
		return ast.WalkContinue, nil
	})
	p.headings(doc, headings, src)
	for _, n := range links {
		restrict(n, src)
	}
	var b bytes.Buffer
	if size > 4*maxMarkdown || markdown.Renderer().Render(&b, src, doc) != nil {
		return false
	}
	w.WriteString(`<div class="md">` + "\n" + b.String() + "</div>\n")
	return true
}

// Parsing emphasis and nested blocks takes quadratic time, so these are bounded.
const (
	maxMarks = 1000 // of links and emphasis in a paragraph
	maxDepth = 200  // bytes of blanks and signs of lists and quotes before a line
)

// isSlow reports whether parsing a text as Markdown may be slow.
func isSlow(source string) bool {
	marks := 0
	for line := range strings.Lines(source) {
		if strings.TrimSpace(line) == "" {
			marks = 0
		}
		if len(line)-len(strings.TrimLeft(line, " \t>-*+0123456789.)")) > maxDepth {
			return true
		}
		for _, r := range line {
			if strings.ContainsRune("[]*_~`<", r) {
				marks++
			}
		}
		if marks > maxMarks {
			return true
		}
	}
	return false
}

// headings lowers the levels of a document's headings below that of the page, and removes the
// heading that equals the title. If the first line is the title but no heading, the page hides
// its own heading.
func (p *page) headings(doc ast.Node, list []*ast.Heading, src []byte) {
	titled := func(n ast.Node) bool {
		if n.Lines().Len() == 0 {
			return false
		}
		line := n.Lines().At(0)
		return answer.TitleOf(string(line.Value(src))) == p.Title ||
			answer.CleanTitle(answer.PlainMarkdown(n, src)) == p.Title
	}
	below, tops := 1, 0
	for _, n := range list {
		if n.Level == 1 {
			tops++
		}
	}
	if len(list) > 0 && titled(list[0]) {
		repeated := list[0]
		if repeated.Level == 1 && tops == 1 {
			below = 0
		}
		repeated.Parent().RemoveChild(repeated.Parent(), repeated)
	} else if first, ok := doc.FirstChild().(*ast.Paragraph); ok {
		p.Hidden = titled(first)
	}
	for _, n := range list {
		n.Level = min(n.Level+below, 6)
	}
}
