package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gophd/gophd/server"
)

// page holds the content of a page. Everything in it but Main, which a pageWriter has made, and
// the URLs, which are checked where they are made, is text.
type page struct {
	*look
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
	Icon      string // the URL of the site's icon
	Noindex   bool
	Search    bool   // there is a search
	Query     string // what was searched for

	own func(*url.URL) bool // reports whether a URL of Gemini leads to the site

	Main    []string // markup, in parts
	Raw     string   // the URL of the file itself
	Pointer bool     // nothing but where it is in Gopher
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

// Themes are the looks that pages may have, the default first.
var Themes = []string{"plain", "paper", "terminal"}

// look is a theme: a style, and the policy that lets pages have it.
type look struct {
	Style template.CSS
	csp   string
}

// looks are the themes by name; "" is the default.
var looks = map[string]*look{"": newLook(""), "plain": newLook(""), "paper": newLook(paperStyle), "terminal": newLook(terminalStyle)}

// newLook lets pages have the one style that is in them, and pictures, sounds and forms of
// the same site: no script, nothing from elsewhere, no frames.
func newLook(theme string) *look {
	style := baseStyle + theme
	sum := sha256.Sum256([]byte(style))
	return &look{template.CSS(style), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
		"img-src 'self' data:; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"}
}

// rawCSP is for replies that are no page: they may load and run nothing, and have no
// origin.
const rawCSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// contentMark stands for Main in the template, which would copy it twice.
const contentMark = "\x00"

// Content is where Main belongs.
func (page) Content() template.HTML { return contentMark }

// render returns a page as HTML.
func (p page) render() []byte {
	if p.look == nil {
		p.look = looks[""]
	}
	var b bytes.Buffer
	if err := pages.Execute(&b, p); err != nil {
		return []byte("<!DOCTYPE html><title>Server error</title>")
	}
	size := b.Len()
	for _, part := range p.Main {
		size += len(part)
	}
	above, below, _ := bytes.Cut(b.Bytes(), []byte(contentMark))
	whole := append(make([]byte, 0, size), above...)
	for _, part := range p.Main {
		whole = append(whole, part...)
	}
	return append(whole, below...)
}

// write answers with a page that is no resource of its own.
func write(w http.ResponseWriter, status int, p page) {
	if p.look == nil {
		p.look = looks[""]
	}
	h := w.Header()
	h.Set("Content-Type", htmlText)
	h.Set("Content-Security-Policy", p.csp)
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(server.RetryAfter))
	}
	w.WriteHeader(status)
	_, _ = w.Write(p.render())
}
