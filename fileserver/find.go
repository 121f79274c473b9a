package fileserver

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// visit is one request that was not answered from memory.
type visit struct {
	*Files
	view *site.View
	w    server.ResponseWriter
	r    *server.Request
}

func (v *visit) serve() error {
	f, err := v.find(v.r.Selector)
	var moved *pointer
	switch {
	case errors.As(err, &moved):
		return v.w.WriteItem(moved.item)
	case errors.Is(err, fs.ErrNotExist) && strings.TrimPrefix(v.r.Selector, "/") == "caps.txt":
		return v.caps(v.w)
	case errors.Is(err, fs.ErrNotExist) && v.Missing != nil:
		if err := v.Missing.ServeGopher(v.w, v.r); !errors.Is(err, server.ErrDeclined) {
			return err
		}
	}
	if err != nil {
		v.keepMissing(err)
		return err
	}
	if dir := f.Info.IsDir(); dir || menu.IsMenuFile(path.Base(f.Name)) {
		_ = f.Close()
		return v.menu(f.Name, dir)
	}
	defer func() { _ = f.Close() }()
	return v.file(f)
}

// find opens what a selector stands for. A selector with escapes that names
// nothing is tried decoded, once.
func (v *visit) find(sel string) (*site.Resource, error) {
	f, err := v.open(sel)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	plain, escaped := selector.Unescape(sel)
	if !escaped {
		return nil, err
	}
	f, plainErr := v.open(plain)
	if plainErr != nil {
		return nil, fmt.Errorf("%w; decoded: %w", err, plainErr)
	}
	// What robots are kept out of is not to be had by a spelling that no rule
	// of robots.txt names.
	if snap := v.Site.Now(); snap == nil || snap.Compiled.Denied(f.Name, f.Info.IsDir()) {
		_ = f.Close()
		return nil, v.pointTo(f)
	}
	return f, nil
}

// open opens what a selector names literally.
func (v *visit) open(sel string) (*site.Resource, error) {
	name, dir, err := selector.Path(sel)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	f, err := v.view.Lookup(name)
	switch {
	case err != nil:
		return nil, err
	case dir && !f.Info.IsDir():
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: name + "/", Err: fs.ErrNotExist}
	case v.closed(sel):
		_ = f.Close()
		return nil, v.pointTo(f)
	}
	return f, nil
}

// closed reports whether this spelling of something denied cannot be named in
// robots.txt, or not be told from an allowed one, so that it must not show it.
func (h *Files) closed(sel string) bool {
	snap := h.Site.Now()
	if snap == nil {
		return false
	}
	_, closed := snap.Compiled.Closed(sel)
	return closed
}

// pointer is a reply: a menu with one item, which links the resource.
type pointer struct{ item menu.Item }

func (v *visit) pointTo(f *site.Resource) *pointer {
	typ := byte(menu.TypeMenu)
	label := ""
	if f.Info.IsDir() {
		label = (&menu.Builder{FS: v.view}).Label(v.r.Context(), f.Name)
	} else {
		typ, _ = menu.TypeOf(f.Name)
	}
	canonical := selector.Canonical(f.Name, f.Info.IsDir())
	return &pointer{menu.Item{Type: typ, Label: cmp.Or(label, canonical), Selector: canonical}}
}

func (p *pointer) Error() string { return "to be had at " + p.item.Selector }

// keep keeps a reply for requests with the same selector, whatever their query.
// One that names the server says so.
func (v *visit) keep(body []byte, dir, named bool) {
	if judged(v.r.Selector, dir) {
		v.view.DependOnPolicy()
	}
	k := replyKey{selector: v.r.Selector}
	if wantsInfo(v.r) {
		k.selector = infoSelector
	}
	if named {
		k.host, k.port = v.r.Host, v.r.Port
	}
	v.replies.put(k, server.Answer{Body: body}, v.view.Stamp())
}

// judged reports whether the policy has a say in what a spelling is answered with:
// one with escapes, one without a slash before it, or that of a directory without
// the one after it.
func judged(sel string, dir bool) bool {
	return selector.IsEscaped(sel) || !strings.HasPrefix(sel, "/") || dir && !strings.HasSuffix(sel, "/")
}

// keepMissing keeps the reply to a selector that names nothing.
func (v *visit) keepMissing(err error) {
	name, _, pathErr := selector.Path(v.r.Selector)
	if pathErr != nil || !errors.Is(err, fs.ErrNotExist) || selector.IsEscaped(v.r.Selector) {
		return
	}
	err = public(err)
	v.misses.put(replyKey{selector: v.r.Selector}, server.Answer{Body: server.ErrorBody(err), Err: err}, v.view.MissingStamp(name))
}

// ItemType returns the item type of a selector, 0 if it names nothing.
func (h *Files) ItemType(r *server.Request) byte {
	name, _, err := selector.Path(r.Selector)
	if err != nil {
		return 0
	}
	f, err := h.Site.View(r.Context()).Lookup(name)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	return fileType(f)
}

// fileType returns the item type of a file or directory; it looks into a file
// whose name does not tell.
func fileType(f *site.Resource) byte {
	if f.Info.IsDir() {
		return menu.TypeMenu
	}
	if typ, known := menu.TypeOf(f.Name); known {
		return typ
	}
	var head [512]byte
	n, _ := f.ReadAt(head[:], 0)
	return menu.Sniff(head[:n])
}
