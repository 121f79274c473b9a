package webview

import (
	"io"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/feed"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// fill puts the items of a menu into a page: what stands together in lines of
// information is one block, and what leads somewhere another.
func (v *Pages) fill(p *page, req *server.Request, items []menu.Item) {
	for len(items) > 0 {
		n := slices.IndexFunc(items, func(it menu.Item) bool { return isInfo(it) != isInfo(items[0]) })
		if n < 0 {
			n = len(items)
		}
		var b block
		var info []string
		for _, it := range items[:n] {
			if isInfo(it) {
				info = append(info, it.Label)
				continue
			}
			shown, local := link(req, it)
			b.Items = append(b.Items, shown)
			if _, dated := answer.Day(path.Base(it.Selector)); local && dated && it.Type == menu.TypeText {
				p.Feed = feedOf(p, it)
			}
		}
		if text := strings.Join(info, "\n"); strings.TrimSpace(text) != "" {
			b.Info = inPieces(readable([]byte(text)))
		}
		if b.Items != nil || b.Info.Pieces != nil {
			p.Blocks = append(p.Blocks, b)
		}
		items = items[n:]
	}
}

// isInfo reports whether an item leads nowhere.
func isInfo(it menu.Item) bool {
	return it.Type == menu.TypeInfo || it.Type == menu.TypeError || it.Type == 0
}

// feedOf is the URL of the feed of the directory that a page shows, if a dated
// text lies in it.
func feedOf(p *page, it menu.Item) string {
	dir := strings.TrimSuffix(it.Selector, path.Base(it.Selector))
	u, err := url.Parse(p.Canonical)
	if err != nil || u.Path != "/"+strings.TrimPrefix(dir, "/") {
		return p.Feed
	}
	return u.EscapedPath() + feed.Name
}

// link returns what a menu shows of an item, and whether that is on this server.
func link(req *server.Request, it menu.Item) (shown item, local bool) {
	shown = item{Label: readable([]byte(it.Label)), Kind: menu.TypeName(it.Type)}
	if strings.TrimSpace(shown.Label) == "" {
		shown.Label = it.Selector
	}
	if target, ok := strings.CutPrefix(strings.TrimPrefix(it.Selector, "/"), "URL:"); ok {
		if _, err := menu.RedirectPage(target); err == nil { // it is of a scheme that only leads somewhere
			shown.URL, shown.Away = safe(target), true
		}
		return shown, false
	}
	local = it.Host == "" || it.Host == req.Host && (it.Port == req.Port || it.Port == 0)
	switch {
	case it.Type == menu.TypeTelnet || it.Type == menu.TypeTN3270 || it.Type == menu.TypeCSO:
		if it.Host != "" && it.Type != menu.TypeCSO {
			u := url.URL{Scheme: "telnet", Host: net.JoinHostPort(it.Host, strconv.Itoa(it.Port))}
			shown.URL, shown.Away = safe(u.String()), true
		}
	case !local:
		far := server.Request{Host: it.Host, Port: it.Port}
		shown.URL, shown.Away = safe(gopherURL(&far, it.Type, it.Selector)), true
		shown.Kind = strings.TrimPrefix(shown.Kind+", elsewhere", ", ")
	default:
		sel := "/" + strings.TrimPrefix(it.Selector, "/")
		if strings.HasPrefix(sel, "//") {
			return shown, true // no resource of ours, and another host's to a browser
		}
		shown.URL = safe((&url.URL{Path: sel}).EscapedPath())
		if it.Type == menu.TypeSearch {
			shown.Kind, shown.Form = "", true // its button says so
		}
	}
	return shown, local
}

// webURL is the URL of a path for a browser.
func webURL(req *server.Request, p string) string {
	u := url.URL{Scheme: "http", Host: req.Host, Path: p}
	usual := 80
	if req.TLS {
		u.Scheme, usual = "https", 443
	}
	if req.Port != usual {
		u.Host = net.JoinHostPort(req.Host, strconv.Itoa(req.Port))
	} else if strings.Contains(req.Host, ":") {
		u.Host = "[" + req.Host + "]"
	}
	return u.String()
}

// fileType returns the item type of a file; it looks into one whose name does not
// tell.
func fileType(f *site.Resource) byte {
	if typ, known := menu.TypeOf(f.Name); known {
		return typ
	}
	var head [512]byte
	n, _ := f.ReadAt(head[:], 0)
	return menu.Sniff(head[:n])
}

// mediaTypes are what browsers show. There is none that they run: HTML and SVG in
// a page of their own could.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
	".bmp": "image/bmp", ".ico": "image/x-icon", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".flac": "audio/flac", ".wav": "audio/wav", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".m4v": "video/mp4",
	".pdf": "application/pdf", ".xml": "text/plain; charset=utf-8", ".atom": "text/plain; charset=utf-8",
}

// mediaType is the type that a file is sent with.
func mediaType(name string, typ byte) string {
	if path.Base(name) == feed.Name {
		return "application/atom+xml"
	}
	if t, ok := mediaTypes[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	if typ == menu.TypeText || typ == menu.TypeHTML {
		return plainText
	}
	return "application/octet-stream"
}

// inline reports whether a browser may show a type instead of saving it.
func inline(kind string) bool { return kind != "application/octet-stream" }

// readAll reads a file from its beginning, as far as a page shows texts.
func readAll(f *site.Resource) ([]byte, error) {
	return io.ReadAll(io.LimitReader(f, maxText))
}
