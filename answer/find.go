package answer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// find opens the file or directory that a selector names. If there is none, it tries the
// other forms of the selector (selector.Forms).
func (v *visit) find(sel string) (*site.Resource, error) {
	f, err := v.lookup(sel)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	for _, form := range selector.Forms(sel) {
		f, formErr := v.lookup(form)
		if formErr == nil {
			return v.open(f, sel)
		}
		err = fmt.Errorf("%w; as %q: %w", err, form, formErr)
	}
	return nil, err
}

// lookup opens the file or directory that a selector names literally.
func (v *visit) lookup(sel string) (*site.Resource, error) {
	name, dir, err := selector.Path(sel)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	f, err := v.View.Lookup(name)
	switch {
	case err != nil:
		return nil, err
	case dir && !f.Info.IsDir():
		_ = f.Close()
		return nil, &fs.PathError{
			Op:   "open",
			Path: name + "/",
			Err:  fs.ErrNotExist,
		}
	case v.Host.Programs(sel): // robots.txt denies all spellings
		return f, nil
	}
	return v.open(f, sel)
}

// open returns f, or a *pointer error if the spelling sel is closed. If so, it first waits
// for the first scan: until then, every spelling counts as closed.
func (v *visit) open(f *site.Resource, sel string) (*site.Resource, error) {
	if !v.Host.closed(f.Name, f.Info.IsDir(), sel) {
		return f, nil
	}
	_, err := v.Host.Site.Snapshot(v.Context())
	switch {
	case err != nil:
		err = fmt.Errorf("waiting for the first scan: %w", err)
	case v.Host.closed(f.Name, f.Info.IsDir(), sel):
		err = v.pointTo(f)
	default:
		return f, nil
	}
	_ = f.Close()
	return nil, err
}

// closed reports whether a resource must not be served at the spelling sel: robots.txt denies
// the canonical selector to some robot that would consider sel allowed.
func (h *Host) closed(name string, dir bool, sel string) bool {
	return h.Site.Closed(selector.Canonical(name, dir), sel)
}

// ClosedPath is the same for an escaped URL path, which robots of Gemini and HTTP compare
// with robots.txt: if true, the front must redirect to the path of sel.
func (h *Host) ClosedPath(sel, escaped string) bool {
	return escaped != selector.URIPath(sel) && h.Site.Closed(sel, escaped)
}

// closedName reports whether a selector that lacks its leading slash names a reply of the
// server, such as "caps.txt", and is closed: robots.txt denies it only with the slash.
func (v *visit) closedName() bool {
	sel := v.Request.Selector
	name, dir, err := selector.Path(sel)
	if err != nil || dir || strings.HasPrefix(sel, "/") || !v.Host.made("/"+sel) {
		return false
	}
	_, err = v.Host.Site.Snapshot(v.Context()) // waits for the first scan
	return err != nil || v.Host.closed(name, false, sel)
}

// made reports whether a source of generated replies may answer a selector.
func (h *Host) made(sel string) bool {
	return documents{}.Answers(sel) || slices.ContainsFunc(h.Beside, func(s Source) bool {
		return s.Answers(sel)
	})
}

// pointer is the error of a spelling at which a resource is not served. Its answer links the
// canonical selector.
type pointer struct{ item menu.Item }

func (v *visit) pointTo(f *site.Resource) *pointer {
	typ := byte(menu.TypeMenu)
	label := ""
	if f.Info.IsDir() {
		label = v.Builder().Label(v.Context(), f.Name)
	} else {
		typ, _ = menu.TypeOf(f.Name)
	}
	canonical := selector.Canonical(f.Name, f.Info.IsDir())
	return &pointer{menu.Item{
		Type:     typ,
		Label:    cmp.Or(label, canonical),
		Selector: canonical,
		Host:     v.Request.Host,
		Port:     v.Request.Port,
	}}
}

func (p *pointer) Error() string {
	return "answered only at " + p.item.Selector
}

func (p *pointer) answer() *Value {
	return &Value{
		Class:    Moved,
		Selector: p.item.Selector,
		Type:     p.item.Type,
		Items:    []menu.Item{p.item},
	}
}

// fileType returns the item type of a file or directory. If the name does not determine it,
// it reads the beginning of the file.
func fileType(f *site.Resource) byte {
	if f.Info.IsDir() {
		return menu.TypeMenu
	}
	var head []byte
	if mayBe := mayBeText(f.Name); mayBe {
		head = make([]byte, 512)
		n, _ := f.ReadAt(head, 0)
		head = head[:n]
	}
	return textType(f.Name, head)
}
