package feed

import (
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// Name is the file name of feeds. pageName is the name of the same feed as a page of links,
// for Gemini clients (the companion specification "Subscribing to Gemini pages").
const (
	Name     = "feed.xml"
	pageName = "feed.gmi"
)

// Bounds of a feed.
const (
	maxEntries = 50      // entries
	maxWhole   = 20      // entries that include the text
	maxContent = 1 << 20 // bytes of texts in all entries
)

// Feeds is the answer.Source of feeds: each directory with dated texts has one, and the root
// has one for the whole site.
type Feeds struct {
	// HTML renders the text of a file as HTML. If nil, texts are shown preformatted.
	HTML func(q *answer.Asked, name, text string) string
}

// Answers reports whether the last part of a selector is the name of a feed.
func (*Feeds) Answers(sel string) bool {
	name, isDir, err := selector.Path(sel)
	return err == nil && !isDir && (path.Base(name) == Name || path.Base(name) == pageName)
}

// Answer returns the feed.
func (h *Feeds) Answer(q *answer.Asked) (*answer.Value, error) {
	name, _, err := selector.Path(q.Request.Selector)
	if err != nil {
		return nil, server.ErrDeclined
	}
	dir := path.Dir(name)
	list, err := answer.NewestTexts(q.View, dir, dir == ".", maxEntries)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0 && !answer.HasFeed(q.View, dir):
		return nil, server.ErrDeclined
	}
	a := &answer.Value{
		Class:    answer.File,
		Selector: selector.Canonical(name, false),
		Type:     menu.TypeText,
		Title:    q.LinkTitle(dir, true),
		Keep:     true,
	}
	if path.Base(name) == pageName {
		a.Class, a.Type = answer.Menu, menu.TypeMenu
		for _, t := range list {
			a.Items = append(a.Items, menu.Item{
				Type:     menu.TypeText,
				Label:    t.Day.Format(time.DateOnly) + " " + q.Title(t.Name, false),
				Selector: selector.Canonical(t.Name, false),
			})
		}
		return a, nil
	}
	a.Media = mediaType
	a.Body, err = h.feed(q, dir, list).bytes()
	return a, err
}

// mediaType is the media type of feeds.
const mediaType = "application/atom+xml"

// feed returns the Atom feed of a directory.
func (h *Feeds) feed(q *answer.Asked, dir string, list []answer.DatedText) *atom {
	sel := selector.Canonical(dir, true)
	owner := tagOwner(q)
	f := &atom{
		ID:     owner.tag(sel, ""),
		Title:  q.LinkTitle(dir, true),
		Author: q.Request.Host,
		Links:  links(q, menu.TypeMenu, sel),
	}
	f.Links = append(f.Links, link{"self", mediaType, q.URL(menu.TypeText, sel+Name)})
	room := maxContent
	for i, t := range list {
		one := selector.Canonical(t.Name, false)
		day := t.Day.Format(time.RFC3339)
		e := entry{
			ID:        owner.tag(one, t.Day.Format(time.DateOnly)),
			Title:     q.Title(t.Name, false),
			Published: day,
			Updated:   day,
			Links:     links(q, menu.TypeText, one),
		}
		if i < maxWhole {
			if text, whole, _ := q.Read(t.Name, room); whole {
				html := h.HTML
				if html == nil {
					html = plainHTML
				}
				e.Content = &content{"html", q.URL(menu.TypeText, one), html(q, t.Name, text)}
				room -= len(text)
			}
		}
		f.Entries = append(f.Entries, e)
	}
	return f
}

// An owner is the authority in the ids of entries: a name, and a date on which it
// belonged to the site's owner. Ids are tag URIs (RFC 4151) of the owner, the day of the text and its
// selector. They must be unique and must not change when the text moves to another URL
// (RFC 4287 section 4.2.6).
type owner struct{ name, since string }

// idName is a file in the root that sets the authority in ids, such as
// "gopher.example.org,2026", so that ids survive a change of the host name. Without it, the
// host name is the authority.
const idName = ".feed-id"

var validOwner = regexp.MustCompile(`^(?:[a-z0-9._-]+@)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?,\d{4}(?:-\d\d){0,2}$`)

func tagOwner(q *answer.Asked) owner {
	if line := strings.ToLower(q.OwnersLine(idName)); validOwner.MatchString(line) {
		name, since, _ := strings.Cut(line, ",")
		return owner{name, since}
	}
	return owner{name: strings.ToLower(strings.ReplaceAll(q.Request.Host, ":", "-"))}
}

// tag returns the id of a resource. day is the day of a text, or "" for a feed.
func (o owner) tag(sel, day string) string {
	switch {
	case o.since != "":
		day = o.since
	case day == "":
		day = "2026"
	}
	return "tag:" + o.name + "," + day + ":" + selector.URIPath(sel)
}

// links returns the links of an entry or feed. Feed readers follow either the first or the
// last alternate link, so each alternate is a URL that the client of this request can open.
func links(q *answer.Asked, typ byte, sel string) []link {
	kind, other := "text/plain", "text/plain"
	if typ == menu.TypeMenu {
		kind, other = "application/gopher-menu", answer.Gemtext
	}
	if answer.Markup(sel) == answer.Gemtext {
		kind, other = answer.Gemtext, answer.Gemtext
	}
	gopher, here := answer.GopherURL(q.Request, typ, sel), q.URL(typ, sel)
	switch {
	case q.Format.Web:
		return []link{{"alternate", "text/html", here}, {"related", kind, gopher}}
	case here != gopher:
		list := []link{{"alternate", other, here}}
		if name, _, err := selector.Path(sel); err == nil &&
			q.View.Path(name) == q.Host.Site.View(q.Context()).Path(name) { // no tree of Gemini's alone
			list = append(list, link{"related", kind, gopher})
		}
		return list
	case q.Host.Fronts["http"] != 0:
		return []link{{"alternate", kind, here},
			{"alternate", "text/html", answer.WebURL(q.Request, sel)}}
	}
	return []link{{"alternate", kind, here}}
}
