package sitesearch_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

var tree = map[string]string{
	"about.txt":           "This hole is about kettles\nand other things.\n",
	"gophermap":           "Welcome to the teapot museum\n0A fine label\tabout.txt\n1Elsewhere\t/kettle\tother.example\t70\n",
	"phlog/one.txt":       "The kettle boiled over\n",
	"phlog/draft.txt":     "secret kettle\n",
	"phlog/.robots":       "User-agent: *\nDisallow: /draft.txt\n",
	"phlog/.hidden":       "hidden kettle\n",
	"phlog/run.cgi":       "#!/bin/sh\necho kettle password\n",
	"pictures/kettle.png": "\x89PNG kettleinside\n",
	"pictures/noext":      "kettle in a file without extension\n",
	"vile/a b%41.txt":     "kettle \x1b[2J\tTAB\r\nzebra\n",
}

type fixture struct {
	*sitesearch.Searcher
	t    *testing.T
	dir  string
	home string // of users
}

// open serves a tree and waits until its index was built.
func open(t *testing.T, files map[string]string, change func(*sitesearch.Searcher)) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), home: t.TempDir(), Searcher: &sitesearch.Searcher{}}
	for name, text := range files {
		f.write(name, text)
	}
	if change != nil {
		change(f.Searcher)
	}
	s, err := site.Open(f.dir, site.Config{
		Users: f.home + "/*/public_gopher", UsersMinUID: max(1, os.Getuid()), Files: true,
		Reloaded: func(site.Reload) {
			f.Reloaded()
		},
	})
	treetest.Must(t, err)
	f.Site = s
	treetest.Must(t, f.Open(t.Context()))
	treetest.Run(t, s.Run, f.Run)
	f.until("the index is built", f.complete)
	return f
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	name = filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) until(what string, so func() bool) {
	f.t.Helper()
	treetest.Until(f.t, what, so)
}

func (f *fixture) complete() bool {
	_, complete := f.Progress()
	return complete
}

type recorder struct{ bytes.Buffer }

func (r *recorder) WriteItem(it menu.Item) error {
	_, _ = r.Write(it.AppendTo(nil))
	return nil
}

// ask returns the reply to a query.
func (f *fixture) ask(query string) string {
	f.t.Helper()
	var w recorder
	if err := (&gopher.Front{Host: &answer.Host{Site: f.Site,
		Beside: []answer.Source{f.Searcher}}}).ServeGopher(&w, &server.Request{RequestLine: selector.RequestLine{Selector: "/search", Query: query}}); err != nil {
		f.t.Fatal(err)
	}
	return strings.TrimSuffix(w.String(), menu.End)
}

// found returns the selectors of the results.
func (f *fixture) found(query string) string {
	var all []string
	for l := range strings.Lines(f.ask(query)) {
		if it, err := menu.ParseItem(l); err == nil && it.Type != menu.TypeInfo &&
			it.Type != menu.TypeSearch {
			all = append(all, string(it.Type)+it.Selector)
		}
	}
	return strings.Join(all, " ")
}

func TestSearch(t *testing.T) {
	f := open(t, tree, nil)
	for query, want := range map[string]string{
		"museum":           "1/",
		"boiled":           "0/phlog/one.txt",
		`"boiled over"`:    "0/phlog/one.txt",
		"fine label":       "0/about.txt 1/",
		"kettleinside":     "",
		"password":         "",
		"secret":           "",
		"hidden":           "",
		"extension":        "0/pictures/noext",
		"zebra":            "0/vile/a b%41.txt",
		"pict*":            "1/pictures/",
		"png kettle":       "I/pictures/kettle.png 1/pictures/",
		"nothingofthesort": "",
	} {
		if got := f.found(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	reply := f.ask("boiled")
	if !strings.Contains(reply, "i   The kettle *boiled* over\t") ||
		!strings.HasPrefix(reply, "i1 result for \"boiled\"\t") {
		t.Errorf("the line found is not in %q", reply)
	}
	if help := f.ask(" "); !strings.Contains(help, "7Search this site\t/search\t") ||
		!strings.Contains(help, "i9 names of texts") {
		t.Errorf("help is %q", help)
	}
	for _, query := range []string{"kettle", "zebra", "\u009b", strings.Repeat("é", 2000),
		`"""`, "*", "a*b*"} {
		for l := range strings.Lines(f.ask(query)) {
			if strings.ContainsAny(strings.TrimSuffix(l, "\r\n"), "\x1b\x00\r\n\u009b") ||
				strings.Count(l, "\t") != 3 {
				t.Errorf("%q: a line %q", query, l)
			}
		}
	}
	var w recorder
	if err := (&gopher.Front{Host: &answer.Host{Site: f.Site,
		Beside: []answer.Source{f.Searcher}}}).ServeGopher(&w, &server.Request{RequestLine: selector.RequestLine{Selector: "/searches"}}); server.KindOf(err) != server.NotFound {
		t.Error(err)
	}
}

func TestSearchAll(t *testing.T) {
	f := open(t, tree, func(s *sitesearch.Searcher) { s.SearchAll = true })
	if got := f.found("secret"); got != "0/phlog/draft.txt" {
		t.Errorf("with -search-all: %q", got)
	}
	if got := f.found("password"); got != "" {
		t.Errorf("the source of a program is found: %q", got)
	}
}

// The index follows files, directories and annotations.
func TestFollows(t *testing.T) {
	f := open(t, tree, nil)
	finds := func(query, want string) {
		t.Helper()
		f.until(query+" finds "+want, func() bool { return f.found(query) == want })
	}
	f.write("phlog/one.txt", "now about walrus\n")
	finds("walrus", "0/phlog/one.txt")
	finds("boiled", "")
	f.write("new/deep/er/x.txt", "a wombat\n")
	finds("wombat", "0/new/deep/er/x.txt")
	treetest.Must(t, os.Rename(filepath.Join(f.dir, "new/deep"), filepath.Join(f.dir, "moved")))
	finds("wombat", "0/moved/er/x.txt")
	f.write("moved/.robots", "Disallow: /\n")
	finds("wombat", "")
	treetest.Must(t, os.Remove(filepath.Join(f.dir, "moved/.robots")))
	finds("wombat", "0/moved/er/x.txt")
	treetest.Must(t, os.RemoveAll(filepath.Join(f.dir, "moved")))
	finds("wombat", "")
	f.write("gophermap", "Nothing here but a yak\n")
	finds("yak", "1/")
	finds("museum", "")
	f.write("wide.txt", "\xff\xfea\x00 \x00g\x00n\x00\xfc\x00\n\x00")
	finds("gnü", "0/wide.txt")
	if page := f.ask("gnü"); !strings.Contains(page, "a *gnü*") {
		t.Errorf("a text in UTF-16 is shown as %q", page)
	}
}

// What is beyond the bound is left out and told; the rest is found.
func TestMemory(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		var b strings.Builder
		for j := range 300 {
			fmt.Fprintf(&b, "w%dx%d ", i, j)
		}
		files[fmt.Sprintf("%02d.txt", i)] = b.String()
	}
	f := open(t, files, func(s *sitesearch.Searcher) { s.Memory = 1 << 17 })
	if _, left := f.Counts(); left == 0 ||
		f.found("w0x1") != "0/00.txt" && f.found("w1x1") != "0/01.txt" {
		t.Errorf("left out %d", left)
	}
	if help := f.ask(""); !strings.Contains(help, "did not fit into the index") {
		t.Errorf("the help does not say so: %q", help)
	}
}

// TestDeniedIsNotLeftOut: what a new policy denies does not count as what found no room,
// though nothing in its directory has changed, as when its annotation cannot be read.
func TestDeniedIsNotLeftOut(t *testing.T) {
	f := open(t, map[string]string{"d/a.txt": "aardvark\n", "d/e/b.txt": "aardvark\n",
		"other/c.txt": "badger\n"}, nil)
	f.write(".robots", "User-agent: *\nDisallow: /d/\n")
	f.until("d is denied", func() bool {
		texts, _ := f.Counts()
		return f.found("aardvark") == "" && texts == 3
	})
	f.write("other/.robots", "User-agent: *\nDisallow: /c.txt\n")
	f.until("a text is denied", func() bool {
		texts, left := f.Counts()
		return f.found("badger") == "" && texts == 2 && left == 0
	})
	f.write("other/.robots", "")
	f.until("it is allowed again", func() bool {
		texts, left := f.Counts()
		return f.found("badger") == "0/other/c.txt" && texts == 3 && left == 0
	})
}

// TestPolicyVisits: an annotation that says something new about a part of a directory costs
// a look at that part, not at the whole site.
func TestPolicyVisits(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("many/%d/x.txt", i)] = "a wombat\n"
	}
	f := open(t, files, nil)
	deny := func(i int) {
		f.write(".robots", fmt.Sprintf("User-agent: *\nDisallow: /many/%d/\n", i))
		f.until("it is denied", func() bool {
			n, _ := f.Counts()
			return n == 60 && f.found(fmt.Sprintf("wombat in:many/%d", i)) == ""
		})
	}
	deny(7)
	deny(8) // after this, nothing is left to do from the start
	before, _ := f.Progress()
	deny(9)
	f.until("the other is allowed again", func() bool {
		return f.found("wombat in:many/8") == "0/many/8/x.txt"
	})
	if n, _ := f.Progress(); n > before+15 {
		t.Errorf("%d directories were looked at", n-before)
	}
}

// TestTitlesComeFirst: a text whose first line or label has the word stands before one
// that has it more often.
func TestTitlesComeFirst(t *testing.T) {
	f := open(t, map[string]string{"1.txt": "2026-01-02 Walrus\n\nof something else",
		"2.txt":         "Other\n\n" + strings.Repeat("walrus wombat ", 9),
		"map/gophermap": "0A wombat\t3.txt\n", "map/3.txt": "none"}, nil)
	if got, want := f.found("walrus"), "0/1.txt 0/2.txt"; got != want {
		t.Errorf("by its first line: %q, want %q", got, want)
	}
	if got := f.found("wombat"); !strings.HasPrefix(got, "0/map/3.txt ") {
		t.Errorf("by its label: %q", got)
	}
}

// TestDirectoryIsFoundByItsTag: a directory is found by what its gophertag calls it,
// and so is that whose menu says so, unless the tag is a program.
func TestDirectoryIsFoundByItsTag(t *testing.T) {
	f := open(t, map[string]string{"room/gophertag": "The walrus room\n", "room/a.txt": "a",
		"prog/gophertag": "#!/bin/sh walrus\n", "prog/b.txt": "b"}, nil)
	if got, want := f.found("walrus"), "1/room/ 1/"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestUsersAreFound: the trees of users, which no directory lists, are in the index as long
// as they are there.
func TestUsersAreFound(t *testing.T) {
	f := open(t, tree, nil)
	finds := func(query, want string) {
		t.Helper()
		f.until(query+" finds "+want, func() bool { return f.found(query) == want })
	}
	ann := filepath.Join(f.home, "ann")
	treetest.Write(t, ann, map[string]string{"public_gopher/cat.txt": "The cat purrs at a kettle\n"})
	if os.Getuid() == 0 {
		for _, name := range []string{ann, ann + "/public_gopher", ann + "/public_gopher/cat.txt"} {
			treetest.Must(t, os.Chown(name, 12345, 12345))
		}
	}
	finds("purrs in:~ann", "0/~ann/cat.txt")
	f.write("phlog/two.txt", "purrs\n")
	finds("purrs in:phlog", "0/phlog/two.txt")
	finds("purrs in:/~ann/", "0/~ann/cat.txt")
	treetest.Must(t, os.RemoveAll(ann))
	finds("purrs", "0/phlog/two.txt")
}
