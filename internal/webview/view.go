package webview

import (
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"

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
	Site *site.Site

	// Handler answers what is no file of the site, and makes the menus.
	Handler server.Handler

	// Search reports whether /search answers: each page has a form for it.
	Search bool

	// Drawn, if not nil, draws what Handler answers with a text. It returns false
	// where it has nothing to draw.
	Drawn func(*server.Request) (template.HTML, bool)

	voice
	drawings drawings
}

// voice says in headers what the robots.txt of a site says.
type voice struct{ said atomic.Pointer[said] }

// said is what a robots.txt says, parsed.
type said struct {
	snap *site.Snapshot
	file *robots.File
}

// Bounds of what is shown in a page, in bytes. Longer texts are sent as files.
const (
	maxText = 2 << 20
	maxMenu = 32 << 20
	maxMade = 4 << 20 // what a program or another handler makes
)

// ServeHTTP answers a request.
func (v *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := r.URL.Path
	switch {
	case badPath(p):
		fail(w, http.StatusBadRequest, "This is no path")
		return
	case p == "/robots.txt":
		robotsTxt(w, r, v.Handler)
		return
	}
	view := v.Site.View(connOf(r).req.Context())
	f, err := lookup(view, p)
	if err == nil {
		defer func() { _ = f.Close() }()
		v.resource(w, r, f)
		return
	}
	if rest, _, ok := typed(p); ok {
		if f, err := lookup(view, rest); err == nil {
			_ = f.Close()
			moved(w, r, selector.Canonical(f.Name, f.Info.IsDir()))
			return
		}
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		asRecorder(w).err = err
		fail(w, http.StatusServiceUnavailable, "Not now")
		return
	}
	v.made(w, r)
}

// lookup opens what a path names, as a client would have it.
func lookup(view *site.View, p string) (*site.Resource, error) {
	name, dir, err := selector.Path(p)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	f, err := view.Lookup(name)
	if err == nil && dir && !f.Info.IsDir() {
		_ = f.Close()
		return nil, fs.ErrNotExist
	}
	return f, err
}

// typed takes an item type off the front of a path.
func typed(p string) (rest string, typ byte, ok bool) {
	if len(p) < 2 || len(p) > 2 && p[2] != '/' || strings.IndexByte("0123456789+TgIihsdp;PcMe", p[1]) < 0 {
		return "", 0, false
	}
	if rest = p[2:]; rest == "" {
		rest = "/"
	}
	return rest, p[1], true
}

// moved sends the client to another path of the site, with its query.
func moved(w http.ResponseWriter, r *http.Request, to string) {
	u := url.URL{Path: to, RawQuery: r.URL.RawQuery}
	w.Header().Set("Location", u.EscapedPath()+query(u.RawQuery))
	w.WriteHeader(http.StatusMovedPermanently)
}

func query(raw string) string {
	if raw == "" {
		return ""
	}
	return "?" + raw
}

// resource answers with a file or directory of the site.
func (v *Pages) resource(w http.ResponseWriter, r *http.Request, f *site.Resource) {
	canonical := selector.Canonical(f.Name, f.Info.IsDir())
	if canonical != r.URL.Path {
		moved(w, r, canonical)
		return
	}
	v.policy(w.Header(), f.Name, f.Info.IsDir())
	w.Header().Add("Vary", "Accept")
	if f.Info.IsDir() || menu.IsMenuFile(path.Base(f.Name)) {
		v.menu(w, r, canonical)
		return
	}
	typ := fileType(f)
	if _, raw := r.URL.Query()["raw"]; raw || !wantsPage(r) || !v.paged(w, r, f, typ) {
		v.file(w, r, f, typ)
	}
}

// paged answers with the page of a file, and reports whether there is one.
func (v *Pages) paged(w http.ResponseWriter, r *http.Request, f *site.Resource, typ byte) bool {
	p := v.page(w, r, r.URL.Path, typ)
	mine := turn{of: &v.drawings, ctx: wanted(r)}
	defer mine.end()
	var text []byte
	p.Raw = (&url.URL{Path: r.URL.Path}).EscapedPath() + "?raw"
	switch kind, _, _ := strings.Cut(mediaType(f.Name, typ), "/"); {
	case kind == "text" && f.Info.Size() <= maxText:
		var err error
		if f.Info.Size() > largeReply {
			err = mine.take()
		}
		if err == nil {
			text, err = readAll(f)
		}
		if err != nil {
			failed(asRecorder(w), err)
			return true
		}
	case kind == "image":
		p.Image = p.Raw
	case kind == "audio":
		p.Audio = p.Raw
	case kind == "video":
		p.Video = p.Raw
	default:
		return false
	}
	drawn, err := v.drawings.draw(p, text, func(p *page) error {
		if text != nil {
			p.setText(text)
		}
		return nil
	})
	mine.end()
	show(w, r, drawn, err)
	return true
}

// file answers with the file itself.
func (v *Pages) file(w http.ResponseWriter, r *http.Request, f *site.Resource, typ byte) {
	h := w.Header()
	kind := mediaType(f.Name, typ)
	h.Set("Content-Type", kind)
	if !inline(kind) {
		h.Set("Content-Disposition", "attachment")
	}
	http.ServeContent(w, r, "", f.Info.ModTime(), f)
}

// menu answers with the menu of a directory.
func (v *Pages) menu(w http.ResponseWriter, r *http.Request, sel string) {
	req := connOf(r).req
	mine := turn{of: &v.drawings, ctx: wanted(r)}
	defer mine.end()
	reply := captureFor(req, maxMenu, &mine)
	if err := v.Handler.ServeGopher(reply, ask(req, sel, "")); err != nil {
		failed(asRecorder(w), err)
		return
	}
	drawn, err := v.drawings.draw(v.page(w, r, sel, menu.TypeMenu), reply.Bytes(), func(p *page) error {
		items, ok := reply.menu()
		if !ok {
			return errNoMenu
		}
		v.fill(p, req, items)
		return nil
	})
	mine.end()
	show(w, r, drawn, err)
}

var errNoMenu = &server.Error{Kind: server.Internal, Err: errors.New("the menu of a directory is not a menu")}

// made answers with what a handler makes: a search, the reply of a program, the
// status page. A query is that of a form, or belongs to the selector.
func (v *Pages) made(w http.ResponseWriter, r *http.Request) {
	req := connOf(r).req
	sel, asked := r.URL.Path, r.URL.Query().Get("q")
	if raw, err := url.QueryUnescape(r.URL.RawQuery); err == nil && raw != "" && !r.URL.Query().Has("q") {
		sel += "?" + raw
	}
	if selector.HasControl(asked) || selector.HasControl(sel) || len(sel)+len(asked) > selector.MaxRequest {
		fail(w, http.StatusBadRequest, "This is no query")
		return
	}
	v.say(w.Header(), v.Site, sel, false)
	if v.Drawn != nil && wantsPage(r) {
		if body, ok := v.Drawn(ask(req, sel, asked)); ok {
			p := v.page(w, r, sel, menu.TypeText)
			p.Body = body
			show(w, r, p.render(), nil)
			return
		}
	}
	reply := captureFor(req, maxMade, nil)
	err := v.Handler.ServeGopher(reply, ask(req, sel, asked))
	if rest, _, ok := typed(sel); err != nil && server.KindOf(err) == server.NotFound && ok {
		reply = captureFor(req, maxMade, nil)
		err = v.Handler.ServeGopher(reply, ask(req, rest, asked))
		sel = rest
	}
	if err != nil {
		failed(asRecorder(w), err)
		return
	}
	v.reply(w, r, reply, sel, asked)
}

// reply shows the reply of a handler: menus and texts in a page, other files as they
// are. Query is what was searched for.
func (v *Pages) reply(w http.ResponseWriter, r *http.Request, reply *capture, sel, query string) {
	mine := turn{of: &v.drawings, ctx: wanted(r)}
	defer mine.end()
	if reply.Len() > largeReply {
		err := mine.take()
		if err == nil {
			err = v.drawings.room()
		}
		if err != nil {
			failed(asRecorder(w), err)
			return
		}
	}
	items, isMenu := reply.menu()
	base := path.Base(r.URL.Path)
	typ, known := menu.TypeOf(base)
	if !known {
		typ = menu.Sniff(reply.Bytes()[:min(reply.Len(), 512)])
	}
	if isMenu {
		typ = menu.TypeMenu
	}
	p := v.page(w, r, sel, typ)
	p.Query = query
	kind := mediaType(base, typ)
	switch {
	case isMenu:
		v.fill(&p, connOf(r).req, items)
	case strings.HasPrefix(kind, "text/plain") && wantsPage(r):
		p.setText(reply.Bytes())
	default:
		v.drawings.hold(reply.Bytes())
		mine.end()
		w.Header().Set("Content-Type", kind)
		if !inline(kind) {
			w.Header().Set("Content-Disposition", "attachment")
		}
		content(w, r, reply.Bytes())
		return
	}
	drawn := p.render()
	v.drawings.hold(drawn)
	mine.end()
	show(w, r, drawn, nil)
}

// wantsPage reports whether a client takes pages: a browser does.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// setText shows a text.
func (p *page) setText(text []byte) {
	pieces := inPieces(readable(text))
	p.Text = &pieces
}

// page begins the page of a resource.
func (v *Pages) page(w http.ResponseWriter, r *http.Request, sel string, typ byte) page {
	req := connOf(r).req
	p := page{Title: path.Base(sel), Gopher: gopherURL(req, typ, sel), Canonical: webURL(req, r.URL.Path), Search: v.Search}
	p.Noindex = w.Header().Get("X-Robots-Tag") != ""
	if sel == "/" {
		p.Title = req.Host
		return p
	}
	p.Path = []crumb{{req.Host, "/"}}
	elems := strings.Split(strings.Trim(sel, "/"), "/")
	for i, e := range elems[:len(elems)-1] {
		p.Path = append(p.Path, crumb{e, (&url.URL{Path: "/" + strings.Join(elems[:i+1], "/") + "/"}).EscapedPath()})
	}
	return p
}

// policy says in the header what robots.txt says of a resource.
func (v *Pages) policy(h http.Header, name string, dir bool) {
	snap := v.Site.Now()
	if snap == nil || snap.Compiled.DeniedToAll(name, dir) {
		h.Set("X-Robots-Tag", "noindex")
	}
	v.say(h, v.Site, selector.Canonical(name, dir), true)
}

// say says in the header what robots.txt says of a path, and of the site. What is
// no file is not indexed unless the policy speaks of it.
func (v *voice) say(h http.Header, from *site.Site, sel string, file bool) {
	if from == nil {
		return
	}
	snap := from.Now()
	if snap == nil {
		return
	}
	s := v.said.Load()
	if s == nil || s.snap != snap {
		s = &said{snap, robots.Parse(robots.RFC9309, snap.Robots)}
		v.said.Store(s)
	}
	if strings.EqualFold(snap.Compiled.Fields().Index, "deny") || !file && !s.file.Agent("*").Allowed(sel) {
		h.Set("X-Robots-Tag", "noindex")
	}
	if usage := s.file.Usage("*", sel); len(usage) > 0 {
		h.Set("Content-Usage", usage.String())
	}
}
