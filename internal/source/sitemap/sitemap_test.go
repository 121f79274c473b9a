package sitemap

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

type fixture struct {
	*Sitemaps
	t    *testing.T
	dir  string
	host *answer.Host
	kept bool // lists are kept; else each request makes them
}

// serve serves a tree whose sitemap has so many URLs in a part.
func serve(t *testing.T, files map[string]string, most int) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), Sitemaps: &Sitemaps{most: most}}
	treetest.Write(t, f.dir, files)
	s, err := site.Open(f.dir, site.Config{Files: true})
	treetest.Must(t, err)
	f.Site, f.host = s, &answer.Host{Site: s, Beside: []answer.Source{f.Sitemaps}}
	treetest.Run(t, s.Run)
	return f
}

type reply struct {
	bytes.Buffer
	menu bool
}

func (r *reply) WriteItem(menu.Item) error { r.menu = true; return nil }

// age makes all lists too old.
func (f *fixture) age() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for top, l := range f.lists {
		old := *l
		old.made = old.made.Add(-maxAge)
		f.lists[top] = &old
	}
}

func (f *fixture) ask(sel string) (string, error) {
	if !f.kept {
		f.age()
	}
	var w reply
	err := (&gopher.Front{Host: f.host}).ServeGopher(&w,
		&server.Request{RequestLine: selector.RequestLine{Selector: sel},
			Host: "gopher.example", Port: 70})
	return w.String(), err
}

// urls returns the URLs of a sitemap, and of all parts of an index.
func (f *fixture) urls(sel string) (all []string) {
	f.t.Helper()
	text, err := f.ask(sel)
	var s struct {
		XMLName  xml.Name
		URLs     []string `xml:"url>loc"`
		Sitemaps []string `xml:"sitemap>loc"`
		Times    []string `xml:"url>lastmod"`
	}
	if err == nil {
		err = xml.Unmarshal([]byte(text), &s)
	}
	if err != nil || s.XMLName.Space != "http://www.sitemaps.org/schemas/sitemap/0.9" {
		f.t.Fatalf("%s: %v: %q", sel, err, text)
	}
	for _, at := range s.Times {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			f.t.Error(err)
		}
	}
	all = s.URLs
	for i, loc := range s.Sitemaps {
		u, err := selector.ParseURL(loc)
		treetest.Must(f.t, err)
		if i == 0 {
			if u.Selector != "/sitemap-recent.xml" {
				f.t.Errorf("the index begins with %s", loc)
			}
			continue
		}
		part := f.urls(u.Selector)
		if len(part) > cmp.Or(f.most, maxURLs) {
			f.t.Errorf("%s has %d URLs", loc, len(part))
		}
		all = append(all, part...)
	}
	return all
}

// TestSitemapIsThePolicy: a sitemap, in parts or not, has each resource once that robots may
// have and that is answered, and nothing else, whatever annotations say; and so have the
// changes.
func TestSitemapIsThePolicy(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	for range 12 {
		files, names := map[string]string{},
			[]string{"a", "b", "b-c", "b c", "ü&'<", "x.cgi", ".hidden", "a.txt", "b.png", "noext"}
		for range 40 {
			name := ""
			for range rnd.IntN(3) {
				name += pick("d", "d-", "d.e", "e f", "private", ".git") + "/"
			}
			files[name+pick(names...)] = pick("text\n", "\x00", "#!/bin/sh\n", "")
			files[name+"z.gph"] = "a map\n" // one that is a program is no menu
			if rnd.IntN(4) == 0 {
				files[name+".robots"] = "User-agent: *\n" +
					pick("Disallow: /a\n", "Disallow: /\nAllow: /b\n", "Disallow: /*.txt$\n",
						"Disallow: /d/\nAllow: /d/b$\n",
						"Allow: /\n") + "\nUser-agent: other\nDisallow: /\n"
			}
		}
		f := serve(t, files, []int{0, 1, 3, 7}[rnd.IntN(4)])
		snap, err := f.Site.Snapshot(t.Context())
		treetest.Must(t, err)
		var want []string
		view := f.Site.View(t.Context())
		treetest.Must(t, filepath.WalkDir(f.dir, func(file string, e os.DirEntry, err error) error {
			name, _ := filepath.Rel(f.dir, file)
			list, _ := view.ReadDir(filepath.Dir(name))
			served := name == "." || slices.ContainsFunc(list, func(l os.DirEntry) bool {
				return l.Name() == e.Name()
			})
			if !served && e.IsDir() {
				return filepath.SkipDir
			}
			if _, gone := f.ask(selector.Canonical(name, e.IsDir())); served && gone == nil &&
				snap.Compiled.Explain("*", name, e.IsDir()).Allowed {
				want = append(want, selector.Canonical(name, e.IsDir()))
			}
			return err
		}))
		selectors := func(sel string) (got []string) {
			for _, loc := range f.urls(sel) {
				u, err := selector.ParseURL(loc)
				treetest.Must(t, err)
				if got = append(got, "/"+
					strings.TrimPrefix(u.Selector,
						"/")); (u.Type == menu.TypeMenu) != (strings.HasSuffix(u.Selector, "/") ||
					u.Selector == "" || strings.HasSuffix(u.Selector, ".gph")) {
					t.Errorf("the type of %s", loc)
				}
			}
			slices.Sort(got)
			return got
		}
		slices.Sort(want)
		if got := selectors(Selector); !slices.Equal(got, want) {
			t.Errorf("%d in a part: %q, want %q of %q", f.most, got, want, files)
		}
		if !treetest.Eventually(func() bool {
			return slices.Equal(selectors("/sitemap-recent.xml"), want)
		}) {
			t.Fatalf("changed: %q, want %q", selectors("/sitemap-recent.xml"), want)
		}
	}
}

// TestListedIsAnswered: everything that a sitemap lists can be fetched: a program that nobody runs cannot.
func TestListedIsAnswered(t *testing.T) {
	f := serve(t, map[string]string{"gophermap": "1Run\trun.txt\n1Map\tmap.gph\n",
		"run.txt": "#!/bin/sh\n", "map.gph": "[0|a|a.txt||]\n",
		"prog.gph": "#!/bin/sh\n", "a.txt": "a\n", "d/index.gph": "#!/bin/sh\n",
		"unknown": "text\n", "c.cgi": "x\n"}, 0)
	all := f.urls(Selector)
	for _, url := range all {
		u, err := selector.ParseURL(url)
		treetest.Must(t, err)
		if _, err := f.ask(u.Selector); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if want := "gopher://gopher.example/1/map.gph"; len(all) != 5 || !slices.Contains(all, want) {
		t.Errorf("%q", all)
	}
}

// TestParts: parts are filled with whole top-level directories; a larger one is cut.
func TestParts(t *testing.T) {
	files := map[string]string{"0.txt": "x"}
	for dir, n := range map[string]int{"a": 1, "b": 2, "c": 9, "d": 1} { // and each directory itself
		for i := range n {
			files[fmt.Sprintf("%s/%d.txt", dir, i)] = "x"
		}
	}
	f := serve(t, files, 4)
	for i, want := range []string{"/ 0.txt a/ a/0.txt", "b/ b/0.txt b/1.txt",
		"c/ c/0.txt c/1.txt c/2.txt", "c/3.txt c/4.txt c/5.txt c/6.txt",
		"c/7.txt c/8.txt d/ d/0.txt"} {
		text, err := f.ask(fmt.Sprintf("/sitemap-%d.txt", i+1))
		treetest.Must(t, err)
		var got []string
		for line := range strings.Lines(text) {
			u, err := selector.ParseURL(strings.TrimSpace(line))
			treetest.Must(t, err)
			got = append(got, cmp.Or(strings.TrimPrefix(u.Selector, "/"), "/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("part %d: %q, want %q", i+1, got, want)
		}
	}
	if _, err := f.ask("/sitemap-6.xml"); server.KindOf(err) != server.NotFound {
		t.Errorf("a part that is none: %v", err)
	}
	if got, err := f.ask("sitemap.txt"); err != nil || strings.Count(got, "\n") != 6 ||
		!strings.HasPrefix(got, "gopher://gopher.example/0/sitemap-recent.txt\n") {
		t.Errorf("%v: %q", err, got)
	}
}

// TestListsAreKept: a list is made again when it is old, or when other rules hold in its
// top-level directory; an author's rules cost nobody else's list.
func TestListsAreKept(t *testing.T) {
	f := serve(t, map[string]string{"a/1.txt": "x", "b/1.txt": "x", "b/0.txt": "x",
		"b/.robots": "Disallow: /0.txt\n", "c.txt": "x"}, 0)
	f.kept = true
	lists := func() map[string]*list {
		_, err := f.ask("/sitemap.txt")
		treetest.Must(t, err)
		f.mu.Lock()
		defer f.mu.Unlock()
		return maps.Clone(f.lists)
	}
	before := lists()
	treetest.Write(t, f.dir, map[string]string{"a/2.txt": "x", "a/.robots": "Disallow: /1.txt\n"})
	var after map[string]*list
	treetest.Until(t, "the list of a is made again", func() bool {
		after = lists()
		return after["a"] != before["a"]
	})
	if after["b"] != before["b"] || after[""] != before[""] {
		t.Errorf("made again: b %v, the root %v", after["b"] != before["b"],
			after[""] != before[""])
	}
	if text, _ := f.ask("/sitemap.txt"); strings.Contains(text, "/a/1.txt") ||
		!strings.Contains(text, "/a/2.txt") {
		t.Errorf("%q", text)
	}
	snap := f.Site.Now()
	treetest.Write(t, f.dir, map[string]string{"b/2.txt": "x"})
	treetest.Until(t, "the change is in the snapshot", func() bool {
		_, ok := f.Site.Now().Changes(snap)["b"]
		return ok
	})
	if got := lists(); got["b"] != before["b"] {
		t.Error("a list is made again before its age")
	}
	f.age()
	if got := lists(); got["b"] == before["b"] ||
		len(got["b"].entries) <= len(before["b"].entries) {
		t.Error("a list that is old stays")
	}
}

// TestURLs: each URL is what the front makes of the selector, whatever is in the name.
func TestURLs(t *testing.T) {
	names := []string{"a b", "ü&'<", "100%", "q?x", "a#b", "é", "[x]", "a:b", "tab"}
	files := map[string]string{}
	for _, name := range names {
		files[name+".txt"] = "x"
		files[name+"/i.png"] = "x"
	}
	f := serve(t, files, 0)
	for _, form := range []*answer.Format{{}, {Web: true}} {
		for _, r := range []server.Request{{Host: "gopher.example", Port: 70},
			{Host: "::1", Port: 7070, TLS: true},
			{Host: "gemini.example", Port: 1965, Protocol: "gemini"}} {
			r := r.WithContext(t.Context())
			r.Selector = "/sitemap.txt"
			a, err := f.host.Ask(r, form)
			treetest.Must(t, err)
			text, err := io.ReadAll(a.Stream)
			treetest.Must(t, err)
			q := &answer.Asked{Host: f.host, Request: r, Format: form}
			for _, name := range names {
				for _, want := range []string{q.URL(menu.TypeText, "/"+name+".txt"),
					q.URL(menu.TypeMenu, "/"+name+"/"), q.URL(menu.TypeImage, "/"+name+"/i.png")} {
					if !strings.Contains(string(text), want+"\n") {
						t.Errorf("%s is not in\n%s", want, text)
					}
				}
			}
		}
	}
}

// BenchmarkPart writes a part of 50,000 URLs from the lists.
func BenchmarkPart(b *testing.B) {
	dir := b.TempDir()
	files := map[string]string{}
	for i := range 50_000 {
		files[fmt.Sprintf("d%d/a text %d.txt", i/500, i)] = ""
	}
	treetest.Write(b, dir, files)
	tree, err := site.Open(dir, site.Config{Watch: site.WatchOff, Files: true})
	treetest.Must(b, err)
	treetest.Run(b, tree.Run)
	host := &answer.Host{Site: tree, Beside: []answer.Source{&Sitemaps{Site: tree}}}
	ask := func() {
		var w reply
		treetest.Must(b, (&gopher.Front{Host: host}).ServeGopher(&w,
			&server.Request{RequestLine: selector.RequestLine{Selector: "/sitemap-1.xml"},
				Host: "gopher.example", Port: 70}))
	}
	ask()
	b.ReportAllocs()
	for b.Loop() {
		ask()
	}
}

// TestStreamed: a part is made while it is sent. What is denied meanwhile is not in the rest,
// and clients that read nothing take no place from others.
func TestStreamed(t *testing.T) {
	files := map[string]string{"z/last.txt": "x"}
	for i := range 5000 {
		files[fmt.Sprintf("many/%04d-%040d.txt", i, i)] = "x"
	}
	f := serve(t, files, 0)
	_, err := f.Site.Snapshot(t.Context())
	treetest.Must(t, err)
	var all []*answer.Value
	for range 40 { // more than the Limiter has places
		a, err := f.host.Ask(&server.Request{RequestLine: selector.RequestLine{Selector: "/sitemap.txt"}, Host: "gopher.example", Port: 70}, &answer.Format{})
		treetest.Must(t, err)
		defer a.Close()
		if _, err := a.Stream.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	rest, err := io.ReadAll(all[0].Stream)
	if n := strings.Count(string(rest), "\n"); err != nil || n != 5004 ||
		!strings.Contains(string(rest), "/z/last.txt\n") {
		t.Fatalf("%d URLs, %v", n, err)
	}
	treetest.Write(t, f.dir, map[string]string{"z/.robots": "Disallow: /\n"})
	treetest.Until(t, "z is denied", func() bool {
		return f.Site.Now().Compiled.DeniedToAll("z", true)
	})
	if rest, err := io.ReadAll(all[1].Stream); err != nil ||
		strings.Contains(string(rest), "/z/") || !strings.Contains(string(rest), "/many/4999-") {
		t.Errorf("%v, and it ends with %q", err, rest[max(0, len(rest)-200):])
	}
}

// TestRecent: the changes are the newest first, without what is gone or denied.
func TestRecent(t *testing.T) {
	f := serve(t, map[string]string{"d/old.txt": "x", "d/a.txt": "x", "e/b.txt": "x"}, 0)
	until := func(what string, so func(list string) bool) {
		t.Helper()
		treetest.Until(t, what, func() bool {
			text, err := f.ask("/sitemap-recent.txt")
			return err == nil && so(text)
		})
	}
	last := time.Now()
	edit := func(name string) { // until its time is a later one: the kernel's clock ticks every few milliseconds
		for {
			treetest.Write(t, f.dir, map[string]string{name: "changed"})
			info, err := os.Stat(filepath.Join(f.dir, name))
			treetest.Must(t, err)
			if info.ModTime().After(last) {
				last = info.ModTime()
				return
			}
		}
	}
	first := func(name string) func(string) bool {
		return func(list string) bool {
			return strings.HasPrefix(list, "gopher://gopher.example/0/"+name+"\n")
		}
	}
	until("all", func(list string) bool { return strings.Count(list, ".txt\n") == 3 })
	edit("d/a.txt")
	until("an edit comes first", first("d/a.txt"))
	edit("e/b.txt")
	until("an edit comes first", first("e/b.txt"))
	treetest.Must(t, os.Remove(filepath.Join(f.dir, "e/b.txt")))
	until("what is gone is not there", func(list string) bool {
		return !strings.Contains(list, "b.txt")
	})
	treetest.Write(t, f.dir, map[string]string{".robots": "Disallow: /d/\n"})
	until("what is denied is not there", func(list string) bool {
		return !strings.Contains(list, "/d/") && list != ""
	})
}
