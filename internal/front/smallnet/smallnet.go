// Package smallnet serves Gemini, Spartan, Nex and Finger. Package answer resolves
// selectors, so the tree, the policy and the bounds are those of Gopher.
//
//	server.Protocol: bytes of a request → Length → Handler
//	                                                 │ parse: host, selector, query
//	                                                 ▼
//	                 Protocols.Hosts → answer.Host.Ask → answer.Value, drawn in the Format
//	                                                 │
//	                 status line, body ←─────────────┘
//
// A directory is its index.gmi if there is one (Gemini, Spartan), else its menu as
// gemtext. Links to resources of the site have no scheme and no host, so that a
// visitor stays with the protocol they came by.
package smallnet

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// Protocols makes the protocols of the hosts of one server.
type Protocols struct {
	// Hosts returns the host with a name and the request to pass to it. The name comes
	// from the request, "" if the protocol has none there. ok is false if the server
	// has no such host.
	Hosts func(r *server.Request, name string) (h *answer.Host, own *server.Request, ok bool)

	// ClientCert makes Gemini request a certificate of each client, for programs.
	ClientCert bool
}

// request is a request as its protocol writes it.
type request struct {
	host      string // "" if none is named
	path      string // escaped
	query     string
	authority string // of the URL, if the protocol has URLs
}

// handler is the server.Handler of a protocol, and its server.Quick for robots.txt, which
// is answered before all limits.
type handler struct {
	*Protocols

	// parse parses a request. With an error it returns the host and the path, if it can.
	parse func(r *server.Request) (request, error)

	format *answer.Format

	// reply sends an answer of some media type.
	reply func(w server.ResponseWriter, r *server.Request, q request, a *answer.Value,
		kind string) error

	head string // before robots.txt
}

// Quick answers a request for robots.txt from memory.
func (h *handler) Quick(r *server.Request) (a server.Answer, ok bool) {
	q, sel, ok := h.robots(r)
	if !ok {
		return a, false
	}
	of, own, ok := h.Hosts(r, q.host)
	if !ok {
		return a, false
	}
	r.Selector, own.Selector = sel, sel
	if a, ok = of.Quick(own, &answer.Format{}); ok && h.head != "" {
		a.Body = append([]byte(h.head), a.Body...)
	}
	return a, ok
}

// isRobots reports whether a request is for robots.txt.
func (h *handler) isRobots(raw string) bool {
	_, _, ok := h.robots(&server.Request{Raw: raw})
	return ok
}

// robots parses a request for robots.txt, which may have any query or port.
func (h *handler) robots(r *server.Request) (q request, sel string, ok bool) {
	q, _ = h.parse(r)
	sel, err := pathOf(q.path)
	return q, sel, err == nil && selector.IsRobots(sel)
}

// ServeGopher answers a request.
func (h *handler) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	line, _, _ := strings.Cut(r.Raw, "\n")
	r.Selector = strings.TrimSpace(line) // for the log, until it is known
	q, err := h.parse(r)
	if err != nil {
		return err
	}
	a, kind, err := h.ask(r, q, h.format)
	if err != nil {
		return err
	}
	defer a.Close()
	return h.reply(w, r, q, a, kind)
}

// ask resolves the path of a URL, and returns the answer and its media type.
func (f *Protocols) ask(r *server.Request, q request,
	form *answer.Format) (a *answer.Value, kind string, err error) {
	sel, err := pathOf(q.path)
	if err != nil {
		return nil, "", err
	}
	sel, asked, _ := strings.Cut(sel, "\t") // as gopher URLs have the words of a search
	if selector.HasControl(sel + asked) {
		return nil, "", badRequest("Bad path")
	}
	r.Selector, r.Query = sel, cmp.Or(q.query, asked)
	h, own, ok := f.Hosts(r, q.host)
	if !ok {
		return nil, "", errOtherHost
	}
	if h.ClosedPath(sel, cmp.Or(q.path, "/")) {
		return &answer.Value{Class: answer.Moved, Selector: sel}, "", nil
	}

	// A Gemini client is prompted at /7/cgi-bin/x and redirected to /cgi-bin/x?query. The selector
	// of the program itself does not prompt, since programs also run without a query.
	rest, asks := strings.CutPrefix(sel, "/7")
	if asks && strings.HasPrefix(rest, "/") && form == geminiFormat && h.Programs(rest) &&
		h.ItemType(r.Context(), sel) == 0 {
		if q.query == "" {
			return &answer.Value{
				Class:    answer.Question,
				Selector: sel,
				Prompt:   "What shall the program get?",
			}, "", nil
		}
		return &answer.Value{Class: answer.Moved, Selector: rest}, "", nil
	}
	a, err = h.Ask(own, form)
	if err != nil {
		return nil, "", err
	}
	return a, mediaType(h, a), nil
}

// errOtherHost is the error of a request for a host that is not on this server.
var errOtherHost = &server.Error{Kind: server.BadRequest, Message: "No such host here"}

func badRequest(why string) error {
	return &server.Error{
		Kind:    server.BadRequest,
		Message: why,
		Err:     errors.New(why),
	}
}

// pathOf decodes the path of a URL into a selector.
func pathOf(escaped string) (sel string, err error) {
	sel, err = url.PathUnescape(escaped)
	if err != nil {
		return "", badRequest("Bad path")
	}
	if sel == "" {
		sel = "/"
	}
	return sel, nil
}

// target returns where a Moved, Redirect or Leaving answer leads: a URL, or a path of the
// site. A resource that has moved gets the query of the request, which may have been behind
// a TAB.
func target(r *server.Request, a *answer.Value) string {
	if a.Class != answer.Moved {
		return oneLine(a.URL)
	}
	to := answer.Reference(a.Selector)
	if r.Query != "" {
		to += "?" + strings.ReplaceAll(url.QueryEscape(r.Query), "+", "%20")
	}
	return to
}

// linked is the answer of one link, where a client is not redirected.
func linked(to string) *answer.Value {
	return &answer.Value{Body: []byte("=> " + to + "\n")}
}

// lineLength returns the length of the first line of head with its end, 0 if the end
// is not there yet. A line longer than most is as long as head.
func lineLength(head []byte, most int) int {
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		return i + 1
	}
	if len(head) > most {
		return len(head)
	}
	return 0
}

// mediaType returns the media type of an answer, with the language of the host, unless a
// program has named another.
func mediaType(h *answer.Host, a *answer.Value) string {
	kind, markup := a.MediaType(), answer.Markup(a.Selector)
	switch {
	case a.Class != answer.File:
		kind = answer.Gemtext + utf8Label
	case a.Type == menu.TypeText && markup != "":
		kind = a.Labelled(markup + utf8Label)
	}
	if h.Lang != "" && strings.HasPrefix(kind, "text/") && !strings.Contains(kind, "; lang=") {
		kind += "; lang=" + h.Lang
	}
	return kind
}

const utf8Label = "; charset=utf-8"

// robotsType is the media type of robots.txt.
var robotsType = (&answer.Value{Type: menu.TypeText}).MediaType()

// gemtext is the format of Gemini and Spartan, which differ in how they link a
// question.
func gemtext(question string) *answer.Format {
	return &answer.Format{
		Strict: true,
		Paths:  true,
		Index:  "index.gmi",
		Draw: func(q *answer.Asked, a *answer.Value) ([]byte, error) {
			var b bytes.Buffer
			title, head := oneLine(q.AnswerTitle(a)), ""
			if title != "" {
				head = "# " + title + "\n\n"
			}
			name, dir := a.Name()
			for _, block := range answer.Blocks(a.Items) {
				drawBlock(&b, q, block, question, &title)
			}
			if dir && answer.HasFeed(q.View, name) {
				b.WriteString("\n=> feed.gmi Subscribe\n")
			}
			return append([]byte(head), bytes.TrimLeft(b.Bytes(), "\n")...), nil
		},
	}
}

// drawBlock renders a block of lines. Lines of a drawing are preformatted, with links in their
// places. A first line outside of drawings that repeats the title is omitted, since the page
// begins with the title.
func drawBlock(b *bytes.Buffer, q *answer.Asked, block answer.Block, question string,
	title *string) {
	pre := false
	fence := func(on bool) {
		if pre != on {
			b.WriteString("```\n")
			pre = on
		}
	}
	filled := block.Filled()
	for i, it := range block.Items {
		if i >= filled {
			fence(false)
		}
		label := oneLine(it.Text())
		if answer.IsInfo(it) {
			blank := strings.TrimSpace(label) == ""
			if !block.Drawn && !blank {
				above := *title
				*title = ""
				if above != "" && answer.CleanTitle(label) == above {
					continue
				}
			}
			if block.Drawn && !blank {
				fence(true)
			}
			endsFence := pre && strings.HasPrefix(label, "```")
			if endsFence || !pre && isMarkup(label) {
				b.WriteByte(' ') // a line of gemtext with the author's characters, not with their meaning
			}
			b.WriteString(strings.TrimRight(label, " ") + "\n")
			continue
		}
		fence(false)
		if title, beside := q.ListedTitle(it); title != "" {
			label = oneLine(title) + " (" + oneLine(beside) + ")"
			if day, ok := menu.Day(beside); ok { // as those who subscribe to a page expect it
				label = day.Format(time.DateOnly) + " " + oneLine(title)
			}
		}
		drawLink(b, q, it, question, label)
	}
	fence(false)
}

// drawLink renders an item as a link, or its label if it links nothing. question is the mark of a
// link that asks; if it is "", there are none.
func drawLink(b *bytes.Buffer, q *answer.Asked, it menu.Item, question, label string) {
	mark, to := "=>", ""
	switch t := q.Target(it); {
	case t.Path != "" && t.Asks && question == "=>" && q.Host.Programs(t.Path):
		to = answer.Reference("/7" + t.Path)
	case t.Path != "" && t.Asks:
		mark, to = question, answer.Reference(t.Path)
	case t.Path != "":
		to = answer.Reference(t.Path)
	default:
		to = oneLine(t.URL)
	}
	if mark == "" || to == "" {
		b.WriteString(strings.TrimRight(label, " ") + "\n")
		return
	}
	b.WriteString(mark + " " + to + " " + strings.TrimSpace(label) + "\n")
}

// isMarkup reports whether gemtext gives a line a meaning.
func isMarkup(line string) bool {
	return strings.HasPrefix(line, "=>") || strings.HasPrefix(line, "=:") ||
		strings.HasPrefix(line, "```") ||
		strings.HasPrefix(line, "#") || strings.HasPrefix(line, "* ") ||
		strings.HasPrefix(line, ">")
}

// oneLine returns a text without control characters.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}

// send writes a status line and the answer.
func send(w server.ResponseWriter, head string, a *answer.Value) error {
	if _, err := io.WriteString(w, head+"\r\n"); err != nil || a == nil {
		return err
	}
	_, err := a.WriteTo(w)
	return err
}
