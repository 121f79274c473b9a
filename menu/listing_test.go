package menu_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

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
	if _, err := b.Menu(context.Background(), "no"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	for _, dir := range []string{"", "/", "../x", "d/"} {
		if _, err := b.Menu(context.Background(), dir); !errors.Is(err, fs.ErrInvalid) {
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
	m := mustMenu(t, menu.Builder{FS: brokenFS{fsys, "gophermap"}, Host: "our.example",
		Port: 70}, "d")
	if got := show(m); got != listing ||
		problems(m)[0] != "d/gophermap: cannot be read: permission denied" {
		t.Errorf("got %q\n%s", problems(m), got)
	}
	m = mustMenu(t, menu.Builder{FS: brokenFS{site(), "gophertag"}, Host: "our.example",
		Port: 70}, "d")
	if got := show(m); !strings.Contains(got, "1tagged\t/d/tagged/\n") ||
		problems(m)[1] != "d/tagged/gophertag: cannot be read: permission denied" {
		t.Errorf("got %q\n%s", problems(m), got)
	}
}

func TestNewestFirst(t *testing.T) {
	for _, tt := range []struct{ names, want string }{
		{"2026-01-02.txt 2026-01-10.txt 2025-12-31.txt",
			"2026-01-10.txt 2026-01-02.txt 2025-12-31.txt"},
		{"20260102-a.txt 20260110.txt README 20251231.txt",
			"20260110.txt 20260102-a.txt 20251231.txt README"},
		{"2026_01_02.txt 2026.03.txt 2026-02-x.txt about",
			"2026.03.txt 2026-02-x.txt 2026_01_02.txt about"},
		{"2026-01-02-a.txt 2026-01-02-b.txt", "2026-01-02-a.txt 2026-01-02-b.txt"},
		{"2024-01/x 2025-01/x 2026-01-01.txt z.txt", "2025-01 2024-01 2026-01-01.txt z.txt"},
		{"2026-01-02.txt a b", "2026-01-02.txt a b"},                                             // most have none
		{"2026-01-02.txt 2026-13-02.txt", "2026-01-02.txt 2026-13-02.txt"},                       // no month
		{"20260102 202601021 1899-01-01 2100-01-01", "1899-01-01 2100-01-01 20260102 202601021"}, // longer numbers, other centuries
		{"2026-01-02.txt", "2026-01-02.txt"},
	} {
		files := map[string]string{}
		for name := range strings.FieldsSeq(tt.names) {
			files[name] = ""
		}
		m := mustMenu(t, menu.Builder{FS: tree(files)}, ".")
		var got []string
		for _, it := range m.Items {
			got = append(got, it.Label)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s are listed as %s, want %s", tt.names, s, tt.want)
		}
	}
}

func TestDates(t *testing.T) {
	day := time.Date(2026, 9, 6, 23, 0, 0, 0, time.UTC)
	long := strings.Repeat("x", 60)
	fsys := fstest.MapFS{
		"a.txt":        {Data: make([]byte, 999), ModTime: day},
		"ünï.bin":      {Data: make([]byte, 1_400), ModTime: day.AddDate(0, 0, 1)},
		"u\u0308n.txt": {Data: []byte("x"), ModTime: day},
		"図.txt":        {Data: []byte("x"), ModTime: day},
		"dir":          {Mode: fs.ModeDir, ModTime: day}, "dir/x": {},
		long:            {Data: []byte("x"), ModTime: day},
		"tag/gophertag": {Data: []byte("A label")}, "tag": {Mode: fs.ModeDir, ModTime: day},
	}
	m := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70,
		BuildOptions: menu.BuildOptions{Dates: true}}, ".")
	pad := strings.Repeat(" ", 44-5)
	want := "1dir  " + pad + "  2026-09-06\t/dir/\n1A label" + pad[2:] +
		"  2026-09-06\t/tag/\n0a.txt" + pad + "  2026-09-06      999 B\t/a.txt\n" +
		"0u\u0308n.txt" + pad[1:] + "  2026-09-06        1 B\t/u\u0308n.txt\n" +
		"0" + long + "  2026-09-06        1 B\t/" + long + "\n9ünï.bin" + pad[2:] +
		"  2026-09-07     1.4 kB\t/ünï.bin\n" +
		"0図.txt" + pad[1:] + "  2026-09-06        1 B\t/図.txt\n"
	if got := show(m); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 99_949: "99.9 kB",
		99_950: "100 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1<<63 - 1: "9.2 EB"} {
		if got := menu.SizeText(n); got != want {
			t.Errorf("SizeText(%d) = %q, want %q", n, got, want)
		}
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
	m, err := b.Menu(context.Background(), ".")
	if err != nil {
		panic(err)
	}
	fmt.Print(strings.ReplaceAll(strings.ReplaceAll(string(m.AppendTo(nil)), "\t",
		" | "), "\r\n", "\n"))
	// Output:
	// iA small hole |  | error.host | 1
	// 0About | /about.txt | gopher.example | 70
	// 1phlog | /phlog/ | gopher.example | 70
	// 5pictures.zip | /pictures.zip | gopher.example | 70
	// .
}
