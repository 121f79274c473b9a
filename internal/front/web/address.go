package web

import (
	"net/http"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// AddressPage answers /robots.txt with the site's, and every other request with a page
// that names its gopher URL.
type AddressPage struct {
	Host *answer.Host

	policy
}

// plain is the format of robots.txt, the only content that AddressPage serves.
var plain = &answer.Format{}

// ServeHTTP answers a request.
func (p *AddressPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sel := r.URL.Path
	switch {
	case badPath(sel):
		fail(w, http.StatusBadRequest, "This is no path")
		return
	case answer.IsRobots(sel):
		a, err := p.Host.Ask(ask(r, sel, ""), plain)
		if err != nil {
			asRecorder(w).broke = err // no error answers it: the connection is closed
			return
		}
		p.robots(w, r, p.Host.Site, a.Body)
		return
	}
	if !p.Host.Site.Ready(r.Context(), maxWait) {
		failed(asRecorder(w), errUnread)
		return
	}
	typ := p.Host.ItemType(ask(r, sel, ""))
	if typ == 0 {
		typ = guessType(sel)
	}
	p.setHeaders(p.Host.Site, w.Header(), sel, "", false)
	write(w, http.StatusOK, page{Title: "This is a Gopher server", Gopher: answer.GopherURL(opening(r), typ, sel), Pointer: true})
}

// badPath reports whether a path is no valid selector.
func badPath(path string) bool { return !strings.HasPrefix(path, "/") || selector.HasControl(path) }

// asRecorder is the writer that every request has.
func asRecorder(w http.ResponseWriter) *recorder { return w.(*recorder) }

// guessType returns the item type by the name; without a suffix it is a menu.
func guessType(sel string) byte {
	if strings.HasSuffix(sel, "/") || !strings.Contains(sel[strings.LastIndexByte(sel, '/')+1:], ".") {
		return menu.TypeMenu
	}
	t, _ := menu.TypeOf(sel)
	return t
}
