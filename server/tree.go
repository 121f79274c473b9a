package server

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// Tree is the Handler that serves a content tree: its files, the menus of its
// directories, its robots.txt, caps.txt and URL: pages.
type Tree struct {
	Site *site.Site

	// StrictText sends texts as RFC 1436 section 3.7 has them: lines end in
	// CRLF, leading dots are doubled, a line with a dot ends them. Otherwise
	// they go out as they are, which is what clients in use expect.
	StrictText bool

	// Version is told in caps.txt.
	Version string
}

// FileServer returns a Handler that serves s.
func FileServer(s *site.Site) *Tree { return &Tree{Site: s} }

// Quick answers robots.txt, what the site has kept, and what it can read
// without waiting.
func (t *Tree) Quick(line []byte, host string, port int) *Answer {
	if a := t.Site.Now().Answer(line); a != nil {
		return a
	}
	if a := t.Site.Cached(line, host, port); a != nil {
		return a
	}
	return t.instant(line)
}

// instant answers with a file that the kernel has in memory, or with one that
// is to be sent by sendfile(2).
func (t *Tree) instant(line []byte) *Answer {
	if t.StrictText || bytes.ContainsAny(line, "\t%") {
		return nil
	}
	sel := string(line)
	name, dir, err := selector.Path(sel)
	if err != nil || dir || t.closed(sel) {
		return nil
	}
	look := t.Site.Look()
	a := look.Instant(name, smallFile)
	if a == nil {
		return nil
	}
	a.Selector = sel
	if a.File == nil {
		look.Keep(sel, a.Body, "", 0, sel[0] != '/')
	}
	return a
}

// ServeGopher answers a request.
func (t *Tree) ServeGopher(w ResponseWriter, r *Request) error {
	if site.IsRobots(r.Selector) {
		return t.robots(w, r)
	}
	if target, ok := urlTarget(r.Selector); ok {
		return redirect(w, target)
	}
	v := visit{Tree: t, look: t.Site.Look(), w: w, r: r}
	return v.serve()
}

// robots answers with the file of the snapshot; the first is waited for.
func (t *Tree) robots(w ResponseWriter, r *Request) error {
	snap, err := t.Site.Snapshot(r.Context())
	if err != nil {
		return fmt.Errorf("waiting for the first scan: %w", err)
	}
	_, err = w.Write(snap.Robots)
	return err
}

// caps answers with the generated caps.txt. What it tells of the annotation in
// the root stands there from the first scan on.
func (t *Tree) caps(w ResponseWriter) error {
	_, err := w.Write(menu.Caps(t.Version, t.Site.Now().Caps()))
	return err
}

func urlTarget(sel string) (string, bool) {
	return strings.CutPrefix(strings.TrimPrefix(sel, "/"), "URL:")
}

func redirect(w ResponseWriter, target string) error {
	page, err := menu.RedirectPage(target)
	if err != nil {
		return &Error{Message: ErrNotFound.Message, Err: err}
	}
	_, err = w.Write(page)
	return err
}
