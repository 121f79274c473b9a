// Package fileserver answers Gopher requests from a site: it looks up what a
// selector stands for and replies with a file, with the menu of a directory, or
// with what is always there: robots.txt, caps.txt, URL: pages. Replies are kept
// in memory as long as the site knows that they hold.
//
//	tree, err := site.Open("content", site.Config{})
//	...
//	go tree.Run(ctx)
//	err = (&server.Server{Handler: &fileserver.Files{Site: tree}}).ListenAndServe(ctx, ":7070")
//
// A request goes one way:
//
//	robots.txt, URL: → what is kept → look up → text or menu → keep
package fileserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
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

	// Dates puts the date and the size behind each name of a listing.
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
	makings *makings
}

// maxMisses bounds what is remembered of selectors that name nothing, in bytes.
const maxMisses = 1 << 20

func (h *Files) open() {
	h.once.Do(func() {
		h.replies, h.misses, h.makings = newCache(h.Cache), newCache(min(h.Cache, maxMisses)), newMakings()
	})
}

// robotsSelectors are answered with the site's robots.txt, byte for byte alike.
var robotsSelectors = []string{"robots.txt", "/robots.txt", "0/robots.txt", "/0/robots.txt"}

// IsRobots reports whether a selector asks for robots.txt.
func IsRobots(selector string) bool { return slices.Contains(robotsSelectors, selector) }

// Quick answers with robots.txt, with what is kept, and with files that can be
// read without waiting.
func (h *Files) Quick(r *server.Request) (a server.Answer, ok bool) {
	if IsRobots(r.Selector) {
		snap := h.Site.Now()
		if snap == nil {
			return a, false
		}
		return server.Answer{Body: snap.Robots}, true
	}
	if a, ok = h.kept(r); ok {
		return a, true
	}
	return h.ready(r)
}

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

// ServeGopher answers a request.
func (h *Files) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	if IsRobots(r.Selector) {
		return h.robots(w, r)
	}
	if target, ok := urlTarget(r.Selector); ok {
		return redirect(w, target)
	}
	if a, ok := h.kept(r); ok {
		if a.Err != nil {
			return a.Err
		}
		_, err := w.Write(a.Body)
		return err
	}
	v := visit{Files: h, view: h.Site.View(r.Context()), w: w, r: r}
	return public(v.serve())
}

// robots answers with the file of the snapshot; the first is waited for.
func (h *Files) robots(w server.ResponseWriter, r *server.Request) error {
	snap, err := h.Site.Snapshot(r.Context())
	if err != nil {
		return fmt.Errorf("waiting for the first scan: %w", err)
	}
	_, err = w.Write(snap.Robots)
	return err
}

func urlTarget(sel string) (string, bool) {
	return strings.CutPrefix(strings.TrimPrefix(sel, "/"), "URL:")
}

func redirect(w server.ResponseWriter, target string) error {
	page, err := menu.RedirectPage(target)
	if err != nil {
		return &server.Error{Kind: server.NotFound, Err: err}
	}
	_, err = w.Write(page)
	return err
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
