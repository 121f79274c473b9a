// Package sitemap lists what robots may fetch of a site (sitemaps.org), so that they need
// not walk it, and what has changed of it.
//
//	/sitemap.xml         the whole site; of more than 50,000 resources an index of the parts
//	/sitemap-1.xml       a part
//	/sitemap-recent.xml  the changes of the last 24 hours (recent.go)
//
// Each also ends with .txt: the URLs alone, one on each line. A part is streamed to a request
// from a walk, which has one directory in memory at a time; no list is kept.
package sitemap

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Selector answers with the sitemap.
const Selector = "/sitemap.xml"

// Bounds of a part: the standard's number of URLs, and bytes of their paths.
const (
	maxURLs  = 50_000
	maxPaths = 8 << 20
)

// Sitemaps is the answer.Source of a site's sitemaps.
type Sitemaps struct {
	Site *site.Site

	site.Touched // Run looks at them

	mu     sync.Mutex
	starts []position           // of the parts; nil: not known
	recent map[string]time.Time // the newest changes, by selector
	most   int                  // URLs in a part, if not maxURLs; for tests
}

var form = regexp.MustCompile(`^/?sitemap(?:-([1-9]\d{0,4}|recent))?\.(xml|txt)$`)

// Answers reports whether a selector may be a sitemap's.
func (*Sitemaps) Answers(sel string) bool { return form.MatchString(sel) }

// Answer makes a sitemap.
func (s *Sitemaps) Answer(q *answer.Asked) (*answer.Value, error) {
	m := form.FindStringSubmatch(q.Request.Selector)
	if m == nil {
		return nil, server.ErrDeclined
	}
	a := &answer.Value{Class: answer.File, Selector: "/" + strings.TrimPrefix(m[0], "/"), Type: menu.TypeText, Media: "application/xml"}
	if m[2] == "txt" {
		a.Media = ""
	}
	snap, err := s.Site.Snapshot(q.Context())
	if err != nil {
		return nil, fmt.Errorf("waiting for the first scan: %w", err)
	}
	w := &document{q: q, snap: snap, text: m[2] == "txt"}
	switch m[1] {
	case "recent":
		w.begin("urlset")
		s.news(snap, w.resource)
		w.end("urlset")
		a.Body = w.b
	case "":
		err = s.part(w, a, -1)
	default:
		n, _ := strconv.Atoi(m[1])
		err = s.part(w, a, n-1)
	}
	return a, cmp.Or(err, q.View.Err())
}

// part answers with a part of the sitemap; -1 is all of it, or an index of its parts. If a
// part has become too large, the site is parted again.
func (s *Sitemaps) part(w *document, a *answer.Value, n int) error {
	for {
		starts, err := s.parts(w)
		switch {
		case err != nil:
			return err
		case n < 0 && len(starts) > 1:
			a.Body = s.index(w, len(starts))
			return nil
		case n >= len(starts):
			return server.ErrDeclined
		}
		r := stream{site: s.Site, text: w.text, from: starts[max(n, 0)], left: s.mostURLs()}
		if next := max(n, 0) + 1; next < len(starts) {
			r.to = starts[next]
		}
		urls := 0
		err = w.walk(r.from, r.to, func(position, string, bool) bool { urls++; return urls <= r.left })
		if err != nil || urls <= r.left {
			a.Open = func(q *answer.Asked) io.Reader { own := r; own.q = q; return &own }
			return err
		}
		s.mu.Lock()
		s.starts = nil
		s.mu.Unlock()
	}
}

// index is the list of the parts.
func (s *Sitemaps) index(w *document, parts int) []byte {
	end, last := ".xml", time.Time{}
	if w.text {
		end = ".txt"
	}
	s.news(w.snap, func(_ string, _ bool, at time.Time) bool { last = at; return false })
	w.begin("sitemapindex")
	w.entry("sitemap", w.q.URL(menu.TypeText, "/sitemap-recent"+end), last)
	for n := range parts {
		w.entry("sitemap", w.q.URL(menu.TypeText, fmt.Sprintf("/sitemap-%d%s", n+1, end)), time.Time{})
	}
	w.end("sitemapindex")
	return w.b
}

// parts returns where the parts begin. They stay as they are until one has become too
// large, so that a robot which fetches one after another misses nothing.
func (s *Sitemaps) parts(w *document) ([]position, error) {
	s.mu.Lock()
	starts := s.starts
	s.mu.Unlock()
	if starts != nil {
		return starts, nil
	}
	urls, paths := 0, 0
	starts = []position{{}}
	err := w.walk(position{}, position{}, func(at position, name string, _ bool) bool {
		urls, paths = urls+1, paths+3*len(name)
		if urls > s.mostURLs() || paths > maxPaths {
			starts, urls, paths = append(starts, at), 1, 3*len(name)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.starts = starts
	s.mu.Unlock()
	return starts, nil
}

func (s *Sitemaps) mostURLs() int { return cmp.Or(s.most, maxURLs) }

// A position is a place in the order of a walk: a directory, with slashes that sort before
// all other bytes, then its files, then the directories in it.
type position struct{ dir, file string }

func (p position) before(o position) bool {
	return cmp.Or(strings.Compare(p.dir, o.dir), strings.Compare(p.file, o.file)) < 0
}

// walk calls f for what robots may fetch, in order, until it returns false: from a position
// up to another one; the zero position is the end.
func (w *document) walk(from, to position, f func(at position, name string, dir bool) bool) error {
	snap, view := w.snap, w.q.View
	ends := func(at position) bool { return to != position{} && !at.before(to) }
	for dir := range snap.Tree.All() {
		at := position{dir: strings.ReplaceAll(strings.TrimPrefix(dir, "."), "/", "\x00")}
		switch {
		case at.dir < from.dir:
			continue
		case ends(at):
			return nil
		case !at.before(from) && snap.Open(dir, true) && !f(at, dir, true):
			return nil
		}
		names, err := files(view, dir)
		if err != nil && (snap.Open(dir, true) || !view.Without()) {
			return err
		}
		for _, name := range names {
			at.file = name
			if name = selector.Join(dir, name); at.before(from) || !snap.Open(name, false) || snap.Real(name) != name {
				continue
			}
			if ends(at) || !f(at, name, false) {
				return nil
			}
		}
		view.Forget()
	}
	return nil
}

// A stream is a part that is made while it is sent: each piece by a walk from where the last
// one ended, so that a client that reads slowly holds a piece, and no place of the Limiter.
type stream struct {
	q        *answer.Asked
	site     *site.Site
	text     bool
	from, to position
	left     int // so many URLs at most
	begun    bool
	ended    bool
	rest     []byte // of the piece that is sent
}

// pieceSize is about the size of a piece, in bytes; tests change it.
var pieceSize = 192 << 10

func (r *stream) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.ended {
			return 0, io.EOF
		}
		made, err := r.q.Limited(r.piece)
		if err != nil {
			return 0, err
		}
		r.rest = made.Body
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// piece makes the next piece.
func (r *stream) piece(q *answer.Asked) (*answer.Value, error) {
	w := &document{q: q, snap: r.site.Now(), text: r.text}
	if !r.begun {
		w.begin("urlset")
	}
	more := false
	err := w.walk(r.from, r.to, func(at position, name string, dir bool) bool {
		if more = len(w.b) >= pieceSize; more {
			r.from = at
		}
		if more || r.left == 0 {
			return false
		}
		r.left--
		return w.resource(name, dir, time.Time{})
	})
	if r.begun, r.ended = true, !more; r.ended {
		w.end("urlset")
	}
	return &answer.Value{Class: answer.File, Body: w.b}, err
}

// A document is a sitemap while it is written.
type document struct {
	q    *answer.Asked
	snap *site.Snapshot
	text bool
	b    []byte
}

func (w *document) begin(element string) {
	if !w.text {
		w.b = fmt.Appendf(w.b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n", element)
	}
}

func (w *document) end(element string) {
	if !w.text {
		w.b = fmt.Appendf(w.b, "</%s>\n", element)
	}
}

// resource writes an entry, unless nothing can be fetched there any more. If changed is
// zero, the entry has the time of its file. It returns true.
func (w *document) resource(name string, dir bool, changed time.Time) bool {
	info, err := w.q.View.Stat(name)
	if err != nil || info.IsDir() != dir {
		return true
	}
	if typ, ok := w.typeOf(name, dir); ok {
		w.entry("url", w.q.URL(typ, selector.Canonical(name, dir)), cmp.Or(changed, info.ModTime()))
	}
	return true
}

// typeOf returns the item type of a resource, by its first bytes if its name does not tell,
// and whether it can be fetched: a menu that is a program needs a Runner.
func (w *document) typeOf(name string, dir bool) (typ byte, ok bool) {
	typ, known := menu.TypeOf(name)
	runs := w.q.Host.Runner != nil && w.q.Host.Runner.Runs(name)
	if dir || runs {
		return menu.TypeMenu, true
	}
	isMenu := menu.IsMenuFile(name)
	if known && !isMenu {
		return typ, true
	}
	f, err := w.q.View.Lookup(name)
	if err != nil {
		return typ, false
	}
	defer func() { _ = f.Close() }()
	if !isMenu {
		return answer.FileType(f), true
	}
	var head [menu.ProgramHead]byte
	n, _ := f.ReadAt(head[:], 0)
	return menu.TypeMenu, !menu.IsProgram(head[:n])
}

func (w *document) entry(element, url string, changed time.Time) {
	if w.text {
		w.b = append(append(w.b, url...), '\n')
		return
	}
	w.b = append(append(w.b, "<"+element+"><loc>"...), html.EscapeString(url)...)
	w.b = append(w.b, "</loc>"...)
	if !changed.IsZero() {
		w.b = changed.UTC().AppendFormat(append(w.b, "<lastmod>"...), time.RFC3339)
		w.b = append(w.b, "</lastmod>"...)
	}
	w.b = append(w.b, "</"+element+">\n"...)
}
