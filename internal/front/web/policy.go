package web

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/yuin/goldmark/util"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/site"
)

// policy sets the headers that repeat a site's robots.txt.
type policy struct {
	said atomic.Pointer[said]
}

// said is a parsed robots.txt.
type said struct {
	snap    *site.Snapshot
	file    *robots.File
	license string // the value of the header Link; "" if there is none
	gzip    []byte // the file, compressed
	feed    bool   // the site has one
}

// tell sets X-Robots-Tag, Robots-Tag (draft-illyes-repext), Content-Usage and the license
// as robots.txt rules for a selector.
func (p *policy) tell(s *site.Site, h http.Header, sel, name string, dir bool) {
	denied, usage := p.says(s, sel, name, dir)
	if denied {
		noindex(h)
	}
	if usage != "" {
		h.Set("Content-Usage", usage)
	}
	if now := p.said.Load(); now != nil && now.license != "" {
		h.Set("Link", now.license)
	}
}

// robots answers with robots.txt.
func (p *policy) robots(w http.ResponseWriter, r *http.Request, s *site.Site, body []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if now := p.now(s); takesGzip(r) && now != nil && len(now.gzip) > 0 && string(now.snap.Robots) == string(body) {
		body = now.gzip
	}
	describe(w.Header(), plainText, body)
	content(w, r, body)
}

// now returns the site's robots.txt, nil before the first scan.
func (p *policy) now(s *site.Site) *said {
	snap := s.Now()
	if snap == nil {
		return nil
	}
	now := p.said.Load()
	if now == nil || now.snap != snap {
		now = &said{snap: snap, file: robots.Parse(robots.RFC9309, snap.Robots), gzip: compressed(snap.Robots), feed: snap.Tree.HasPhlog()}
		if to := snap.Compiled.Fields().License; to != "" {
			now.license = "<" + string(util.URLEscape([]byte(to), false)) + `>; rel="license"`
		}
		p.said.Store(now)
	}
	return now
}

// says returns the robots.txt rules for a selector. A file or directory of the site has
// a name. A selector without a name may be indexed only if robots.txt allows it.
func (p *policy) says(s *site.Site, sel, name string, dir bool) (noindex bool, usage string) {
	now := p.now(s)
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
