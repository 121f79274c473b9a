// Package sitemap lists what robots may fetch of a site (sitemaps.org), and what has changed
// recently, so that robots need not crawl it.
//
//	/sitemap.xml         the whole site; with more than 50,000 URLs, an index of the parts
//	/sitemap-1.xml       a part
//	/sitemap-recent.xml  the changes of the last 24 hours
//
// With .txt in place of .xml, the reply has one URL per line. For each top-level directory a
// list is cached (list.go). It is made from the records of the scan, and again after ten minutes
// or when its rules change. Documents are written from the lists piece by piece, since URLs
// differ by front, name and port.
package sitemap

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
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

// Selector is the selector of the sitemap.
const Selector = "/sitemap.xml"

// Bounds of a part: the number of URLs in the standard, and the bytes of their paths.
const (
	maxURLs  = 50_000
	maxPaths = 8 << 20
)

// A piece is complete when it exceeds pieceSize bytes; most entries are smaller than maxEntry.
const (
	pieceSize = 192 << 10
	maxEntry  = 4 << 10
)

// Sitemaps is the answer.Source of a site's sitemaps.
type Sitemaps struct {
	Site *site.Site

	most int // URLs of a part, for tests; if zero, maxURLs

	mu     sync.Mutex
	lists  map[string]*list // by top-level directory; "" is the root. Each map is immutable
	policy *policy
}

var form = regexp.MustCompile(`^/?sitemap(?:-([1-9]\d{0,4}|recent))?\.(xml|txt)$`)

// Answers reports whether a selector has the form of a sitemap's.
func (*Sitemaps) Answers(sel string) bool { return form.MatchString(sel) }

// Answer returns a sitemap.
func (s *Sitemaps) Answer(q *answer.Asked) (*answer.Value, error) {
	m := form.FindStringSubmatch(q.Request.Selector)
	if m == nil {
		return nil, server.ErrDeclined
	}
	a := &answer.Value{
		Class:    answer.File,
		Selector: "/" + strings.TrimPrefix(m[0], "/"),
		Type:     menu.TypeText,
		Media:    "application/xml",
	}
	text := m[2] == "txt"
	if text {
		a.Media = ""
	}
	snap, err := s.Site.Snapshot(q.Context())
	if err != nil {
		return nil, fmt.Errorf("waiting for the first scan: %w", err)
	}
	q.View.Forget() // the reply depends on records, not on files, so it must not be cached
	lists := s.current(q.View, snap)
	w := newDocument(q, text)
	if m[1] == "recent" {
		w.begin("urlset")
		for _, e := range recent(snap, lists) {
			w.resource(e, e.Changed)
		}
		w.end("urlset")
		a.Body = w.b
		return a, nil
	}

	parts := s.parts(lists)
	n, _ := strconv.Atoi(m[1])
	switch {
	case n > len(parts):
		return nil, server.ErrDeclined
	case n == 0 && len(parts) > 1:
		a.Body = w.index(len(parts), recent(snap, lists))
		return a, nil
	}
	part := parts[max(n-1, 0)]
	w.begin("urlset")
	a.Open = func(q *answer.Asked) io.Reader {
		return &stream{
			all:  s,
			q:    q,
			text: text,
			left: slices.Clone(part),
			rest: w.b,
		}
	}
	return a, nil
}

// A topList is the list of a top-level directory.
type topList struct {
	top string
	*list
}

// current returns the lists of all top-level directories, in order. It makes missing and
// outdated ones.
func (s *Sitemaps) current(view *site.View, snap *site.Snapshot) (lists []topList) {
	p := s.policyOf(snap)
	s.mu.Lock()
	kept := s.lists
	s.mu.Unlock()
	next := map[string]*list{}
	add := func(top string, d *site.Dir) {
		l, number := kept[top], p.of(top)
		if l == nil || l.isOutdated(number) {
			l = walk(view, snap, top, d)
			l.policy = number
		}
		next[top] = l
		lists = append(lists, topList{top, l})
	}
	add("", snap.Tree)
	for _, d := range snap.Tree.Dirs {
		add(d.Name, d)
	}
	s.mu.Lock()
	s.lists = next
	s.mu.Unlock()
	return lists
}

// isOutdated reports whether a list must be made again, with these rules.
func (l *list) isOutdated(policy uint64) bool {
	age := time.Since(l.made)
	return age >= maxAge || l.policy != policy && age >= busyShare*l.took
}

// recent returns the newest changes in all lists that robots may still fetch.
func recent(snap *site.Snapshot, lists []topList) []entry {
	var all []entry
	for _, l := range lists {
		all = append(all, l.recent...)
	}
	return slices.DeleteFunc(newest(all), func(e entry) bool {
		return !snap.Open(e.path(), e.isDir())
	})
}

// A slice is the rest of a list.
type slice struct {
	topList
	rest []entry
}

// parts distributes the lists over parts, in order. It splits only lists larger than a part.
func (s *Sitemaps) parts(lists []topList) (parts [][]slice) {
	most := cmp.Or(s.most, maxURLs)
	var part []slice
	urls, size := 0, 0
	next := func() {
		parts = append(parts, part)
		part = nil
		urls = 0
		size = 0
	}
	for _, l := range lists {
		if urls > 0 && (urls+len(l.entries) > most || size+l.size > maxPaths) {
			next()
		}
		from := 0
		for i, e := range l.entries {
			if urls == most || size > maxPaths {
				part = append(part, slice{l, l.entries[from:i]})
				from = i
				next()
			}
			urls++
			size += e.size()
		}
		part = append(part, slice{l, l.entries[from:]})
	}
	return append(parts, part)
}

// A stream makes a part piece by piece while it is sent. So a slow client uses the memory of one
// piece, and no place of the Limiter.
type stream struct {
	all  *Sitemaps
	q    *answer.Asked
	text bool
	left []slice
	rest []byte // of the current piece
}

func (r *stream) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.left) == 0 {
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

// piece makes the next piece. If the rules of a list have changed since it was made, piece checks
// each entry again.
func (r *stream) piece(q *answer.Asked) (*answer.Value, error) {
	w := newDocument(q, r.text)
	w.b = make([]byte, 0, pieceSize+maxEntry)
	snap := r.all.Site.Now()
	p := r.all.policyOf(snap)
	for len(r.left) > 0 && len(w.b) < pieceSize {
		one := &r.left[0]
		same := one.policy == p.of(one.top)
		for len(one.rest) > 0 && len(w.b) < pieceSize {
			e := one.rest[0]
			one.rest = one.rest[1:]
			if same || snap.Open(e.path(), e.isDir()) {
				w.resource(e, e.Modified)
			}
		}
		if len(one.rest) == 0 {
			r.left = r.left[1:]
		}
	}
	if len(r.left) == 0 {
		w.end("urlset")
	}
	return &answer.Value{Class: answer.File, Body: w.b}, nil
}

// A document is a sitemap while it is written.
type document struct {
	q     *answer.Asked
	text  bool
	bases map[byte]string // the URL up to the path, by item type
	b     []byte
}

func newDocument(q *answer.Asked, text bool) *document {
	return &document{q: q, text: text, bases: map[byte]string{}}
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

// resource writes an entry with a time.
func (w *document) resource(e entry, at int64) {
	w.entry("url", e.Type, selector.Canonical(e.path(), e.isDir()), time.Unix(0, at))
}

// index returns the index of the parts.
func (w *document) index(parts int, recent []entry) []byte {
	end, last := ".xml", time.Time{}
	if w.text {
		end = ".txt"
	}
	if len(recent) > 0 {
		last = time.Unix(0, recent[0].Changed)
	}
	w.begin("sitemapindex")
	w.entry("sitemap", menu.TypeText, "/sitemap-recent"+end, last)
	for n := range parts {
		w.entry("sitemap", menu.TypeText, fmt.Sprintf("/sitemap-%d%s", n+1, end), time.Time{})
	}
	w.end("sitemapindex")
	return w.b
}

// entry writes the element of one URL.
func (w *document) entry(element string, typ byte, sel string, changed time.Time) {
	base, ok := w.bases[typ]
	switch {
	case sel == "/":
		base, sel = w.q.URL(typ, "/"), ""
	case !ok:
		base = strings.TrimSuffix(w.q.URL(typ, "/x"), "/x")
		w.bases[typ] = base
	}
	if w.text {
		w.b = append(selector.AppendURI(append(w.b, base...), sel), '\n')
		return
	}
	w.b = append(w.b, "<"+element+"><loc>"...)
	from := len(w.b)
	w.b = selector.AppendURI(append(w.b, base...), sel)
	if url := w.b[from:]; bytes.ContainsAny(url, `&'<>"`) {
		w.b = append(w.b[:from], html.EscapeString(string(url))...)
	}
	w.b = append(w.b, "</loc>"...)
	if !changed.IsZero() {
		w.b = changed.UTC().AppendFormat(append(w.b, "<lastmod>"...), time.RFC3339)
		w.b = append(w.b, "</lastmod>"...)
	}
	w.b = append(w.b, "</"+element+">\n"...)
}
