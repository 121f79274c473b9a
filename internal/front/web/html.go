package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
)

// page holds the content of a page. Everything in it but the URLs, which are checked
// where they are made, is text.
type page struct {
	Title     string
	Path      []crumb // the way from the root
	Canonical string
	Gopher    string // the gopher URL
	Feed      string
	Noindex   bool
	Search    bool   // there is a search
	Query     string // what was searched for

	Blocks  []block       // of a menu
	Text    *prose        // of a text
	Body    template.HTML // markup of the source
	Image   string        // the URL of one
	Audio   string
	Video   string
	Raw     string // the URL of the file itself
	Fault   string
	Pointer bool // nothing but where it is in Gopher
}

// crumb is a directory on the way.
type crumb struct{ Name, URL string }

// block is a part of a menu: lines of information, or items.
type block struct {
	Info  prose
	Items []item
	Drawn []item // lines that keep their columns, links and others
}

// item is a line of a menu that leads somewhere.
type item struct {
	Indent string // blanks before the label, where it is drawn
	Label  string
	Kind   string       // what it is, for people
	URL    template.URL // "" if there is nothing to link
	Form   bool         // a search
	Away   bool         // it is on another server
}

//go:embed style.css
var style string

//go:embed page.html
var source string

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
	"link":  func(s string) template.URL { return template.URL(s) },
}).Parse(source))

// pageCSP lets pages have the one style that is in them, and pictures, sounds and
// forms of the same site: no script, nothing from elsewhere, no frames.
var pageCSP = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
		"img-src 'self'; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// rawCSP is for replies that are no page: they may load and run nothing, and has no
// origin.
const rawCSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// render returns a page as HTML.
func (p page) render() []byte {
	var b bytes.Buffer
	if err := pages.Execute(&b, p); err != nil {
		return []byte("<!DOCTYPE html><title>Server error</title>")
	}
	return b.Bytes()
}

// write answers with a page that is no resource of its own.
func write(w http.ResponseWriter, status int, p page) {
	h := w.Header()
	h.Set("Content-Type", htmlText)
	h.Set("Content-Security-Policy", pageCSP)
	w.WriteHeader(status)
	_, _ = w.Write(p.render())
}

// safe is a URL that was made by this package, or found to be of a harmless scheme.
func safe(u string) template.URL { return template.URL(u) }
