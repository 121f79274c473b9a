package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Pages shows a site in a browser: menus as lists, texts as they are, pictures,
// sounds and videos in a page, other files as downloads.
//
// The path of a resource is its canonical selector; /0/..., with the item type
// that a gopher URL has in front, leads there. A browser that asks for a page gets
// one; others (Accept without text/html, or ?raw) get the file itself.
type Pages struct {
	Host *answer.Host

	// Search reports whether /search answers: each page has a form for it.
	Search bool

	policy
	once      sync.Once
	page, raw *answer.Format
}

// maxText bounds a text that is shown in a page, in bytes. Longer ones are sent as
// files.
const maxText = 2 << 20

// maxWait is how long a page waits for the first policy, which its headers repeat.
const maxWait = 5 * time.Second

var errUnread = &server.Error{Kind: server.Busy, Err: errors.New("the tree has not been read yet")}

// ServeHTTP answers a request.
func (v *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.once.Do(func() {
		v.page = &answer.Format{Draw: v.draw, TLS: true, Strict: true, Seek: true, Draws: isShown}
		v.raw = &answer.Format{Draw: v.draw, TLS: true, Strict: true, Seek: true}
	})
	sel, query := r.URL.Path, r.URL.Query().Get("q")
	if raw, err := url.QueryUnescape(r.URL.RawQuery); err == nil && raw != "" && !r.URL.Query().Has("q") && v.Host.Programs(sel) {
		sel += "?" + raw
	}
	if badPath(sel) || selector.HasControl(query) || len(sel)+len(query) > selector.MaxRequest {
		fail(w, http.StatusBadRequest, "This is no path")
		return
	}
	if v.Host.ClosedPath(r.URL.Path, r.URL.EscapedPath()) {
		moved(w, r, r.URL.Path)
		return
	}
	if !answer.IsRobots(sel) && !v.Host.Site.Ready(r.Context(), maxWait) {
		failed(asRecorder(w), errUnread)
		return
	}
	form := v.page
	if r.URL.Query().Has("raw") || !wantsPage(r) {
		form = v.raw
	}
	a, err := v.Host.Ask(ask(r, sel, query), form)
	if rest, ok := typed(sel); ok && server.KindOf(err) == server.NotFound {
		if a, err := v.Host.Ask(ask(r, rest, query), form); err == nil {
			a.Close()
			moved(w, r, a.Selector)
			return
		}
	}
	if err != nil {
		v.tell(v.Host.Site, w.Header(), sel, "", false)
		failed(asRecorder(w), err)
		return
	}
	defer a.Close()
	v.answer(w, r, a)
}

// ask returns the request for a selector of a client that asks in HTTP.
func ask(r *http.Request, sel, query string) *server.Request {
	asked := opening(r).WithContext(wanted(r))
	asked.RequestLine = selector.RequestLine{Selector: sel, Query: query}
	return asked
}

// answer writes an answer down.
func (v *Pages) answer(w http.ResponseWriter, r *http.Request, a *answer.Value) {
	h := w.Header()
	name, dir := a.Name()
	switch {
	case a.Class == answer.Moved:
		moved(w, r, a.Selector)
		return
	case answer.IsRobots(a.Selector):
		content(w, r, plainText, a.Body, "")
		return
	case a.Class == answer.Leaving:
		http.Redirect(w, r, a.URL, http.StatusFound)
		return
	}
	v.tell(v.Host.Site, h, a.Selector, name, dir)
	h.Add("Vary", "Accept")
	kind := a.MediaType()
	switch {
	case a.Drawn:
		h.Set("Content-Security-Policy", pageCSP)
		content(w, r, htmlText, a.Body, a.Tag)
		return
	case !inline(kind):
		h.Set("Content-Disposition", "attachment")
	}
	if a.Resource == nil {
		content(w, r, kind, a.Body, a.Tag)
		return
	}
	h.Set("Content-Type", kind)
	info := a.Resource.Info
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		h.Set("ETag", fmt.Sprintf(`"%x-%x-%x"`, info.Size(), info.ModTime().UnixNano(), st.Ino))
	}
	http.ServeContent(w, r, "", info.ModTime(), a.Resource)
}

// typed takes an item type off the front of a path.
func typed(p string) (rest string, ok bool) {
	if len(p) < 2 || len(p) > 2 && p[2] != '/' || !menu.IsType(p[1]) {
		return "", false
	}
	if rest = p[2:]; rest == "" {
		rest = "/"
	}
	return rest, true
}

// moved sends the client to another path of the site, with its query.
func moved(w http.ResponseWriter, r *http.Request, to string) {
	u := url.URL{Opaque: selector.URIPath(to), RawQuery: r.URL.RawQuery}
	w.Header().Set("Location", u.RequestURI())
	w.WriteHeader(http.StatusMovedPermanently)
}

// wantsPage reports whether a client takes pages: a browser does.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// isShown reports whether a file is shown in a page.
func isShown(a *answer.Value) bool {
	switch kind, _, _ := strings.Cut(a.MediaType(), "/"); kind {
	case "text":
		return a.Size <= maxText && !answer.IsRobots(a.Selector)
	case "image", "audio", "video":
		name, _ := a.Name()
		return name != ""
	}
	return false
}

// draw returns the page of an answer.
func (v *Pages) draw(q *answer.Asked, a *answer.Value) ([]byte, error) {
	p := v.begin(q, a)
	raw := selector.URIPath(a.Selector) + "?raw"
	kind, _, _ := strings.Cut(a.MediaType(), "/")
	if name, _ := a.Name(); name != "" && a.Class == answer.File {
		p.Raw = raw
	}
	switch {
	case a.Class != answer.File:
		p.fill(q, a.Items)
	case a.HTML != "":
		p.Body = template.HTML(a.HTML)
	case kind == "image":
		p.Image = raw
	case kind == "audio":
		p.Audio = raw
	case kind == "video":
		p.Video = raw
	default:
		text, err := q.Text(a)
		if err != nil {
			return nil, err
		}
		pieces := inPieces(readable(text))
		p.Text = &pieces
	}
	body := p.render()
	a.Tag = tagOf(body)
	return body, nil
}

// begin begins the page of an answer. The page depends on the policy and is outdated
// when the policy changes.
func (v *Pages) begin(q *answer.Asked, a *answer.Value) page {
	q.View.DependOnPolicy()
	p := page{Search: v.Search, Query: q.Request.Query, Gopher: gopherURL(q.Request, a.Type, a.Selector), Canonical: webURL(q.Request, a.Selector)}
	name, dir := a.Name()
	p.Noindex, _ = v.says(v.Host.Site, a.Selector, name, dir)
	if name == "" {
		name = strings.Trim(a.Selector, "/")
		p.Title = path.Base(name)
	} else {
		p.Title = q.Title(name, dir)
	}
	if name == "." {
		return p
	}
	p.Path = []crumb{{q.Title(".", true), "/"}}
	for i := range name {
		if name[i] == '/' && len(p.Path) < maxCrumbs {
			p.Path = append(p.Path, crumb{q.Title(name[:i], true), selector.URIPath("/" + name[:i+1])})
		}
	}
	return p
}

// maxCrumbs is how many directories on the way to a resource a page links.
const maxCrumbs = 16

// policy sets the headers that repeat a site's robots.txt.
type policy struct {
	said atomic.Pointer[said]
}

// said is a parsed robots.txt.
type said struct {
	snap *site.Snapshot
	file *robots.File
}

// tell sets X-Robots-Tag and Content-Usage as robots.txt rules for a selector.
func (p *policy) tell(s *site.Site, h http.Header, sel, name string, dir bool) {
	noindex, usage := p.says(s, sel, name, dir)
	if noindex {
		h.Set("X-Robots-Tag", "noindex")
	}
	if usage != "" {
		h.Set("Content-Usage", usage)
	}
}

// says returns the robots.txt rules for a selector. A file or directory of the site has
// a name. A selector without a name may be indexed only if robots.txt allows it.
func (p *policy) says(s *site.Site, sel, name string, dir bool) (noindex bool, usage string) {
	snap := s.Now()
	now := p.said.Load()
	if now == nil || now.snap != snap {
		now = &said{snap, robots.Parse(robots.RFC9309, snap.Robots)}
		p.said.Store(now)
	}
	switch {
	case strings.EqualFold(snap.Compiled.Fields().Index, "deny"):
		noindex = true
	case name != "":
		noindex = snap.Compiled.DeniedToAll(name, dir)
	default:
		noindex = !now.file.Agent("*").Allowed(sel)
	}
	return noindex, now.file.Usage("*", sel).String()
}
