package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// visit is one request to a Tree.
type visit struct {
	*Tree
	look *site.Look
	w    ResponseWriter
	r    *Request
}

// smallFile is the size from which files leave through sendfile(2), in octets;
// smaller ones are read, and kept.
const smallFile = 64 << 10

func (v *visit) serve() error {
	f, err := v.find(v.r.Selector)
	var moved *pointer
	switch {
	case errors.As(err, &moved):
		return v.w.WriteItem(moved.item)
	case errors.Is(err, fs.ErrNotExist) && strings.TrimPrefix(v.r.Selector, "/") == "caps.txt":
		return v.caps(v.w)
	case err != nil:
		v.keepMissing(err)
		return err
	}
	defer func() { _ = f.Close() }()
	if f.Info.IsDir() {
		return v.menu(f)
	}
	return v.file(f)
}

// find opens what a selector stands for. A selector with percent escapes that
// names nothing is tried decoded, once.
func (v *visit) find(sel string) (*site.File, error) {
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
		return nil, pointTo(f)
	}
	return f, nil
}

// open opens what a selector names literally.
func (v *visit) open(sel string) (*site.File, error) {
	name, dir, err := selector.Path(sel)
	if err != nil {
		return nil, &Error{Message: ErrNotFound.Message, Err: fmt.Errorf("%w: %w", err, fs.ErrNotExist)}
	}
	f, err := v.look.Open(name)
	switch {
	case err != nil:
		return nil, err
	case dir && !f.Info.IsDir():
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: name + "/", Err: fs.ErrNotExist}
	case v.closed(sel):
		_ = f.Close()
		return nil, pointTo(f)
	}
	return f, nil
}

// closed says whether this spelling of something denied cannot be named in
// robots.txt, or not be told from an allowed one, so that it must not show it.
func (t *Tree) closed(sel string) bool {
	snap := t.Site.Now()
	if snap == nil {
		return false
	}
	_, closed := snap.Compiled.Closed(sel)
	return closed
}

// pointer says that a reply is a menu with one item: where the resource is to
// be had.
type pointer struct{ item menu.Item }

func pointTo(f *site.File) *pointer {
	typ := byte(menu.TypeMenu)
	if !f.Info.IsDir() {
		typ, _ = menu.TypeOf(f.Name)
	}
	canonical := selector.Canonical(f.Name, f.Info.IsDir())
	return &pointer{menu.Item{Type: typ, Label: canonical, Selector: canonical}}
}

func (p *pointer) Error() string { return "to be had at " + p.item.Selector }

func (v *visit) menu(f *site.File) error {
	m, err := v.look.Menu(f.Name, v.r.Host, v.r.Port)
	if err != nil {
		return fmt.Errorf("making the menu of %s: %w", f.Name, err)
	}
	if v.r.Plus == "$" && f.Name == "." {
		_, err = v.w.Write(menu.AppendPlusInfo(nil, m.Items))
		return err
	}
	body := m.AppendTo(nil)
	if v.plain() {
		v.look.Keep(v.r.Selector, body, v.r.Host, v.r.Port, v.judged(f))
	}
	_, err = v.w.Write(body)
	return err
}

// plain says whether the request is nothing but its selector, so that another
// one with the same line is the same.
func (v *visit) plain() bool { return v.r.Query == "" && v.r.Plus == "" }

// judged says whether the policy has a say in what this spelling of f is
// answered with: one with escapes, one without a slash before it, or that of a
// directory without the one after it.
func (v *visit) judged(f *site.File) bool {
	sel := v.r.Selector
	return strings.Contains(sel, "%") || !strings.HasPrefix(sel, "/") || f.Info.IsDir() && !strings.HasSuffix(sel, "/")
}

// file sends a file as long as it was when it was opened: one that grows
// meanwhile ends there, one that shrinks ends where it does, which is logged.
func (v *visit) file(f *site.File) (err error) {
	size := f.Info.Size()
	body := &io.LimitedReader{R: f, N: size}
	switch {
	case v.StrictText && isText(f):
		err = strictText(v.w, &whole{body})
	case size < smallFile:
		return v.small(f, body)
	default:
		err = sendWhole(v.w, body)
	}
	if err != nil {
		return fmt.Errorf("sending %s: %w", f.Name, err)
	}
	return nil
}

// errShrank is a file that became shorter while it was sent.
var errShrank = errors.New("the file became shorter")

// sendWhole sends the beginning of a file.
func sendWhole(w io.Writer, body *io.LimitedReader) error {
	want := body.N
	n, err := io.Copy(w, body)
	if err == nil && n < want {
		return errShrank
	}
	return err
}

// whole is the beginning of a file that has to be there.
type whole struct{ *io.LimitedReader }

func (r *whole) Read(p []byte) (int, error) {
	n, err := r.LimitedReader.Read(p)
	if errors.Is(err, io.EOF) && r.N > 0 {
		err = errShrank
	}
	return n, err
}

func (v *visit) small(f *site.File, r io.Reader) error {
	body := make([]byte, f.Info.Size())
	n, err := io.ReadFull(r, body)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading %s: %w", f.Name, err)
	}
	if v.plain() && n == len(body) {
		v.look.Keep(v.r.Selector, body, "", 0, v.judged(f))
	}
	_, err = v.w.Write(body[:n])
	return err
}

// isText says whether a file is a text.
func isText(f *site.File) bool { return fileType(f) == menu.TypeText }

// fileType returns the item type of a file or directory; it looks into a file
// whose name does not tell.
func fileType(f *site.File) byte {
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

// keepMissing keeps the reply to a selector that names nothing.
func (v *visit) keepMissing(err error) {
	name, _, pathErr := selector.Path(v.r.Selector)
	if pathErr == nil && v.plain() && errors.Is(err, fs.ErrNotExist) && !strings.Contains(v.r.Selector, "%") {
		v.look.KeepMissing(v.r.Selector, name, ErrorBody(err), err)
	}
}
