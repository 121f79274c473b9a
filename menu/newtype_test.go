package menu_test

import (
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	holes "github.com/gophd/gophd/site"
)

// A row is all that a new type needs: gophermaps, listings, what people read of it, and
// browsers, which may ask for it by its type.
func TestNewItemType(t *testing.T) {
	tree := fstest.MapFS{"gophermap": {Data: []byte("~A tilde\tx.bin\n*\n")},
		"x.bin": {Data: []byte("x")}, "y.TIL": {}}
	get := browser(t, tree)
	if _, typed := get("/~/x.bin"); typed {
		t.Error("a browser may ask for a type that is not known")
	}
	defer menu.AddType('~', "tilde", "til")()
	b := menu.Builder{FS: tree, Host: "h", Port: 70}
	m, err := b.Menu(t.Context(), ".")
	want := []menu.Item{{Type: '~', Label: "A tilde", Selector: "/x.bin", Host: "h", Port: 70},
		{Type: '~', Label: "y.TIL", Selector: "/y.TIL", Host: "h", Port: 70}}
	if err != nil || !reflect.DeepEqual(m.Items, want) {
		t.Errorf("%+v, %v", m.Items, err)
	}
	if menu.TypeName('~') != "tilde" || !menu.IsType('~') || menu.IsType(0) || menu.IsType('?') {
		t.Error("it has no name, or others are types")
	}
	page, _ := browser(t, tree)("/")
	for _, link := range []string{`href="/x\.bin"[^>]*>A tilde<`, `href="/y\.TIL"[^>]*>y\.TIL<`} {
		if !regexp.MustCompile(link).MatchString(page) {
			t.Errorf("no %s in\n%s", link, page)
		}
	}
	if body, typed := get("/~/x.bin"); !typed || body != "x" {
		t.Errorf("a browser that asks for it by its type gets %q", body)
	}
}

// browser serves a tree to browsers. The function that it returns gets a path, and
// reports whether it is there.
func browser(t *testing.T, tree fstest.MapFS) func(path string) (body string, found bool) {
	s := holes.FS(tree, holes.Config{})
	host := &answer.Host{Site: s}
	browsers := &web.HTTPServer{Site: func(r *server.Request, _ string) (http.Handler,
		*server.Request) {
		return &web.Pages{Host: host}, r
	}}
	addr := treetest.Serve(t,
		(&server.Server{Handler: &gopher.Front{Host: host}, HTTP: browsers.Serve}).Serve)
	treetest.Run(t, s.Run)
	_, err := s.Snapshot(t.Context())
	treetest.Must(t, err)
	return func(path string) (string, bool) {
		res, err := http.Get("http://" + addr + path)
		treetest.Must(t, err)
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		treetest.Must(t, err)
		return strings.TrimSpace(string(body)), res.StatusCode == http.StatusOK
	}
}
