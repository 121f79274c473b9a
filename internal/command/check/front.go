package check

import (
	"io/fs"
	"path"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A front is the site as the clients of one protocol see it. Gemini may have other trees of
// users (-users gemini=), and takes the paths of gopher URLs, as browsers do.
type front struct {
	*checking
	name    string
	form    *answer.Format // keeps the items of menus, and opens files without reading them
	snap    *site.Snapshot
	tops    map[string]string // the directories of all trees, links resolved, by their names; the root's is "."
	replies map[string]reply  // to selectors
}

// A reply is what the server answers to a selector. Its class is 0 if that is an error.
type reply struct {
	class answer.Class
	typ   byte
	empty bool // a file without content
}

func (c *checking) front(name string, form *answer.Format) *front {
	f := &front{
		checking: c,
		name:     name,
		form:     form,
		tops:     map[string]string{},
		replies:  map[string]reply{},
	}
	view := f.view()
	f.snap = view.Now()
	for _, top := range append(view.Trees(), ".") {
		if real, err := files.RealPath(view.Path(top)); err == nil {
			f.tops[top] = real
		}
	}
	return f
}

// view returns the tree as a request over this front sees it.
func (f *front) view() *site.View {
	v := f.site.View(f.ctx)
	if f.form.Index != "" {
		v.OfCapsules()
	}
	return v
}

// request makes the request of a client in this process.
func (c *checking) request(sel string) *server.Request {
	r := &server.Request{
		RequestLine: selector.RequestLine{Selector: sel},
		Host:        ourHost,
		Port:        selector.DefaultPort,
	}
	return r.WithContext(c.ctx)
}

// ask returns the reply to a selector, from the cache after the first request.
func (f *front) ask(sel string) (r reply) {
	r, known := f.replies[sel]
	if known {
		return r
	}
	a, err := f.host.Ask(f.request(sel), f.form)
	if isUntyped := err == nil && a.Class == answer.Moved && len(sel) > 2 &&
		strings.Trim(a.Selector, "/") == strings.Trim(sel[2:], "/"); isUntyped &&
		f.onDisk(sel[:2]) {
		err = fs.ErrNotExist // /d is a directory, not an item type: /d/a.txt does not mean /a.txt
	}
	if err == nil {
		r = reply{
			class: a.Class,
			typ:   a.Type,
			empty: a.Resource != nil && a.Resource.Info.Size() == 0,
		}
		a.Close()
	}
	f.replies[sel] = r
	return r
}

func (f *front) answers(sel string) bool { return f.ask(sel).class != 0 }

// top returns the name of the tree that a name is in.
func (f *front) top(name string) string {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if f.tops[name] != "" {
			return name
		}
	}
	return "."
}

// own reports whether a name is in a tree of -users gemini=, which Gopher does not show.
func (f *front) own(name string) bool {
	top := f.top(name)
	return f == f.gemini && f.tops[top] != f.gopher.tops[top]
}

// ofGemini prefixes the labels of files in a tree of -users gemini=, as in the reports on its
// annotations.
const ofGemini = "gemini="

// label returns the name of a file in findings.
func (f *front) label(name string) string {
	if f.own(name) {
		return ofGemini + name
	}
	return name
}

// labelled returns the front and the name of a label.
func (c *checking) labelled(label string) (*front, string) {
	if name, ok := strings.CutPrefix(label, ofGemini); ok {
		return c.gemini, name
	}
	return c.gopher, label
}

// nameOf returns the name below the root that a selector requests.
func nameOf(sel string) string {
	if name := path.Clean("/" + sel)[1:]; name != "" {
		return name
	}
	return "."
}

// found notes that a file or a directory links a selector: a directory is linked, too, if
// something in it is linked from outside of it.
func (f *front) found(from, sel string) {
	for name := f.snap.Real(nameOf(sel)); name != "." && from != name &&
		!strings.HasPrefix(from, name+"/"); name = path.Dir(name) {
		f.linked[f.label(name)] = true
	}
}
