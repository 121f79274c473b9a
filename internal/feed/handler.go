package feed

import (
	"cmp"
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
	"sync"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Name is what the feed of a directory is called.
const Name = "feed.xml"

// maxEntries is how many texts are in a feed: readers want what is new.
const maxEntries = 50

// Feeds answers /dir/feed.xml for each directory with dated texts. It is for
// selectors that name nothing else, so that a file of that name wins; it declines
// what it does not know.
type Feeds struct {
	Site *site.Site

	// Web reports whether the same port shows the site to browsers; entries link
	// there, too.
	Web bool

	// InfoPrefix is how gophermaps are read (see menu.Builder).
	InfoPrefix bool

	mu   sync.Mutex
	kept map[key]madeFeed
}

type key struct {
	dir, host string
	port      int
	tls       bool
}

// madeFeed is a feed as long as its stamp is fresh.
type madeFeed struct {
	body  []byte
	stamp *site.Stamp
}

// maxKept is how many feeds are kept in memory.
const maxKept = 200

// ServeGopher answers a request.
func (h *Feeds) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	name, isDir, err := selector.Path(r.Selector)
	if err != nil || isDir || path.Base(name) != Name {
		return server.ErrDeclined
	}
	k := key{path.Dir(name), r.Host, r.Port, r.TLS}
	h.mu.Lock()
	m, ok := h.kept[k]
	h.mu.Unlock()
	if !ok || m.stamp == nil || !m.stamp.Fresh() {
		if m, err = h.make(r, k.dir); err != nil {
			return err
		}
		h.keep(k, m)
	}
	_, err = w.Write(m.body)
	return err
}

func (h *Feeds) keep(k key, m madeFeed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept == nil || len(h.kept) >= maxKept {
		h.kept = map[key]madeFeed{}
	}
	h.kept[k] = m
}

// make makes the feed of a directory.
func (h *Feeds) make(r *server.Request, dir string) (madeFeed, error) {
	v, list, err := h.dated(r.Context(), dir)
	if err != nil {
		return madeFeed{}, err
	}
	h.name(v, dir, list)
	if v.Err() != nil {
		return madeFeed{}, v.Err()
	}
	f := h.feed(r, dir, list)
	return madeFeed{f.Append(nil), v.Stamp()}, nil
}

// Answers reports whether a selector is that of a feed.
func (h *Feeds) Answers(ctx context.Context, sel string) bool {
	name, isDir, err := selector.Path(sel)
	if err != nil || isDir || path.Base(name) != Name {
		return false
	}
	_, _, err = h.dated(ctx, path.Dir(name))
	return err == nil
}

// dated returns the texts of the feed of a directory, and the view that they were
// found in; ErrDeclined if there are none.
func (h *Feeds) dated(ctx context.Context, dir string) (*site.View, []datedText, error) {
	snap, err := h.Site.Snapshot(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("waiting for the first scan: %w", err)
	}
	v := h.Site.View(ctx)
	v.DependOnPolicy()
	allowed := func(name string) bool { return !snap.Compiled.DeniedToAll(name, false) }
	list, err := dated(v, dir, allowed)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || err == nil && len(list) == 0 {
		err = server.ErrDeclined
	}
	return v, list, err
}

// datedText is a dated text.
type datedText struct {
	name string // below the root
	Entry
}

// dated returns the newest dated texts of a directory that robots may have, the
// newest first.
func dated(v *site.View, dir string, allowed func(string) bool) ([]datedText, error) {
	if f, err := v.Lookup(dir); err != nil {
		return nil, err
	} else if isDir := f.Info.IsDir(); f.Close() != nil || !isDir {
		return nil, fs.ErrNotExist
	}
	entries, err := v.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []datedText
	for _, e := range entries {
		day, ok := Date(e.Name())
		if typ, known := menu.TypeOf(e.Name()); !ok || e.IsDir() || known && typ != menu.TypeText {
			continue
		}
		if name := selector.Join(dir, e.Name()); allowed(name) {
			list = append(list, datedText{name: name, Entry: Entry{Date: day}})
		}
	}
	slices.SortFunc(list, func(a, b datedText) int {
		return cmp.Or(b.Date.Compare(a.Date), strings.Compare(b.name, a.name))
	})
	return list[:min(len(list), maxEntries)], nil
}

// name sets the titles of the texts: what the menu calls them, or their first
// line, or their name.
func (h *Feeds) name(v *site.View, dir string, list []datedText) {
	labels := map[string]string{}
	b := menu.Builder{FS: v, Host: "localhost", Port: selector.DefaultPort, InfoPrefix: h.InfoPrefix}
	if m, err := b.Menu(v.Context(), dir); err == nil {
		for _, it := range m.Items {
			if it.Host == "localhost" && it.Type != menu.TypeInfo {
				labels[strings.TrimPrefix(it.Selector, "/")] = it.Label
			}
		}
	}
	for i := range list {
		t := &list[i]
		base := path.Base(t.name)
		if label := title(labels[t.name]); label != "" && label != base {
			t.Title = label
		} else if f, err := v.Lookup(t.name); err == nil {
			t.Title = Heading(f)
			_ = f.Close()
		}
		t.Title = cmp.Or(t.Title, base)
	}
}

// feed puts the feed of a directory together.
func (h *Feeds) feed(r *server.Request, dir string, list []datedText) *Feed {
	sel := selector.Canonical(dir, true)
	home := h.url(r, menu.TypeMenu, sel)
	f := &Feed{ID: home, Title: r.Host + sel, Author: r.Host, Links: h.links(r, menu.TypeMenu, sel)}
	if dir == "." {
		f.Title = r.Host
	}
	f.Links = append(f.Links, Ref{"self", "application/atom+xml", h.url(r, menu.TypeText, sel+Name)})
	for _, t := range list {
		e := t.Entry
		one := selector.Canonical(t.name, false)
		e.ID = h.url(r, menu.TypeText, one)
		e.Links = h.links(r, menu.TypeText, one)
		f.Entries = append(f.Entries, e)
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
