package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// Pages is an http.Handler that shows a site in a browser: menus as lists, texts, images, audio
// and video in a page, other files as downloads.
//
// The path of a resource is its canonical selector. /0/..., with an item type as in a gopher URL,
// redirects there. A client that does not accept text/html, or that requests ?raw, gets the file
// itself.
type Pages struct {
	Host *answer.Host

	// AddressOnly answers every path but /robots.txt with a page that names its gopher URL.
	AddressOnly bool

	// Theme is plain (the default), paper or terminal.
	Theme string

	// Search adds a form for /search to each page.
	Search bool

	parsed  atomic.Pointer[parsedRobots]
	formats sync.Map // of a variant: its *answer.Format
}

// variant is a form of a reply.
type variant struct {
	raw    bool // files are not shown in a page
	gzip   bool // the client accepts gzip
	search bool // a list is filtered by the query
	page   int  // page of a long list, from 0
}

// format returns the Format of a variant, so that the cache holds drawn and compressed replies.
func (v *Pages) format(f variant) *answer.Format {
	if has, ok := v.formats.Load(f); ok {
		return has.(*answer.Format)
	}
	made := &answer.Format{
		Web:    true,
		Strict: true,
		Paths:  true,
		Seek:   true,
		Colors: true,
		Query:  f.search,
		Draw:   func(q *answer.Asked, a *answer.Value) ([]byte, error) { return v.draw(q, a, f) },
	}
	made.Draws = func(a *answer.Value) bool { return f.shows(a) || f.gzip && isText(a) }
	has, _ := v.formats.LoadOrStore(f, made)
	return has.(*answer.Format)
}

// maxText bounds texts that are shown in a page, in bytes. Longer ones are sent as files.
const maxText = 2 << 20

// maxWait is how long a page waits for the first policy, for its headers.
const maxWait = 5 * time.Second

var errUnread = &server.Error{Kind: server.Busy, Err: errors.New("the tree has not been read yet")}

// ServeHTTP answers a request.
func (v *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sel, query := r.URL.Path, ""
	accepts := strings.Contains(r.Header.Get("Accept"), "text/html") // as browsers do
	f := variant{raw: !accepts, gzip: takesGzip(r)}
	if r.URL.RawQuery != "" {
		values := r.URL.Query()
		query = values.Get("q")
		f.raw = f.raw || values.Has("raw")
		f.search = query != "" && !f.raw && strings.HasSuffix(sel, "/")
		if n, _ := strconv.Atoi(values.Get("page")); n > 1 && !f.search &&
			strings.HasSuffix(sel, "/") {
			f.page = min(n, maxPages) - 1
		}
		if raw, err := url.QueryUnescape(r.URL.RawQuery); err == nil && !values.Has("q") &&
			v.Host.Programs(sel) {
			sel += "?" + raw
		}
	}
	if before, words, ok := strings.Cut(sel, "\t"); ok && query == "" && !badPath(before) { // as in gopher URLs
		redirect(w, answer.Reference(before)+"?q="+url.QueryEscape(words), true)
		return
	}
	if badPath(sel) || selector.HasControl(query) || len(sel)+len(query) > selector.MaxRequest {
		v.failed(w, r, &server.Error{Kind: server.BadRequest, Message: "This is no path"})
		return
	}
	if v.Host.ClosedPath(r.URL.Path, r.URL.EscapedPath()) {
		moved(w, r, r.URL.Path)
		return
	}
	if !selector.IsRobots(sel) && !v.Host.Site.Ready(r.Context(), maxWait) {
		failed(w, errUnread, page{})
		return
	}
	if v.AddressOnly && !selector.IsRobots(sel) {
		v.address(w, r, sel)
		return
	}
	a, err := v.Host.Ask(ask(r, sel, query), v.format(f))
	if err != nil {
		v.setHeaders(w.Header(), sel, "", false)
		v.failed(w, r, err)
		return
	}
	defer a.Close()
	v.answer(w, r, a, f)
}

// ask converts an HTTP request to a server.Request.
func ask(r *http.Request, sel, query string) *server.Request {
	asked := opening(r).WithContext(wanted(r))
	asked.RequestLine = selector.RequestLine{Selector: sel, Query: query}
	asked.URLPort = portOf(r)
	dest := r.Header.Get("Sec-Fetch-Dest") // sent by browsers only
	asked.Embedded = dest != "" && dest != "document"
	return asked
}

// answer sends an answer.
func (v *Pages) answer(w http.ResponseWriter, r *http.Request, a *answer.Value, f variant) {
	h := w.Header()
	switch {
	case a.Class == answer.Moved:
		moved(w, r, a.Selector)
		return
	case selector.IsRobots(a.Selector):
		v.robots(w, r, a.Body)
		return
	case a.Class == answer.Leaving:
		// Do not redirect: a stranger could use the site's name in a link to any URL.
		noindex(h)
		write(w, http.StatusOK, page{
			Style: looks[v.Theme],
			Lang:  "en",
			Title: "This link leaves the site",
			Leads: a.URL,
		})
		return
	case a.Class == answer.Redirect:
		redirect(w, a.URL, a.Permanent)
		return
	}
	if a.Head == nil { // not drawn
		v.head(h, a, f)
	} else {
		maps.Copy(h, a.Head)
	}
	switch {
	case a.Open != nil:
		stream(w, r, a.Stream, f.gzip)
		return
	case a.Resource == nil:
		content(w, r, a.Body)
		return
	}
	info := a.Resource.Info
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		h.Set("ETag", fmt.Sprintf(`"%x-%x-%x"`, info.Size(), info.ModTime().UnixNano(), st.Ino))
	}
	http.ServeContent(w, r, "", info.ModTime(), a.Resource)
}

// head sets the headers of an answer that depend on the policy.
func (v *Pages) head(h http.Header, a *answer.Value, f variant) {
	name, dir := a.Name()
	v.setHeaders(h, a.Selector, name, dir)
	h.Set("Vary", "Accept, Accept-Encoding")
	kind := mediaType(a)
	switch {
	case a.Drawn && f.shows(a):
		kind = htmlText
	case strings.HasPrefix(kind, "application/") && kind != "application/pdf" &&
		a.Type != menu.TypeText:
		h.Set("Content-Disposition", "attachment")
	}
	if h.Set("Content-Type", kind); a.Resource == nil && a.Open == nil {
		h.Set("ETag", etag(a.Body))
	}
}

// moved redirects to another path of the site and keeps the query.
func moved(w http.ResponseWriter, r *http.Request, to string) {
	location := answer.Reference(to)
	if r.URL.RawQuery != "" {
		location += "?" + r.URL.RawQuery
	}
	redirect(w, location, true)
}

func redirect(w http.ResponseWriter, location string, permanent bool) {
	w.Header().Set("Location", location)
	status := http.StatusFound
	if permanent {
		status = http.StatusMovedPermanently
	}
	w.WriteHeader(status)
}

// isText reports whether a file is worth compressing: a text, feed or sitemap.
func isText(a *answer.Value) bool {
	kind := mediaType(a)
	return (strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "xml") ||
		a.Type == menu.TypeText) &&
		max(a.Size, int64(len(a.Body))) > smallText && a.Size <= maxText
}

// shows reports whether an answer is shown in a page.
func (f variant) shows(a *answer.Value) bool {
	return a.Class != answer.File || !f.raw && isShown(a)
}

// isShown reports whether a file is shown in a page.
func isShown(a *answer.Value) bool {
	name, _ := a.Name()
	kind, _, _ := strings.Cut(mediaType(a), "/")
	switch {
	case kind == "text", name != "" && a.Type == menu.TypeText:
		return a.Size <= maxText
	case kind == "image", kind == "audio", kind == "video":
		return name != ""
	}
	return false
}

// draw returns an answer in a variant.
func (v *Pages) draw(q *answer.Asked, a *answer.Value, f variant) (body []byte, err error) {
	head := http.Header{}
	if f.shows(a) {
		p, failed := v.page(q, a, f)
		if failed != nil {
			return nil, failed
		}
		body = p.render()
		head.Set("Content-Security-Policy", p.csp())
	} else if body, err = q.File(a); err != nil {
		return nil, err
	}
	if f.gzip {
		if small := compressed(body); small != nil {
			body = small
			head.Set("Content-Encoding", "gzip")
		}
	}
	a.Body, a.Drawn, a.Head = body, true, head
	v.head(head, a, f)
	return body, nil
}

// page returns the page of an answer.
func (v *Pages) page(q *answer.Asked, a *answer.Value, f variant) (*page, error) {
	p := v.begin(q, a)
	w := &pageWriter{}
	raw := template.URL(selector.URIPath(a.Selector) + "?raw")
	kind, _, _ := strings.Cut(mediaType(a), "/")
	name, _ := a.Name()
	if name != "" && a.Class == answer.File {
		p.Raw = raw
	}
	switch {
	case a.Class != answer.File && name == "":
		b, _ := p.untitled(answer.Block{Items: a.Items})
		if v.Search && a.Class == answer.Menu { // each page has the form
			b.Items = slices.DeleteFunc(slices.Clone(b.Items), func(it menu.Item) bool {
				return it.Type == menu.TypeSearch && it.Selector == "/search"
			})
		}
		p.plain(w, q, b.Items, results)
	case a.Gemtext != "":
		text, _, err := q.Read(a.Gemtext, maxText)
		if err != nil {
			return nil, err
		}
		p.gemtext(w, readable([]byte(text)))
	case a.Class != answer.File:
		p.list(w, q, a, f)
	case a.HTML != "":
		p.Lang = "en"
		w.WriteString(a.HTML)
	case kind == "image", kind == "audio", kind == "video":
		w.block(kind, p)
	default:
		text, err := q.Text(a)
		if err != nil {
			return nil, err
		}
		p.text(w, a.TextName(), readable(text))
	}
	p.finish(w)
	return p, nil
}

// mediaType returns the media type for a browser. It is never HTML, even if a program sends that.
func mediaType(a *answer.Value) string {
	kind := a.MediaType()
	switch base, _, _ := strings.Cut(kind, ";"); base {
	case "text/html", "application/xhtml+xml":
		return plainText
	}
	return kind
}

// text renders gemtext, Markdown or plain text.
func (p *page) text(w *pageWriter, name, text string) {
	markup := answer.Markup(name)
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case strings.TrimSpace(text) == "":
		w.WriteString("<p>This text is empty.</p>\n")
	case markup == answer.Gemtext:
		p.gemtext(w, text)
	case markup == answer.Markdown && p.markdown(w, text):
	case answer.IsSource(name, first): // what is copied from the page must be the text
		w.prose(prose{Pieces: []piece{{Text: text}}, Wide: true})
	default:
		w.prose(inPieces(p.untitledText(text)))
	}
}

// Entry renders a text as HTML for the entry of a feed.
func Entry(q *answer.Asked, name, text string) string {
	p, w := &page{Title: q.Title(name, false), own: q.Own}, &pageWriter{}
	p.text(w, path.Base(name), readable([]byte(text)))
	return w.String()
}

// untitledText removes the title line at the beginning of a text, if the line equals the page's
// heading and an empty line follows. If the line only contains the title, it stays, and the page
// hides its heading.
func (p *page) untitledText(text string) string {
	for rest := text; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		if answer.TitleOf(line) == p.Title {
			next, _, _ := strings.Cut(after, "\n")
			below := strings.TrimLeft(after, "\n")
			hasURL := strings.Contains(line, "://") // which is no link in a heading
			if line == p.Title && next == "" && below != "" && !hasURL {
				return text[:len(text)-len(rest)] + below
			}
			p.Hidden = true
			if strings.Contains(line, p.Date) {
				p.Date = "" // the line shows it
			}
			return text
		}
		if !answer.IsRuler(line) {
			return text
		}
		rest = after
	}
	return text
}

// begin returns the page of an answer without content.
func (v *Pages) begin(q *answer.Asked, a *answer.Value) *page {
	q.View.DependOnTree()
	p := &page{
		Style:     looks[v.Theme],
		Lang:      v.Host.Lang,
		Search:    v.Search,
		Gopher:    answer.GopherURL(q.Request, a.Type, a.Selector),
		Canonical: answer.WebURL(q.Request, a.Selector),
		Site:      q.LinkTitle(".", true),
		Owner:     q.OwnersLine(".footer"),
		Favicon:   favicon(q),
		own:       q.Own,
	}
	name, dir := a.Name()
	if now := v.now(); now != nil && now.feed {
		p.SiteFeed = "/" + feed.Name
	}
	p.Noindex, _ = v.rules(a.Selector, name, dir)
	p.Title = cmp.Or(q.AnswerTitle(a), path.Base(a.Selector))
	if name == "" || q.Format.Query { // other pages are kept for all
		p.Query = q.Request.Query
	}
	if name != "" {
		p.around(q, name, dir)
	}
	if dir && answer.HasFeed(q.View, name) {
		p.Feed = selector.URIPath(a.Selector) + feed.Name
	}
	a.Title = p.Title
	return p
}
