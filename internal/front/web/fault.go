package web

import (
	"net/http"
	"unicode/utf8"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/server"
)

// statusOf returns the status of an answer to a request that failed.
func statusOf(err error) int {
	switch server.KindOf(err) {
	case server.NotFound:
		return http.StatusNotFound
	case server.BadRequest:
		return http.StatusBadRequest
	case server.Forbidden:
		return http.StatusForbidden
	case server.TooMany:
		return http.StatusTooManyRequests
	case server.Busy:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// failed answers with a page of the site that describes an error of a handler: it has the
// site's search, a way to its start page, and its name if that page is in memory. It makes
// nothing: wrong URLs must cost no more than right ones.
func (v *Pages) failed(w http.ResponseWriter, r *http.Request, err error) {
	if answer.IsRobots(r.URL.Path) {
		asRecorder(w).broke = err // no error answers it: the connection is closed
		return
	}
	p := page{look: v.look(), Lang: "en", Search: v.Search, Title: faultTitle(r, err), Site: opening(r).Host}
	for _, gzip := range []bool{false, true} {
		if root := v.Host.Kept(ask(r, "/", ""), v.format(variant{gzip: gzip})); root != nil && root.Title != "" {
			p.Site = root.Title
		}
	}
	p.Main = startPage
	if v.Search {
		p.Main = []string{`<p><a href="/">Start page</a>, or <a href="/search">search</a></p>`}
	}
	fault(w, p, err)
}

// faultTitle says what is wrong.
func faultTitle(r *http.Request, err error) string {
	switch server.KindOf(err) {
	case server.NotFound:
		const most = 80
		at := answer.StripEscapes(readable([]byte(r.URL.Path)))
		if utf8.RuneCountInString(at) > most {
			at = string([]rune(at)[:most]) + "..."
		}
		return "There is nothing at " + at
	case server.Busy:
		return "The server is busy: please try again in a moment"
	case server.TooMany:
		return "Too many requests: please wait a moment"
	case server.Internal:
		return "The server made a mistake: its log says which"
	}
	return server.ErrorMessage(err)
}

func fault(w http.ResponseWriter, p page, err error) {
	status := statusOf(err)
	asRecorder(w).err = err
	noindex(w.Header())
	write(w, status, p)
}

// failed answers with the page of an error of a handler.
func failed(w *recorder, err error) {
	fault(w, page{Lang: "en", Title: server.ErrorMessage(err), Main: startPage}, err)
}

// fail answers with a page that describes the error.
func fail(w http.ResponseWriter, status int, message string) {
	noindex(w.Header())
	write(w, status, page{Lang: "en", Title: message, Main: startPage})
}

var startPage = []string{`<p><a href="/">Start page</a></p>`}

func noindex(h http.Header) {
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Robots-Tag", "noindex")
}
