package webview

import (
	"net/http"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// AddressPage answers every request with a page that names the gopher URL of what was
// asked for, and /robots.txt with that of Handler.
type AddressPage struct {
	Handler server.Handler

	// Type returns the item type of what a request asks for, or 0 if it does not
	// know. If nil, the type is guessed by the selector's name.
	Type func(*server.Request) byte

	// Site, if not nil, is the site whose policy the header tells: the page stands
	// for what was asked for.
	Site *site.Site

	voice
}

// ServeHTTP answers a request.
func (p *AddressPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := connOf(r).req
	switch {
	case badPath(r.URL.Path):
		fail(w, http.StatusBadRequest, "This is no path")
		return
	case r.URL.Path == "/robots.txt":
		robotsTxt(w, r, p.Handler)
		return
	}
	p.say(w.Header(), p.Site, r.URL.Path, true)
	u := gopherURL(req, p.itemType(req, r.URL.Path), r.URL.Path)
	write(w, http.StatusOK, page{Title: "This is a Gopher server", Gopher: u, Pointer: true})
}

// gopherURL is the Gopher URL of a resource.
func gopherURL(req *server.Request, typ byte, sel string) string {
	if sel == "/" {
		sel = ""
	}
	return selector.URL{Host: req.Host, Port: req.Port, Type: typ, Selector: sel, TLS: req.TLS}.String()
}

// badPath reports whether a path can be no selector.
func badPath(path string) bool { return !strings.HasPrefix(path, "/") || selector.HasControl(path) }

// robotsTxt answers with what the handler has as robots.txt: to RFC 9309 it says
// the same as to Gopher robots.
func robotsTxt(w http.ResponseWriter, r *http.Request, h server.Handler) {
	req := connOf(r).req
	reply := captureFor(req, 8<<20, nil)
	if err := h.ServeGopher(reply, ask(req, "/robots.txt", "")); err != nil {
		failed(asRecorder(w), err)
		return
	}
	w.Header().Set("Content-Type", plainText)
	content(w, r, reply.Bytes())
}

// asRecorder is the writer that every request has.
func asRecorder(w http.ResponseWriter) *recorder { return w.(*recorder) }

func (p *AddressPage) itemType(r *server.Request, sel string) byte {
	if p.Type != nil {
		if typ := p.Type(ask(r, sel, "")); typ != 0 {
			return typ
		}
	}
	return guessType(sel)
}

// guessType looks at the name alone; one without an extension is a menu.
func guessType(sel string) byte {
	if strings.HasSuffix(sel, "/") || !strings.Contains(sel[strings.LastIndexByte(sel, '/')+1:], ".") {
		return menu.TypeMenu
	}
	t, _ := menu.TypeOf(sel)
	return t
}
