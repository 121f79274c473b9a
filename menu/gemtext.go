package menu

import (
	"cmp"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/gophd/gophd/selector"
)

// The menus of capsules: index.gmi, in the gemtext of Gemini (specification 0.24). Its
// lines have no marks of a gophermap: "* item" is text, and so is "# heading".

// A GemKind is a kind of line in gemtext.
type GemKind int

// The kinds.
const (
	GemText GemKind = iota
	GemLink
	GemHeading
	GemItem // of a list
	GemQuote
	GemFence // begins or ends preformatted lines
	GemPre   // a preformatted line
)

// A GemLine is a line of gemtext.
type GemLine struct {
	Kind  GemKind
	Text  string // without the mark; of a link its label, or else its URL
	URL   string // of a link
	Level int    // of a heading, 1 to 3
}

// A GemReader parses the lines of a text in gemtext, one after the other.
type GemReader struct{ fenced bool }

// Line parses the next line, which has no line end.
func (g *GemReader) Line(line string) GemLine {
	rest := strings.TrimSpace
	switch {
	case strings.HasPrefix(line, "```"):
		g.fenced = !g.fenced
		return GemLine{Kind: GemFence, Text: rest(line[3:])}
	case g.fenced:
		return GemLine{Kind: GemPre, Text: line}
	case strings.HasPrefix(line, "=>") && rest(line[2:]) != "":
		link := rest(line[2:])
		to := strings.Fields(link)[0]
		return GemLine{Kind: GemLink, Text: cmp.Or(rest(link[len(to):]), to), URL: to}
	case strings.HasPrefix(line, "#"):
		label := strings.TrimLeft(line, "#")
		return GemLine{
			Kind:  GemHeading,
			Text:  rest(label),
			Level: min(len(line)-len(label), 3),
		}
	case strings.HasPrefix(line, "* "):
		return GemLine{Kind: GemItem, Text: rest(line[2:])}
	case strings.HasPrefix(line, ">"):
		return GemLine{Kind: GemQuote, Text: rest(line[1:])}
	}
	return GemLine{Kind: GemText, Text: line}
}

// gemColumns is how long the lines of a paragraph are, which gemtext has in one line.
const gemColumns = 70

// gemLine appends the items of a line of a capsule's menu.
func (m *making) gemLine(g *GemReader, line string) {
	l := g.Line(line)
	switch l.Kind {
	case GemFence:
	case GemPre:
		m.text(l.Text)
	case GemLink:
		m.gemLink(l)
	case GemHeading:
		if m.menu.Title == "" {
			m.menu.Title = l.Text
		}
		m.wrap("", strings.TrimSpace(line))
	case GemItem:
		m.wrap("* ", l.Text)
	case GemQuote:
		m.wrap("> ", l.Text)
	default:
		m.wrap("", l.Text)
	}
}

// wrap appends a paragraph in lines. Those after the first begin below its text.
func (m *making) wrap(mark, text string) {
	line := mark + expandTabs(text)
	if columns(line) <= gemColumns {
		m.text(line)
		return
	}

	line = mark
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case columns(line)+1+columns(word) <= gemColumns:
			line += " " + word
		default:
			m.text(line)
			if mark == "* " {
				mark = "  "
			}
			line = mark + word
		}
	}
	m.text(line)
}

// gemLink appends the item of a link. The tree determines what a link to this site is.
func (m *making) gemLink(l GemLine) {
	u, err := url.Parse(l.URL)
	if err != nil || selector.HasControl(l.URL) {
		m.bad(CodeLine, l.Text, "not a URL: %q", l.URL)
		return
	}
	if u.Host != "" && m.Own != nil && m.Own(u) {
		u.Scheme, u.Host = "", ""
		u.Path = "/" + strings.TrimPrefix(u.Path, "/")
	}
	e := mapEntry{typ: '?', label: l.Text, selector: u.Path}
	switch g, err := selector.ParseURL(l.URL); {
	case u.Scheme == "gopher" && err == nil:
		e = mapEntry{g.Type, l.Text, g.Selector, g.Host, strconv.Itoa(g.Port)}
	case u.Scheme != "" || u.Host != "":
		if u.Scheme == "" {
			l.URL = "gemini:" + l.URL
		}
		e.typ, e.selector = TypeHTML, "URL:"+l.URL
	case u.Path == "": // a part of this page, or a question to it
		e.selector = selector.Canonical(m.dir, true)
	case path.Base(u.Path) == gmiName && (m.looks <= 0 || m.namesSomething(u.Path)):
		e.selector = path.Dir(u.Path) + "/" // it is the menu of its directory
	case u.RawQuery != "" && isProgramName(u.Path):
		e.selector += "?" + u.RawQuery
	}
	m.entry(e)
}
