package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// page is the data of the HTML template. All fields are text or checked URLs, except Main, which
// is from a pageWriter.
type page struct {
	Style     template.CSS
	Lang      string // of the content; "" if it is not known
	Title     string
	Hidden    bool   // the title: the content shows it
	Date      string // of a dated text
	Site      string // the site's name
	Owner     string // the line that the site's owner puts below each page
	Path      []crumb
	Up        *crumb
	Older     *crumb // the neighbors of a dated text
	Newer     *crumb
	Canonical string
	Gopher    string // the gopher URL
	Feed      string // of the directory
	SiteFeed  string
	Favicon   string // the URL of the site's icon
	Noindex   bool
	Search    bool   // there is a search
	Query     string // what was searched for

	own func(*url.URL) bool // reports whether a URL of Gemini leads to the site

	Main    template.HTML
	Icons   map[string]*icon
	Colors  template.CSS // the rules for those of its colors that the look does not have
	Raw     template.URL // of the file itself
	Start   bool         // it links the start page
	Leads   string       // to a URL on another site, and to nothing else
	Pointer bool         // the page only links the gopher URL
}

// crumb is a resource of the site that a page links.
type crumb struct{ Name, URL string }

//go:embed style.css
var baseStyle string

//go:embed theme-paper.css
var paperStyle string

//go:embed theme-terminal.css
var terminalStyle string

//go:embed page.html
var source string

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"link": func(s string) template.URL { return template.URL(s) },
}).Parse(source))

// looks are the styles of the themes by name; "" is the default.
var looks = map[string]template.CSS{
	"":         template.CSS(baseStyle),
	"plain":    template.CSS(baseStyle),
	"paper":    template.CSS(baseStyle + paperStyle),
	"terminal": template.CSS(baseStyle + terminalStyle),
}

// csp returns the Content-Security-Policy of a page: its own styles; images, media and forms of
// this site; no scripts or frames.
func (p *page) csp() string {
	styles := ""
	for _, style := range []template.CSS{p.Style, p.Colors} {
		if style != "" {
			sum := sha256.Sum256([]byte(style))
			styles += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		}
	}
	return "default-src 'none'; style-src" + styles +
		"; img-src 'self' data:; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// rawCSP is the Content-Security-Policy of files: they may load and run nothing, and have no
// origin.
const rawCSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// render returns a page as HTML.
func (p *page) render() []byte {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, "page", p); err != nil {
		return []byte("<!DOCTYPE html><title>Server error</title>")
	}
	return b.Bytes()
}

// write sends a page that is no resource of the site.
func write(w http.ResponseWriter, status int, p page) {
	p.Style = cmp.Or(p.Style, looks[""])
	h := w.Header()
	h.Set("Content-Type", htmlText)
	h.Set("Content-Security-Policy", p.csp())
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(server.RetryAfter))
	}
	w.WriteHeader(status)
	_, _ = w.Write(p.render())
}

// failed sends the page of an error, with the search form, a link to the start page and, if that
// page is cached, the site's name. It reads no files, so that wrong URLs are cheap.
func (v *Pages) failed(w http.ResponseWriter, r *http.Request, err error) {
	if selector.IsRobots(r.URL.Path) {
		w.(*recorder).broke = err // no error answers it: the connection is closed
		return
	}
	p := page{
		Style:  looks[v.Theme],
		Search: v.Search,
		Site:   opening(r).Host,
	}
	if server.KindOf(err) == server.NotFound {
		const most = 80
		at := []rune(answer.StripEscapes(readable([]byte(r.URL.Path))))
		if len(at) > most {
			at = append(at[:most], []rune("...")...)
		}
		p.Title = "There is nothing at " + string(at)
	}
	f := variant{gzip: takesGzip(r)}
	if root := v.Host.Kept(ask(r, "/", ""), v.format(f)); root != nil {
		p.Site = cmp.Or(root.Title, p.Site)
	}
	failed(w, err, p)
}

// fault sends the page of an error.
func fault(w http.ResponseWriter, status int, p page, err error) {
	w.(*recorder).err = err
	p.Lang, p.Start = "en", true
	noindex(w.Header())
	write(w, status, p)
}

// failed sends the page of an error. Its title is what a client may read of the error.
func failed(w http.ResponseWriter, err error, p page) {
	p.Title = cmp.Or(p.Title, server.ErrorMessage(err))
	fault(w, statusOf(err), p, err)
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int { return server.Served{Err: err}.HTTPStatus() }

func noindex(h http.Header) {
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Robots-Tag", "noindex")
}
