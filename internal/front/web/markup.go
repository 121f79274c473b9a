package web

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
)

// A gemGroup is a run of lines of gemtext that share an element.
type gemGroup struct {
	Kind  string // the element; "" for headings and paragraphs
	Lines []gemLine
	pre
}

type gemLine struct {
	Level int // of a heading
	Text  template.HTML
	Link  *link
}

// gemKinds are the elements of the kinds of lines.
var gemKinds = map[menu.GemKind]string{menu.GemLink: "ul", menu.GemItem: "ul", menu.GemQuote: "blockquote", menu.GemFence: "pre", menu.GemPre: "pre"}

// gemtext renders gemtext. It omits the first heading if that is the page's title.
func (p *page) gemtext(w *pageWriter, text string) {
	var groups []gemGroup
	var reader menu.GemReader
	titled, below, fenced := false, 1, false // below 1: the page's heading has a level of its own
	for line := range strings.Lines(text) {
		l := reader.Line(strings.TrimSuffix(line, "\n"))
		shown := gemLine{}
		switch {
		case l.Kind == menu.GemHeading && !titled && answer.CleanTitle(l.Text) == p.Title:
			titled = true
			if l.Level == 1 && strings.Count("\n"+text, "\n# ") == 1 {
				below = 0
			}
			continue
		case l.Kind == menu.GemText && strings.TrimSpace(l.Text) == "":
			groups = append(groups, gemGroup{})
			continue
		case l.Kind == menu.GemHeading:
			shown.Level = max(l.Level+below, 2)
			shown.Text = template.HTML(template.HTMLEscapeString(l.Text))
		case l.Kind == menu.GemLink:
			shown.Link = p.gemLink(w, l)
		default:
			p.Hidden = p.Hidden || l.Kind == menu.GemText && !titled && answer.TitleOf(l.Text) == p.Title
			shown.Text = w.html(l.Text)
		}
		kind := gemKinds[l.Kind]
		if last := len(groups) - 1; last < 0 || groups[last].Kind != kind || l.Kind == menu.GemFence && !fenced {
			groups = append(groups, gemGroup{Kind: kind, pre: preOf(true, false, extendedColors.MatchString(text))})
		}
		if l.Kind == menu.GemFence {
			fenced = !fenced
		} else {
			last := &groups[len(groups)-1]
			last.Lines = append(last.Lines, shown)
		}
	}
	w.block("gemtext", groups)
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

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify, extension.Footnote, extension.TaskList),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(links{}, 100))))

// links renders links and images of Markdown. Unsafe links are dropped, and an image on another
// host becomes a link.
type links struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (links) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		to := n.(*ast.Link).Destination
		safe, away := safeURL(string(to))
		switch {
		case safe == "":
		case entering:
			open(w, to, away)
		default:
			_, _ = w.WriteString("</a>")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		n := node.(*ast.AutoLink)
		if !entering {
			return ast.WalkContinue, nil
		}
		to := n.URL(src)
		if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(to), []byte("mailto:")) {
			to = append([]byte("mailto:"), to...)
		}
		safe, _ := safeURL(string(to))
		if safe != "" {
			open(w, to, true)
		}
		_, _ = w.Write(util.EscapeHTML(n.Label(src)))
		if safe != "" {
			_, _ = w.WriteString("</a>")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		to, label := node.(*ast.Image).Destination, answer.PlainMarkdown(node, src)
		switch safe, away := safeURL(string(to)); {
		case safe != "" && !away:
			_, _ = w.WriteString(`<img src="` + escapedURL(to) + `" alt="` + template.HTMLEscapeString(label) + `">`)
		default:
			if label == "" {
				label = string(to)
			}
			_ = pages.ExecuteTemplate(w, "link", link{URL: safe, Away: true, Label: label})
		}
		return ast.WalkSkipChildren, nil
	})
}

// open begins a link.
func open(w util.BufWriter, to []byte, away bool) {
	rel := ""
	if away {
		rel = ` rel="external nofollow noreferrer"`
	}
	_, _ = w.WriteString(`<a href="` + escapedURL(to) + `"` + rel + ">")
}

func escapedURL(to []byte) string { return string(util.EscapeHTML(util.URLEscape(to, true))) }

// markdown renders Markdown and drops HTML. If the text is too large or too slow to parse, it
// writes nothing and returns false.
func (p *page) markdown(w *pageWriter, source string) bool {
	if len(source) > maxMarkdown || isSlow(source) {
		return false
	}
	src := []byte(answer.StripEscapes(source))
	doc := markdown.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext()))
	size := 0 // of the URLs: a definition of one may be used often
	var headings []*ast.Heading
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				headings = append(headings, n)
			}
		case *ast.Link:
			size += len(n.Destination)
		case *ast.Image:
			size += len(n.Destination)
		case *tables.Table: // what may scroll can have the focus
			n.SetAttributeString("tabindex", []byte("0"))
		}
		return ast.WalkContinue, nil
	})
	p.headings(doc, headings, src)
	var b bytes.Buffer
	if size > 8*maxMarkdown || markdown.Renderer().Render(&b, src, doc) != nil {
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
		return answer.TitleOf(string(line.Value(src))) == p.Title || answer.CleanTitle(answer.PlainMarkdown(n, src)) == p.Title
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
