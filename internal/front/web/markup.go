package web

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
)

// gemtext writes a text of Gemini: headings, links, lists, quotes and preformatted lines.
// Its first heading is not repeated if it is the title.
func (p *page) gemtext(w *pageWriter, text string) {
	titled, below := false, 1 // the level of the page's heading, if others have it, too
	open := ""                // the element that lines of one kind share
	into := func(element string) {
		if open == element {
			return
		}
		if open != "" {
			w.raw("</" + open + ">\n")
		}
		if open = element; open == "pre" {
			w.raw("<pre tabindex=\"0\">\n")
		} else if open != "" {
			w.raw("<" + open + ">\n")
		}
	}
	var reader menu.GemReader
	for line := range strings.Lines(text) {
		l := reader.Line(strings.TrimSuffix(line, "\n"))
		switch l.Kind {
		case menu.GemFence:
			if open == "pre" {
				into("")
			} else {
				into("pre")
			}
		case menu.GemPre:
			w.text(l.Text + "\n")
		case menu.GemLink:
			into("ul")
			p.gemlink(w, l)
		case menu.GemItem:
			into("ul")
			w.raw(`<li class="dot">`)
			w.text(l.Text)
			w.raw("</li>\n")
		case menu.GemQuote:
			into("blockquote")
			w.paragraph(l.Text)
		case menu.GemHeading:
			into("")
			if !titled && answer.CleanTitle(l.Text) == p.Title {
				if titled = true; l.Level == 1 && strings.Count("\n"+text, "\n# ") == 1 {
					below = 0
				}
				continue
			}
			level := strconv.Itoa(l.Level + below)
			w.raw("<h" + level + ">")
			w.escaped(l.Text)
			w.raw("</h" + level + ">\n")
		default:
			into("")
			if strings.TrimSpace(l.Text) != "" {
				p.Hidden = p.Hidden || !titled && answer.TitleOf(l.Text) == p.Title
				w.paragraph(l.Text)
			}
		}
	}
	into("")
}

func (w *pageWriter) paragraph(text string) {
	w.raw("<p>")
	w.text(text)
	w.raw("</p>\n")
}

// gemlink writes a link line. A URL of the site's own Gemini stays on the web.
func (p *page) gemlink(w *pageWriter, l menu.GemLine) {
	if u, err := url.Parse(l.URL); err == nil && u.Host != "" && p.own != nil && p.own(u) {
		l.URL = answer.Reference(u.Path)
	}
	w.raw("<li>")
	if safe, away := safeURL(l.URL); safe == "" {
		w.escaped(l.Text)
	} else {
		w.link(safe, away)
		w.escaped(l.Text)
		w.raw("</a>")
		if away {
			w.raw(" ")
			w.icon("away")
		}
	}
	w.raw("</li>\n")
}

// maxMarkdown bounds a text that is read as Markdown, in bytes. Others are shown as they
// are.
const maxMarkdown = 128 << 10

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify))

// markdown writes a text in Markdown, without the HTML in it. It reports false, and writes
// nothing, if the text is too large to be read so.
func (p *page) markdown(w *pageWriter, source string) bool {
	if len(source) > maxMarkdown || isSlow(source) {
		return false
	}
	src := []byte(answer.StripEscapes(source))
	doc := markdown.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext()))
	size := p.tame(doc, src)
	var b bytes.Buffer
	if size > 4*maxMarkdown || markdown.Renderer().Render(&b, src, doc) != nil {
		return false
	}
	w.raw(`<div class="md">` + "\n")
	w.raw(b.String())
	w.raw("</div>\n")
	return true
}

// To pair the marks of a paragraph, and to nest what a line begins, takes the square of
// their number.
const (
	maxMarks = 1000 // of links and emphasis in a paragraph
	maxDepth = 200  // bytes of blanks and signs of lists and quotes before a line
)

// isSlow reports whether to read a text as Markdown may take long.
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

// tame makes a document fit for a page: one heading of the first level, which the page has;
// links that only lead somewhere; no pictures from elsewhere. It returns about how many
// bytes all links take.
func (p *page) tame(doc ast.Node, src []byte) (size int) {
	var away []ast.Node
	var headings []*ast.Heading
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings = append(headings, n)
		case *ast.Link:
			size += len(n.Destination) + len(n.Title)
			safe, elsewhere := safeURL(string(n.Destination))
			if safe == "" {
				away = append(away, n)
			} else if elsewhere {
				n.SetAttributeString("rel", []byte("external nofollow noreferrer"))
			}
		case *ast.Image:
			size += len(n.Destination) + len(n.Title)
			if safe, elsewhere := safeURL(string(n.Destination)); safe == "" || elsewhere {
				away = append(away, n)
			}
		case *ast.AutoLink:
			n.SetAttributeString("rel", []byte("external nofollow noreferrer"))
			if safe, _ := safeURL(string(n.URL(src))); safe == "" && n.AutoLinkType == ast.AutoLinkURL {
				away = append(away, n)
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock, *tables.Table: // what may scroll can have the focus
			n.SetAttributeString("tabindex", []byte("0"))
		}
		return ast.WalkContinue, nil
	})
	if n := p.headings(doc, headings, src); n != nil {
		away = append(away, n)
	}
	for _, n := range away {
		parent := n.Parent()
		switch n := n.(type) {
		case *ast.Link:
			for c := n.FirstChild(); c != nil; c = n.FirstChild() {
				parent.InsertBefore(parent, n, c)
			}
			parent.RemoveChild(parent, n)
		case *ast.Image:
			parent.ReplaceChild(parent, n, p.insteadOf(n, src))
		case *ast.AutoLink:
			parent.ReplaceChild(parent, n, ast.NewString(n.Label(src)))
		default:
			parent.RemoveChild(parent, n)
		}
	}
	return size
}

// headings puts the headings of a document below that of the page, and returns the one that
// the page repeats. Without one the page hides its own if the first line says the same.
func (p *page) headings(doc ast.Node, list []*ast.Heading, src []byte) (repeated ast.Node) {
	titled := func(n ast.Node) bool {
		if n.Lines().Len() == 0 {
			return false
		}
		line := n.Lines().At(0)
		return answer.TitleOf(string(line.Value(src))) == p.Title
	}
	below, tops := 1, 0
	for _, n := range list {
		if n.Level == 1 {
			tops++
		}
	}
	if len(list) > 0 && (titled(list[0]) || answer.CleanTitle(plainOf(list[0], src)) == p.Title) {
		if repeated = list[0]; list[0].Lines().Len() == 1 {
			p.Title = answer.CleanTitle(plainOf(list[0], src)) // without its marks
		}
		if list[0].Level == 1 && tops == 1 {
			below = 0
		}
	} else if first, ok := doc.FirstChild().(*ast.Paragraph); ok {
		p.Hidden = titled(first)
	}
	for _, n := range list {
		n.Level = min(n.Level+below, 6)
	}
	return repeated
}

// insteadOf returns a link to a picture that lies elsewhere.
func (p *page) insteadOf(n *ast.Image, src []byte) ast.Node {
	label := plainOf(n, src)
	if label == "" {
		label = string(n.Destination)
	}
	s := ast.NewString([]byte(label))
	safe, _ := safeURL(string(n.Destination))
	if safe == "" {
		return s
	}
	link := ast.NewLink()
	link.Destination = []byte(safe)
	link.SetAttributeString("rel", []byte("external nofollow noreferrer"))
	link.AppendChild(link, s)
	return link
}

// plainOf returns the text of a node without its marks.
func plainOf(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(src))
		case *ast.String:
			b.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
