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
	typ := v.Host.ItemType(wanted(r), sel)
	if typ == 0 { // no file: by the suffix, or a menu
		typ = menu.TypeMenu
		if named, known := menu.TypeOf(sel); known {
			typ = named
		}
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
