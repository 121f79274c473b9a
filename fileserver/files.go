package fileserver

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Files is the server.Handler of a site. Its fields must not be changed once it
// was asked.
type Files struct {
	Site *site.Site

	// StrictText sends texts as RFC 1436 section 3.7 has them: lines end in
	// CRLF, leading dots are doubled, a line with a dot ends them. Otherwise
	// they go out as they are, which is what clients in use expect.
	StrictText bool

	// InfoPrefix reads gophermaps as Motsognir does, whose information lines
	// begin with an i. If false, that is found out for each map.
	InfoPrefix bool

	// Dates puts the date and the size after each name of a listing.
	Dates bool

	// Charset is that of the texts, which are sent as UTF-8. The zero value finds
	// it out for each: of a text of 96 KiB or more by its first 4 KiB.
	Charset menu.Charset

	// Hosts and Answers are those of menu.Builder. The users are those of the site.
	Hosts   func() []menu.Item
	Answers func(sel string) bool

	// Cache is how many bytes of replies are kept in memory. If zero, none.
	Cache int64

	// Version is told in caps.txt.
	Version string

	// Missing, if not nil, answers selectors that name nothing in the site. If it
	// returns server.ErrDeclined, the selector is not found; whether it does must
	// depend on the site alone.
	Missing server.Handler

	once    sync.Once
	replies *replyCache
	misses  *replyCache // what is not there; apart, so that a flood of it evicts nothing useful
	opened  *openFiles
	makings *makings
}

func (h *Files) open() {
	h.once.Do(func() {
		if h.Cache > 0 {
			h.opened = &openFiles{files: map[string]*openFile{}}
		}
		h.replies, h.misses, h.makings = newCache(h.Cache), newCache(min(h.Cache, maxMisses)), newMakings()
	})
}

// maxMisses bounds what is remembered of selectors that name nothing, in bytes.
const maxMisses = 1 << 20

// kept returns the reply to a request that was made for another one.
func (h *Files) kept(r *server.Request) (a server.Answer, ok bool) {
	h.open()
	if wantsInfo(r) {
		return h.replies.get(infoSelector, r.Host, r.Port)
	}
	if a, ok = h.replies.get(r.Selector, r.Host, r.Port); !ok {
		a, ok = h.misses.get(r.Selector, "", 0)
	}
	return a, ok
}

// infoSelector stands in the cache for the root's menu as a Gopher+ client wants
// it, the one reply that does not depend on the selector alone.
const infoSelector = "\t$"

// wantsInfo reports whether a Gopher+ client asks for that: TAB $ at the root.
func wantsInfo(r *server.Request) bool {
	return r.Plus == "$" && (r.Selector == "" || r.Selector == "/")
}

// visit is one request that was not answered from memory.
type visit struct {
	*Files
	view *site.View
	w    server.ResponseWriter
	r    *server.Request
}

// closed reports whether this spelling of something denied cannot be named in
// robots.txt, or not be told from an allowed one, so that it must not show it.
func (h *Files) closed(sel string) bool {
	snap := h.Site.Now()
	if snap == nil {
		return false
	}
	_, closed := snap.Compiled.Closed(sel)
	return closed
}

// keep keeps a reply for requests with the same selector, whatever their query.
// One that names the server says so.
func (v *visit) keep(body []byte, dir, named bool) {
	if judged(v.r.Selector, dir) {
		v.view.DependOnPolicy()
	}
	k := replyKey{selector: v.r.Selector}
	if wantsInfo(v.r) {
		k.selector = infoSelector
	}
	if named {
		k.host, k.port = v.r.Host, v.r.Port
	}
	v.replies.put(k, server.Answer{Body: body}, v.view.Stamp())
}

// judged reports whether the policy has a say in what a spelling is answered with:
// one with escapes, one without a slash before it, or that of a directory without
// the one after it.
func judged(sel string, dir bool) bool {
	return selector.IsEscaped(sel) || !strings.HasPrefix(sel, "/") || dir && !strings.HasSuffix(sel, "/")
}

// keepMissing keeps the reply to a selector that names nothing.
func (v *visit) keepMissing(err error) {
	name, _, pathErr := selector.Path(v.r.Selector)
	if pathErr != nil || !errors.Is(err, fs.ErrNotExist) || selector.IsEscaped(v.r.Selector) {
		return
	}
	err = public(err)
	v.misses.put(replyKey{selector: v.r.Selector}, server.Answer{Body: server.ErrorBody(err), Err: err}, v.view.MissingStamp(name))
}

// public returns err with a kind that a stranger may learn of: a resource that is
// there but may not be read is not found.
func public(err error) error {
	var e *server.Error
	switch {
	case err == nil, errors.As(err, &e):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &server.Error{Kind: server.Gone, Err: err}
	case errors.Is(err, stall.Err):
		return &server.Error{Kind: server.Busy, Err: err}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrInvalid):
		return &server.Error{Kind: server.NotFound, Err: err}
	}
	return err
}

// fileType returns the item type of a file or directory; it looks into a file
// whose name does not tell.
func fileType(f *site.Resource) byte {
	if f.Info.IsDir() {
		return menu.TypeMenu
	}
	if typ, known := menu.TypeOf(f.Name); known {
		return typ
	}
	var head [512]byte
	n, _ := f.ReadAt(head[:], 0)
	return menu.Sniff(head[:n])
}
