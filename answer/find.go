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
func (q *Asked) find(sel string) (*site.Resource, error) {
	f, err := q.lookup(sel)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	for _, form := range selector.Forms(sel) {
		f, formErr := q.lookup(form)
		if formErr == nil {
			return q.open(f, sel)
		}
		err = fmt.Errorf("%w; as %q: %w", err, form, formErr)
	}
	return nil, err
}

// lookup opens the file or directory that a selector names literally.
func (q *Asked) lookup(sel string) (*site.Resource, error) {
	name, dir, err := selector.Path(sel)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	f, err := q.View.Lookup(name)
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
	case q.Host.Programs(sel): // robots.txt denies all spellings
		return f, nil
	}
	return q.open(f, sel)
}

// open returns f, or a *pointer error if the spelling sel is closed. If so, it first waits
// for the first scan: until then, every spelling counts as closed.
func (q *Asked) open(f *site.Resource, sel string) (*site.Resource, error) {
	if !q.Host.closed(f.Name, f.Info.IsDir(), sel) {
		return f, nil
	}
	_, err := q.Host.Site.Snapshot(q.Context())
	switch {
	case err != nil:
		err = fmt.Errorf("waiting for the first scan: %w", err)
	case q.Host.closed(f.Name, f.Info.IsDir(), sel):
		err = q.pointTo(f)
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
func (q *Asked) closedName() bool {
	sel := q.Request.Selector
	name, dir, err := selector.Path(sel)
	if err != nil || dir || strings.HasPrefix(sel, "/") ||
		!slices.ContainsFunc(q.Host.beside, func(s Source) bool { return s.Answers("/" + sel) }) {
		return false
	}
	_, err = q.Host.Site.Snapshot(q.Context()) // waits for the first scan
	return err != nil || q.Host.closed(name, false, sel)
}

// pointer is the error of a spelling at which a resource is not served. Its Value links the
// canonical selector.
type pointer struct{ *Value }

func (q *Asked) pointTo(f *site.Resource) *pointer {
	typ := byte(menu.TypeMenu)
	label := ""
	if f.Info.IsDir() {
		label = q.Builder().Label(q.Context(), f.Name)
	} else {
		typ, _ = menu.TypeOf(f.Name)
	}
	canonical := selector.Canonical(f.Name, f.Info.IsDir())
	return &pointer{q.moved(typ, cmp.Or(label, canonical), canonical)}
}

func (p *pointer) Error() string {
	return "answered only at " + p.Selector
}

// moved returns the answer that links a selector of the site.
func (q *Asked) moved(typ byte, label, sel string) *Value {
	return &Value{
		Class:    Moved,
		Selector: sel,
		Type:     typ,
		Items: []menu.Item{{
			Type:     typ,
			Label:    label,
			Selector: sel,
			Host:     q.Request.Host,
			Port:     q.Request.Port,
		}},
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
