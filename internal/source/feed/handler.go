package feed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Name is the name of each feed.
const Name = "feed.xml"

// maxEntries is how many texts are in a feed: the newest ones.
const maxEntries = 50

// Feeds is the answer.Source of /dir/feed.xml for each directory with dated texts.
type Feeds struct {
	// Web reports whether the same port shows the site to browsers; entries link
	// there, too.
	Web bool
}

// Answers reports whether a selector has the name of a feed.
func (*Feeds) Answers(sel string) bool {
	name, isDir, err := selector.Path(sel)
	return err == nil && !isDir && path.Base(name) == Name
}

// Answer makes the feed of a directory.
func (h *Feeds) Answer(q *answer.Asked) (*answer.Value, error) {
	name, _, err := selector.Path(q.Request.Selector)
	if err != nil {
		return nil, server.ErrDeclined
	}
	dir := path.Dir(name)
	list, err := texts(q.Host.Site, q.View, dir)
	if err != nil {
		return nil, err
	}
	f := h.feed(q, dir, list)
	return &answer.Value{Class: answer.File, Selector: selector.Canonical(name, false), Type: menu.TypeText, Media: MediaType, Body: f.Append(nil), Keep: true}, nil
}

// MediaType is the media type of feeds.
const MediaType = "application/atom+xml"

// Exists reports whether a selector leads to a feed.
func Exists(ctx context.Context, s *site.Site, sel string) bool {
	name, _, err := selector.Path(sel)
	if err != nil || !(*Feeds)(nil).Answers(sel) {
		return false
	}
	_, err = texts(s, s.View(ctx), path.Dir(name))
	return err == nil
}

// texts returns the texts of the feed of a directory; ErrDeclined if there are none.
func texts(s *site.Site, v *site.View, dir string) ([]answer.DatedText, error) {
	snap, err := s.Snapshot(v.Context())
	if err != nil {
		return nil, fmt.Errorf("waiting for the first scan: %w", err)
	}
	v.DependOnPolicy()
	allowed := func(name string) bool { return !snap.Compiled.DeniedToAll(name, false) }
	list, err := dated(v, dir, allowed)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || err == nil && len(list) == 0 {
		err = server.ErrDeclined
	}
	return list, err
}

// dated returns the newest dated texts of a directory that robots may have, the
// newest first.
func dated(v *site.View, dir string, allowed func(string) bool) ([]answer.DatedText, error) {
	if f, err := v.Lookup(dir); err != nil {
		return nil, err
	} else if isDir := f.Info.IsDir(); f.Close() != nil || !isDir {
		return nil, fs.ErrNotExist
	}
	list, err := answer.DatedTexts(v, dir)
	list = slices.DeleteFunc(list, func(t answer.DatedText) bool { return !allowed(t.Name) })
	return answer.Newest(list, maxEntries), err
}

// feed puts the feed of a directory together.
func (h *Feeds) feed(q *answer.Asked, dir string, list []answer.DatedText) *Feed {
	r := q.Request
	sel := selector.Canonical(dir, true)
	home := h.url(r, menu.TypeMenu, sel)
	f := &Feed{ID: home, Title: q.Title(dir, true), Author: r.Host, Links: h.links(r, menu.TypeMenu, sel)}
	f.Links = append(f.Links, Ref{"self", "application/atom+xml", h.url(r, menu.TypeText, sel+Name)})
	for _, t := range list {
		one := selector.Canonical(t.Name, false)
		f.Entries = append(f.Entries, Entry{ID: h.url(r, menu.TypeText, one), Title: q.Title(t.Name, false), Date: t.Day, Links: h.links(r, menu.TypeText, one)})
	}
	return f
}

func (h *Feeds) url(r *server.Request, typ byte, sel string) string {
	return selector.URL{Host: r.Host, Port: r.Port, Type: typ, Selector: sel, TLS: r.TLS}.String()
}

// links returns the URLs of a resource.
func (h *Feeds) links(r *server.Request, typ byte, sel string) []Ref {
	kind := "text/plain"
	if typ == menu.TypeMenu {
		kind = "application/gopher-menu"
	}
	list := []Ref{{"alternate", kind, h.url(r, typ, sel)}}
	if h.Web {
		scheme, usual := "http", 80
		if r.TLS {
			scheme, usual = "https", 443
		}
		host := r.Host
		if r.Port != usual {
			host = net.JoinHostPort(host, strconv.Itoa(r.Port))
		} else if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		u := url.URL{Scheme: scheme, Host: host, Path: sel}
		list = append(list, Ref{"alternate", "text/html", u.String()})
	}
	return list
}
