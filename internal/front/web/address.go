package web

import (
	"net/http"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// address sends the page that names the gopher URL of a path.
func (v *Pages) address(w http.ResponseWriter, r *http.Request, sel string) {
	typ := v.Host.ItemType(ask(r, sel, ""))
	if typ == 0 {
		typ = guessType(sel)
	}
	v.setHeaders(w.Header(), sel, "", false)
	write(w, http.StatusOK, page{
		Title:   "This is a Gopher server",
		Gopher:  answer.GopherURL(opening(r), typ, sel),
		Pointer: true,
	})
}

// badPath reports whether a path is no valid selector.
func badPath(path string) bool {
	return !strings.HasPrefix(path, "/") || selector.HasControl(path)
}

// asRecorder is the writer that every request has.
func asRecorder(w http.ResponseWriter) *recorder { return w.(*recorder) }

// guessType returns the item type by the name; without a suffix it is a menu.
func guessType(sel string) byte {
	if strings.HasSuffix(sel, "/") ||
		!strings.Contains(sel[strings.LastIndexByte(sel, '/')+1:], ".") {
		return menu.TypeMenu
	}
	t, _ := menu.TypeOf(sel)
	return t
}
