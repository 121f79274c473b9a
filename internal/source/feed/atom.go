// Package feed makes Atom feeds (RFC 4287) of directories with dated texts, as
// phlogs are: each file whose name begins with a date is an entry.
//
//	directory → dated texts, newest first → titles → Atom
//
// Feeds leave out everything that robots may not fetch: the programs that read feeds for
// people are robots, too.
package feed

import (
	"bytes"
	"encoding/xml"
	"time"
)

// A Feed is the content of a feed. All of it may come from a stranger.
type Feed struct {
	ID      string // an absolute URL that does not change
	Title   string
	Author  string
	Links   []Ref
	Entries []Entry // the newest first
}

// An Entry is one text.
type Entry struct {
	ID    string
	Title string
	Date  time.Time // the day it was published
	Links []Ref
}

// A Ref is a link of a feed or an entry.
type Ref struct {
	Rel  string // alternate or self
	Type string
	URL  string
}

// Append appends the feed as an Atom document. The feed is as old as its newest
// entry, so that the same texts give the same bytes; without entries it is of the
// first day of 1970.
func (f *Feed) Append(b []byte) []byte {
	w := &xmlWriter{b: b}
	w.b = append(w.b, xml.Header...)
	w.b = append(w.b, `<feed xmlns="http://www.w3.org/2005/Atom">`+"\n"...)
	updated := time.Unix(0, 0).UTC()
	if len(f.Entries) > 0 {
		updated = f.Entries[0].Date
	}
	w.element("id", f.ID)
	w.element("title", f.Title)
	w.element("updated", updated.Format(time.RFC3339))
	w.b = append(w.b, "<author>"...)
	w.element("name", f.Author)
	w.b = append(w.b, "</author>\n"...)
	w.links(f.Links)
	for _, e := range f.Entries {
		w.b = append(w.b, "<entry>\n"...)
		w.element("id", e.ID)
		w.element("title", e.Title)
		w.element("published", e.Date.Format(time.RFC3339))
		w.element("updated", e.Date.Format(time.RFC3339))
		w.links(e.Links)
		w.b = append(w.b, "</entry>\n"...)
	}
	return append(w.b, "</feed>\n"...)
}

type xmlWriter struct{ b []byte }

func (w *xmlWriter) element(name, text string) {
	w.b = append(w.b, '<')
	w.b = append(w.b, name...)
	w.b = append(w.b, '>')
	w.text(text)
	w.b = append(w.b, "</"...)
	w.b = append(w.b, name...)
	w.b = append(w.b, ">\n"...)
}

func (w *xmlWriter) links(list []Ref) {
	for _, l := range list {
		w.b = append(w.b, `<link rel="`...)
		w.text(l.Rel)
		w.b = append(w.b, `" type="`...)
		w.text(l.Type)
		w.b = append(w.b, `" href="`...)
		w.text(l.URL)
		w.b = append(w.b, "\"/>\n"...)
	}
}

// text appends text that is neither markup nor anything that XML forbids.
func (w *xmlWriter) text(s string) {
	out := bytes.NewBuffer(w.b)
	_ = xml.EscapeText(out, []byte(s)) // a Buffer takes everything
	w.b = out.Bytes()
}
