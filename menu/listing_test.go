package menu_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gophd/gophd/menu"
)

func TestListing(t *testing.T) {
	fsys := site()
	fsys["d/fifo"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	fsys["d/socket"] = &fstest.MapFile{Mode: fs.ModeSocket}
	fsys["d/gophertag"] = &fstest.MapFile{Data: []byte("The label of d")}
	fsys["d/.robots"] = &fstest.MapFile{}
	m := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70}, "d")
	if got := show(m); got != listing {
		t.Errorf("got\n%swant\n%s", got, listing)
	}
	root := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70}, ".")
	if got, want := show(root), "1The label of d\t/d/\n1e\t/e/\n0top.txt\t/top.txt\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestListingOfLinks(t *testing.T) {
	fsys := tree(map[string]string{"file.txt": "x", "dir/a": "a"})
	fsys["link.txt"] = &fstest.MapFile{Data: []byte("file.txt"), Mode: fs.ModeSymlink}
	fsys["link"] = &fstest.MapFile{Data: []byte("dir"), Mode: fs.ModeSymlink}
	fsys["dangling"] = &fstest.MapFile{Data: []byte("no"), Mode: fs.ModeSymlink}
	got := show(mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70}, "."))
	if want := "1dir\t/dir/\n1link\t/link/\n0file.txt\t/file.txt\n0link.txt\t/link.txt\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestMenuErrors(t *testing.T) {
	b := menu.Builder{FS: site()}
	if _, err := b.Menu("no"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	for _, dir := range []string{"", "/", "../x", "d/"} {
		if _, err := b.Menu(dir); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Menu(%q): %v, want it invalid", dir, err)
		}
	}
}

// brokenFS is a tree in which some files cannot be opened.
type brokenFS struct {
	fstest.MapFS
	broken string
}

func (b brokenFS) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, b.broken) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.MapFS.Open(name)
}

func TestUnreadableMapAndTag(t *testing.T) {
	fsys := site()
	fsys["d/gophermap"] = &fstest.MapFile{Data: []byte("secret\n")}
	m := mustMenu(t, menu.Builder{FS: brokenFS{fsys, "gophermap"}, Host: "our.example", Port: 70}, "d")
	if got := show(m); got != listing || problems(m)[0] != "d/gophermap: cannot be read: permission denied" {
		t.Errorf("got %q\n%s", problems(m), got)
	}
	m = mustMenu(t, menu.Builder{FS: brokenFS{site(), "gophertag"}, Host: "our.example", Port: 70}, "d")
	if got := show(m); !strings.Contains(got, "1tagged\t/d/tagged/\n") || problems(m)[1] != "d/tagged/gophertag: cannot be read: permission denied" {
		t.Errorf("got %q\n%s", problems(m), got)
	}
}

func ExampleBuilder_Menu() {
	fsys := fstest.MapFS{
		"gophermap":    {Data: []byte("!A small hole\n0About\tabout.txt\n*\n")},
		"about.txt":    {Data: []byte("About this hole.\n")},
		"phlog/1.txt":  {Data: []byte("The first day.\n")},
		"pictures.zip": {Data: []byte("...")},
	}
	b := menu.Builder{FS: fsys, Host: "gopher.example", Port: 70}
	m, err := b.Menu(".")
	if err != nil {
		panic(err)
	}
	fmt.Print(strings.ReplaceAll(strings.ReplaceAll(string(m.AppendTo(nil)), "\t", " | "), "\r\n", "\n"))
	// Output:
	// iA small hole |  | error.host | 1
	// 0About | /about.txt | gopher.example | 70
	// 1phlog | /phlog/ | gopher.example | 70
	// 5pictures.zip | /pictures.zip | gopher.example | 70
	// .
}
