package web

import (
	"net/http"
	"strings"

	"github.com/yuin/goldmark/util"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/site"
)

// parsedRobots is a parsed robots.txt.
type parsedRobots struct {
	snap    *site.Snapshot
	file    *robots.File
	license string // value of the header Link, or ""
	gzip    []byte // the compressed file
	feed    bool   // the site has a feed
}

// setHeaders sets X-Robots-Tag, Robots-Tag (draft-illyes-repext), Content-Usage and the link to
// the license as robots.txt requires for a selector.
func (v *Pages) setHeaders(h http.Header, sel, name string, dir bool) {
	denied, usage := v.rules(sel, name, dir)
	if denied {
		noindex(h)
	}
	if usage != "" {
		h.Set("Content-Usage", usage)
	}
	if now := v.parsed.Load(); now != nil && now.license != "" {
		h.Set("Link", now.license)
	}
}

// robots serves robots.txt.
func (v *Pages) robots(w http.ResponseWriter, r *http.Request, body []byte) {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", plainText)
	if now := v.now(); takesGzip(r) && now != nil && len(now.gzip) > 0 &&
		string(now.snap.Robots) == string(body) {
		body = now.gzip
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", etag(body))
	content(w, r, body)
}

// now returns the current robots.txt, or nil before the first scan.
func (v *Pages) now() *parsedRobots {
	snap := v.Host.Site.Now()
	if snap == nil {
		return nil
	}
	now := v.parsed.Load()
	if now == nil || now.snap != snap {
		now = &parsedRobots{
			snap: snap,
			file: robots.Parse(robots.RFC9309, snap.Robots),
			gzip: compressed(snap.Robots),
			feed: len(snap.Tree.Phlogs(".", true)) > 0,
		}
		if to := snap.Compiled.Fields().License; to != "" {
			now.license = "<" + string(util.URLEscape([]byte(to), false)) + `>; rel="license"`
		}
		v.parsed.Store(now)
	}
	return now
}

// rules returns the values of X-Robots-Tag and Content-Usage for a selector. name is the file or
// directory that it names, or "".
func (v *Pages) rules(sel, name string, dir bool) (noindex bool, usage string) {
	now := v.now()
	if now == nil {
		return true, ""
	}
	compiled := now.snap.Compiled
	switch {
	case strings.EqualFold(compiled.Fields().Index, "deny"):
		noindex = true
	case name != "":
		noindex = compiled.DeniedToAll(name, dir)
	default:
		noindex = !now.file.Agent("*").Allowed(sel)
	}
	return noindex, now.file.Usage("*", sel).String()
}
