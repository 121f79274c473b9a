// Package sitemap lists what robots may fetch of a site (sitemaps.org), so that they need
// not walk it, and what has changed of it.
//
//	/sitemap.xml         the whole site; of more than 50,000 resources an index of the parts
//	/sitemap-1.xml       a part
//	/sitemap-recent.xml  the changes of the last 24 hours (recent.go)
//
// Each also ends with .txt: the URLs alone, one on each line. A part is made for a request
// by a walk, which has one directory in memory at a time; no list is kept.
package sitemap

import (
	"cmp"
	"fmt"
	"html"
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
	switch w := (&document{q: q, snap: snap, text: m[2] == "txt"}); m[1] {
	case "recent":
		w.begin("urlset")
		s.news(snap, w.resource)
		a.Body = w.end("urlset")
	case "":
		a.Body, err = s.whole(w)
	default:
		n, _ := strconv.Atoi(m[1])
		a.Body, err = s.part(w, n-1)
	}
	return a, cmp.Or(err, q.View.Err())
}

// whole is the only part, or an index of the parts.
func (s *Sitemaps) whole(w *document) ([]byte, error) {
	starts, err := s.parts(w)
	if err != nil || len(starts) == 1 {
		return s.part(w, 0)
	}
	end, last := ".xml", time.Time{}
	if w.text {
		end = ".txt"
	}
	s.news(w.snap, func(_ string, _ bool, at time.Time) bool { last = at; return false })
	w.begin("sitemapindex")
	w.entry("sitemap", w.q.URL(menu.TypeText, "/sitemap-recent"+end), last)
	for n := range starts {
		w.entry("sitemap", w.q.URL(menu.TypeText, fmt.Sprintf("/sitemap-%d%s", n+1, end)), time.Time{})
	}
	return w.end("sitemapindex"), nil
}

// part is a part of the sitemap. If it has become too large, the site is parted again.
func (s *Sitemaps) part(w *document, n int) ([]byte, error) {
	for {
		starts, err := s.parts(w)
		if err != nil || n >= len(starts) {
			return nil, cmp.Or(err, error(server.ErrDeclined))
		}
		var to position
		if n+1 < len(starts) {
			to = starts[n+1]
		}
		urls := 0
		w.begin("urlset")
		err = w.walk(starts[n], to, func(_ position, name string, dir bool) bool {
			urls++
			return urls <= s.mostURLs() && w.resource(name, dir, time.Time{})
		})
		if err != nil || urls <= s.mostURLs() {
			return w.end("urlset"), err
		}
		s.mu.Lock()
		s.starts = nil
		s.mu.Unlock()
	}
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
		case !at.before(from) && !snap.Compiled.DeniedToAll(dir, true) && !f(at, dir, true):
			return nil
		}
		names, err := files(view, dir)
		if err != nil && !(snap.Compiled.DeniedToAll(dir, true) && view.Without()) {
			return err
		}
		for _, name := range names {
			at.file = name
			if name = selector.Join(dir, name); at.before(from) || snap.Compiled.DeniedToAll(name, false) {
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

// A document is a sitemap while it is written.
type document struct {
	q    *answer.Asked
	snap *site.Snapshot
	text bool
	b    []byte
}

func (w *document) begin(element string) {
	if w.b = nil; !w.text {
		w.b = fmt.Appendf(w.b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%s xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n", element)
	}
}

func (w *document) end(element string) []byte {
	if !w.text {
		w.b = fmt.Appendf(w.b, "</%s>\n", element)
	}
	return w.b
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
