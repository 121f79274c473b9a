package fileserver

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

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
	// A spelling that no rule of robots.txt names must not lead to what robots are
	// kept out of.
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

func (p *pointer) Error() string { return "answered only at " + p.item.Selector }
