// Package feed makes Atom feeds of phlogs: each text whose name begins with a date is an
// entry.
//
//	site or directory → dated texts, newest first → titles, texts → Atom (RFC 4287), or a page of links
//
// Feeds omit what robots may not fetch, since feed readers are robots, too.
package feed

import (
	"encoding/xml"
	"html"
	"strings"
	"time"
	"unicode"

	"github.com/gophd/gophd/answer"
)

// atom is an Atom feed for encoding/xml. None of its strings is trusted.
type atom struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"` // of the newest entry, so that the same texts give the same bytes
	Author  string   `xml:"author>name"`
	Links   []link   `xml:"link"`
	Entries []entry  `xml:"entry"`
}

type entry struct {
	ID        string   `xml:"id"`
	Title     string   `xml:"title"`
	Published string   `xml:"published"`
	Updated   string   `xml:"updated"`
	Links     []link   `xml:"link"`
	Content   *content `xml:"content"` // nil: the text is too long, or too old
}

type link struct {
	Rel  string `xml:"rel,attr"` // alternate or self
	Type string `xml:"type,attr"`
	URL  string `xml:"href,attr"`
}

// content is a text as HTML that keeps its lines: readers run lines of type "text"
// together.
type content struct {
	Type string `xml:"type,attr"`
	Base string `xml:"xml:base,attr,omitempty"` // of the links in it
	Text string `xml:",chardata"`
}

// plainHTML returns a text as HTML that shows its lines and nothing else.
func plainHTML(_ *answer.Asked, _, text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, answer.StripEscapes(text))
	return "<pre>" + html.EscapeString(text) + "</pre>"
}

// bytes returns the feed as a document. Characters that XML forbids are replaced.
func (f *atom) bytes() ([]byte, error) {
	f.Updated = time.Unix(0, 0).UTC().Format(time.RFC3339)
	if len(f.Entries) > 0 {
		f.Updated = f.Entries[0].Updated
	}
	b, err := xml.MarshalIndent(f, "", " ")
	return append([]byte(xml.Header), append(b, '\n')...), err
}
