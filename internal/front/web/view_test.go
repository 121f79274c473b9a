package web

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
)

// mainOf returns the main part of a page.
func mainOf(page string) string {
	_, rest, _ := strings.Cut(page, "<main>")
	part, _, _ := strings.Cut(rest, "</main>")
	return part
}

// holds reports what a text has, or lacks ("!" before it).
func (s *served) holds(path, text string, wants ...string) {
	s.t.Helper()
	for _, want := range wants {
		without, not := strings.CutPrefix(want, "!")
		if strings.Contains(text, without) == not {
			s.t.Errorf("%s: %q\n%.1500s", path, want, mainOf(text))
		}
	}
}

// A title stands once: in the tab, and as the only heading of the first level.
func TestOneTitle(t *testing.T) {
	s := start(t, nil)
	s.write("t/gophermap", "!The title\n\nWords.\n0A label 2026-01-02\tdated.txt\n")
	s.write("t/dated.txt", "Title: A label\n=======\n\nBody.\n")
	s.write("u/gophermap", "=========\nThe title\n=========\n\n!The title\nWords.\n")
	s.write("mid/gophermap", "Welcome to\nThe title\n!The title\n")
	s.write("v/gophermap", "!The title\n  /\\_/\\ drawn\n")
	s.write("w/gophermap", "+-----------+\n| The title |   x\n+-----------+\n#\n!The title\n")
	s.write("t/2026-03-04-x.md", "# A *walk*\n\nText.\n")
	s.write("t/art.txt", ".d88b.  o888o\n888888  88888\n\nMore.\n")
	s.write("t/box.txt", " ┌───────┐\n │ A box │\n └───────┘\n")
	s.write("t/matter.md", "---\ntitle: Front\ndate: 2026-01-02\n---\n\nMore.\n")
	long := strings.Repeat("words in a row ", 30)
	s.write("t/long.txt", long+"end.\n\nMore.\n")
	s.write("t/2026-05-06-d.txt", "2026-05-06   A day\n\nBody.\n")
	s.write("t/url.txt", "See https://e.org/ first.\n\nMore.\n")
	for path, want := range map[string][]string{
		"/t/": {"<h1>The title</h1>", "!<pre", "Words."},
		"/t/dated.txt": {`<h1 class="hidden">A label</h1>`,
			"Title: A label\n=======\n", "Body."},
		"/u/":                 {"<h1>The title</h1>", "!=====", "Words."},
		"/mid/":               {`<h1 class="hidden">The title</h1>`, "Welcome to"},
		"/v/":                 {"<h1>The title</h1>", "drawn"},
		"/w/":                 {`<h1 class="hidden">The title</h1>`, "| The title |"},
		"/t/art.txt":          {"<h1>art.txt</h1>", ".d88b.  o888o\n888888"},
		"/t/box.txt":          {"<h1>box.txt</h1>", " ┌───────┐\n │ A box │"},
		"/t/matter.md":        {"<h1>Front</h1>", "!date", "More."},
		"/t/long.txt":         {"<h1>long.txt</h1>", long + "end."},
		"/t/2026-05-06-d.txt": {`<h1 class="hidden">A day</h1>`, "!<time", "2026-05-06   A day"},
		"/t/url.txt": {`<h1 class="hidden">See https://e.org/ first.</h1>`,
			`See <a href="https://e.org/"`, "More."},
		"/t/2026-03-04-x.md": {"<h1>A walk</h1>", "!<h2", `<time datetime="2026-03-04">`,
			"<p>Text.</p>"},
	} {
		_, page := s.get(path)
		s.holds(path, page, "<title>"+
			strings.NewReplacer("<h1>", "", "</h1>", "", `<h1 class="hidden">`,
				"").Replace(want[0])+"</title>")
		s.holds(path, mainOf(page), want...)
		shown := strings.Count(mainOf(page), "The title")
		if strings.Count(page, "<h1") != 1 || path == "/t/" && shown != 1 ||
			path == "/v/" && shown != 1 {
			t.Errorf("%s: a title %d times:\n%s", path, shown, mainOf(page))
		}
	}
}

// What lies around a dated text: its directory, and what its menu links before and after it.
func TestNeighbors(t *testing.T) {
	s := start(t, nil)
	s.write("log/gophermap",
		"!The log\n0Third\t2026-03-03.txt\n0About\tabout.txt\n9Zip\t2026-01-15.zip\n0Far\t/phlog/2026-01-02.txt\n0First\t2026-01-01.txt\n0Second\t2026-02-02.txt\n")
	for _, name := range []string{"2026-01-01", "2026-02-02", "2026-02-20-draft", "2026-03-03"} {
		s.write("log/"+name+".txt", "x\n")
	}
	for path, want := range map[string][]string{
		"/log/2026-01-01.txt": {"!rel=\"prev\"", `rel="next" href="/log/2026-02-02.txt"`,
			"Newer</span> Second", `rel="up" href="/log/"`, "Up</span> The log"},
		"/log/2026-02-02.txt": {`rel="prev" href="/log/2026-01-01.txt"`,
			`rel="next" href="/log/2026-03-03.txt"`, "Older</span> First"},
		"/log/2026-03-03.txt": {`rel="prev" href="/log/2026-02-02.txt"`,
			`!rel="next"`, "!draft"},
		"/log/2026-02-20-draft.txt": {"!rel=\"prev\"", "!rel=\"next\"", `rel="up"`},
		"/":                         {`!rel="up"`, "!class=\"turn\""},
		"/a.txt":                    {`rel="up" href="/"`, `href="/a.txt?raw"`},
		"/numbers":                  {"!?raw"},
	} {
		_, page := s.get(path)
		s.holds(path, page, want...)
	}
}

// TestDeniedIsNotShown: a page that robots may fetch tells nothing of what they must not: no
// title of a neighbor or of a directory on the way. One that is denied itself tells all.
func TestDeniedIsNotShown(t *testing.T) {
	s := start(t, nil)
	s.write("log/gophermap", "!The log\n*\n")
	for day, title := range map[string]string{"01": "First", "02": "Whisper", "03": "Third",
		"04": "Fourth"} {
		s.write("log/2026-01-"+day+".txt", title+"\n")
	}
	s.write("shut/gophermap", "!Whispers\n*\n")
	s.write("shut/open.txt", "An open text\n")
	s.write("shut/2026-02-01.txt", "One\n")
	s.write("shut/2026-02-02.txt", "Two\n")
	s.write(".robots", "Disallow: /log/2026-01-02.txt\nDisallow: /shut/\nAllow: /shut/open.txt\n")
	treetest.Eventually(func() bool {
		_, robots := s.get("/robots.txt")
		return strings.Contains(robots, "open.txt")
	})
	for path, want := range map[string][]string{
		"/log/2026-01-01.txt": {"!2026-01-02", "!Whisper", "Newer</span> Third",
			"Up</span> The log"},
		"/log/2026-01-03.txt": {"!2026-01-02", "!Whisper", "Older</span> First",
			"Newer</span> Fourth"},
		"/log/2026-01-02.txt":  {"Whisper", "Older</span> First", "Newer</span> Third"},
		"/shut/open.txt":       {"!Whispers", "Up</span> shut", "An open text"},
		"/shut/2026-02-01.txt": {"Up</span> Whispers", "Newer</span> Two"},
	} {
		_, page := s.get(path)
		s.holds(path, page, want...)
	}
}

// runs counts the programs of menus.
type runs struct{ atomic.Int64 }

func (*runs) Runs(string) bool { return true }
func (r *runs) Run(*answer.Asked, string, string) (string, error) {
	r.Add(1)
	return "iA line\n", nil
}

// TestFaultsMakeNothing: a page for a name that is not there runs no program of the root's
// menu, and makes no page of it.
func TestFaultsMakeNothing(t *testing.T) {
	s := start(t, nil)
	programs := &runs{}
	s.host.Runner = programs
	s.write("gophermap", "!The site\n=part.sh\n")
	s.write("part.sh", "#!/bin/sh\n")
	for i := range 20 {
		path := fmt.Sprintf("/none%d", i)
		_, page := s.get(path)
		s.holds(path, page, "There is nothing at "+path)
	}
	if n := programs.Load(); n != 0 {
		t.Errorf("programs ran %d times", n)
	}
	if _, page := s.get("/"); programs.Load() != 1 || !strings.Contains(page, "A line") {
		t.Errorf("the root's page ran programs %d times: %s", programs.Load(), mainOf(page))
	}
}

// Texts and menus have no label of their type; everything else has an icon with a name.
func TestIcons(t *testing.T) {
	s := start(t, nil)
	s.write("i/gophermap", "0Text\ta.txt\n1Menu\t/phlog/\n5Zip\t/x.zip\nIPicture\t/p.png\nsSound\t/s.mp3\nhWeb\tURL:https://e.org/\n\n  drawn\n9  Zip too\t/x.zip\n")
	_, page := s.get("/i/")
	s.holds("/i/", page, `<li><a href="/i/a.txt">Text</a></li>`,
		`<li><a href="/phlog/">Menu</a></li>`,
		`Zip</a> <svg class="i" viewBox="0 0 16 16" role="img" aria-label="archive"`,
		`aria-label="picture"`, `aria-label="sound"`, `aria-label="on another server"`,
		`<symbol id="i-sound"`, `  <a href="/x.zip">Zip too</a> <svg`, `!<symbol id="i-video"`)
	for name := range icons {
		if icons[name].name == "" || icons[name].path == "" {
			t.Errorf("%s: %+v", name, icons[name])
		}
	}
	for kind, name := range iconNames {
		if icons[name].path == "" {
			t.Errorf("%s: no icon %s", kind, name)
		}
	}
}

// A long list has pages, and finds what it has; no query is kept for others.
func TestLongList(t *testing.T) {
	s := start(t, nil)
	var lines strings.Builder
	lines.WriteString("!Long\n")
	for i := range 1200 {
		fmt.Fprintf(&lines, "0Name %d\t/n%d.txt\n", i, i)
	}
	s.write("long/gophermap", lines.String())
	s.write("longer/gophermap", strings.Repeat("0Name\t/n.txt\n", 5500))
	for path, want := range map[string][]string{
		"/long/": {"Name 0<", "Name 498<", "!Name 500<",
			`<a href="/long/?page=2">2</a>`, `<li aria-current="page">1</li>`,
			`<form class="find" action="/long/">`},
		"/long/?page=3":    {"!Name 0<", "Name 1199<", `/long/?page=3">`},
		"/long/?page=9999": {"Name 1199<", `<li aria-current="page">3</li>`},
		"/longer/?page=6": {`<a href="/longer/">1</a>`, `!?page=2"`, `?page=3"`,
			`<li aria-current="page">6</li>`, `?page=9"`, `!?page=10"`, `?page=11"`},
		"/longer/?page=11":   {"<li>…</li>", "!<li>…</li>\n<li>…"},
		"/long/?page=x":      {"Name 0<"},
		"/long/?q=name+119":  {"12 results for", "Name 119<", "Name 1199<", "!Name 12<", "noindex"},
		"/long/?q=%22%3E%3C": {`Nothing found for &#34;\&#34;&gt;&lt;&#34;`},
		"/long/?q=1":         {"The first 500 of 501", "The whole list"},
		"/phlog/?q=first":    {"results for", "!2026-01-02.txt<"},
	} {
		if path == "/phlog/?q=first" {
			want = []string{"Nothing found for &#34;first&#34;"}
		}
		if path == "/long/?q=1" {
			want[0] = "The whole list"
		}
		_, page := s.get(path)
		s.holds(path, page, want...)
	}
	if _, page := s.get("/long/"); !strings.Contains(page, "Name 0<") ||
		strings.Contains(page, "whole list") {
		t.Error("the list of a search is kept for others")
	}
}

// A page that cannot be shown is one of the site.
func TestFaults(t *testing.T) {
	s := start(t, func(s *served) { s.pages.Search = true })
	s.write("gophermap", "!The site\n")
	for path, want := range map[string][]string{
		"/nope": {`<a class="site" href="/">The site</a>`,
			"<h1>There is nothing at /nope</h1>",
			`<a href="/">Start page</a>, or <a href="/search">search</a>`, `role="search"`,
			`<html lang="en">`},
		"/%1b%5b31m%3Cb%3E":            {"This is no path", "!<b>", "Start page"},
		"/%3Cb%3E":                     {"There is nothing at /&lt;b&gt;"},
		"/" + strings.Repeat("x", 500): {"There is nothing at /" + strings.Repeat("x", 79) + "..."},
		"/busy":                        {"The server is busy", "The site"},
	} {
		var res *http.Response
		var page string
		treetest.Eventually(func() bool { // an error page makes nothing: the name comes from a page that is in memory
			_, _ = s.get("/")
			res, page = s.get(path)
			return strings.Contains(page, "The site") || path != "/nope" && path != "/busy"
		})
		s.holds(path, page, want...)
		if retry := res.Header.Get("Retry-After"); (retry != "") != (path == "/busy") {
			t.Errorf("%s: try again after %q", path, retry)
		}
		if res.Header.Get("Robots-Tag") != "noindex" ||
			res.Header.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
	s.write("empty/.x", "")
	s.write("empty.txt", "\n \n")
	for path, want := range map[string]string{"/empty/": "This directory is empty.",
		"/empty.txt": "This text is empty."} {
		if !treetest.Eventually(func() bool {
			_, page := s.get(path)
			return strings.Contains(page, want)
		}) {
			t.Errorf("%s: no %q", path, want)
		}
	}
}

// What the owner adds: a line, an icon, a license, a language, a theme.
func TestOwnersTouch(t *testing.T) {
	s := start(t, func(s *served) { s.host.Lang, s.pages.Theme = "pt-BR", "paper" })
	_, page := s.get("/a.txt")
	s.holds("/a.txt", page, `<html lang="pt-BR">`, string(looks["paper"].Style),
		`<link rel="icon" href="data:,">`, "!class=\"owner\"")
	s.write(".footer", "Kept by <Ann>\nsecond line\n")
	s.write("favicon.png", "\x89PNG")
	s.write(".robots", "License: https://e.org/l\nDisallow: /no/\n")
	if !treetest.Eventually(func() bool {
		res, page := s.get("/a.txt")
		return strings.Contains(page, `<p class="owner">Kept by &lt;Ann&gt;</p>`) &&
			strings.Contains(page, `<link rel="icon" href="/favicon.png">`) &&
			!strings.Contains(page, "second line") &&
			res.Header.Get("Link") == `<https://e.org/l>; rel="license"`
	}) {
		res, page := s.get("/a.txt")
		t.Error(res.Header, page)
	}
	if res, _ := s.get("/.footer"); res.StatusCode != http.StatusNotFound {
		t.Error(".footer is served")
	}
}

// Texts of more than 1 KiB are compressed for those who take it: pages, raw files, feeds and
// robots.txt, each the same text.
func TestGzip(t *testing.T) {
	s := start(t, nil)
	s.write("long.txt", strings.Repeat("Caf\xe9, and more of it.\n", 200))
	s.write("edge.txt", strings.Repeat("x\n", maxText/2))
	s.write("huge.txt", strings.Repeat("x\n", maxText/2+1)) // which no page shows
	s.write("short.txt", "short\n")
	for path, want := range map[string]bool{"/long.txt": true, "/long.txt?raw": true,
		"/edge.txt?raw": true, "/huge.txt": false, "/short.txt": true, "/short.txt?raw": false,
		"/p.png?raw": false, "/made.xml": true, "/made.xml?raw": true, "/big.bin": false} {
		whole, plain := s.get(path, "Accept-Encoding", "identity")
		res, body := s.get(path, "Accept-Encoding", "br, gzip")
		if got := res.Header.Get("Content-Encoding") == "gzip"; got != want ||
			res.Header.Get("Content-Type") != whole.Header.Get("Content-Type") {
			t.Errorf("%s: compressed: %v, want %v", path, got, want)
			continue
		}
		if want {
			z, err := gzip.NewReader(strings.NewReader(body))
			treetest.Must(t, err)
			text, err := io.ReadAll(z)
			if err != nil || string(text) != plain || res.ContentLength != int64(len(body)) {
				t.Errorf("%s: %v, %d bytes, not the %d without", path, err, len(text), len(plain))
			}
			if again, _ := s.get(path, "Accept-Encoding", "gzip", "If-None-Match",
				res.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
				t.Errorf("%s: %d for the same", path, again.StatusCode)
			}
		}
		if other, body := s.get(path, "Accept-Encoding", "gzip;q=0.5", "If-None-Match",
			`"other"`); (other.Header.Get("Content-Encoding") == "gzip") != want ||
			other.ContentLength != int64(len(body)) {
			t.Errorf("%s: %d bytes for one who has another, in a reply of %d: %v", path, len(body),
				other.ContentLength, other.Header)
		}
		if res, _ := s.get(path, "Accept-Encoding",
			"gzip;q=0"); res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: compressed for one who does not take it", path)
		}
	}
	if res, body := s.get("/long.txt?raw", "Accept-Encoding", "gzip", "Range",
		"bytes=0-3"); res.StatusCode != http.StatusPartialContent || body != "Caf\xe9" {
		t.Errorf("a range: %d %q", res.StatusCode, body)
	}
}

// What is made while it is sent is the same text, compressed or not. A client notices, and the
// log tells, that the rest cannot be made.
func TestStream(t *testing.T) {
	s := start(t, nil)
	want := strings.Repeat("entry ", 50_000)
	res, plain := s.get("/streamed.xml", "Accept-Encoding", "identity")
	if plain != want || res.Header.Get("Content-Type") != "application/xml" ||
		res.Header.Get("ETag") != "" {
		t.Errorf("%v, %d bytes", res.Header, len(plain))
	}
	_, body := s.get("/streamed.xml", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(strings.NewReader(body))
	treetest.Must(t, err)
	if text, err := io.ReadAll(z); err != nil || string(text) != want {
		t.Errorf("in gzip: %v, %d bytes", err, len(text))
	}
	if res, err := browser.Head("http://" + s.addr + "/streamed.xml"); err != nil ||
		res.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %v", err)
	}
	for _, coding := range []string{"identity", "gzip"} {
		for len(s.obs.ch) > 0 {
			<-s.obs.ch
		}
		req, err := http.NewRequest(http.MethodGet, "http://"+s.addr+"/cut.xml", nil)
		treetest.Must(t, err)
		req.Header.Set("Accept-Encoding", coding)
		res, err := browser.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		if told := <-s.obs.ch; err == nil || server.KindOf(told.Err) != server.Internal {
			t.Errorf("cut, in %s: %v, and the log is told %+v", coding, err, told)
		}
	}
}

// A page of results has the form that each page has and no other; the page that asks has one,
// whose label is the heading.
func TestFormsOfSearch(t *testing.T) {
	s := start(t, func(s *served) { s.pages.Search = true })
	_, page := s.get("/search?q=x")
	s.holds("/search?q=x", mainOf(page), "<h1>Found</h1>", `<p class="info">Here:<`, "!<form",
		"!Again", `A text</a> <span class="kind">/a.txt</span><p>a <mark>word</mark> of *it*</p></li>`)
	_, page = s.get("/search")
	s.holds("/search", mainOf(page), "<h1>Words</h1>",
		`<form action="/search"><label><span class="hidden">Words</span> <input`)
}

// The lines of a drawing meet; links without a box have room.
func TestArt(t *testing.T) {
	s := start(t, nil)
	s.write("art/gophermap", "!Art\n\n  /\\_/\\\n ( o.o )\n")
	s.write("box/gophermap", "!Box\n\n+-----+\n0| A   |\t/a.txt\n+-----+\n")
	s.write("list/gophermap", "!List\n\n0A    2026-01-02\t/a.txt\n")
	s.write("box.txt", " ┌───┐\n └───┘\n")
	s.write("mixed.txt", " ┌───┐\n └───┘\n\nA line of prose that is as long as lines of prose are.\n")
	for path, want := range map[string]string{"/box.txt": `<pre class="art">`,
		"/mixed.txt": "<pre>", "/art/": `<pre tabindex="0" class="art">`,
		"/box/": `<pre tabindex="0" class="art">`, "/list/": `<pre tabindex="0">`} {
		_, page := s.get(path)
		s.holds(path, mainOf(page), want)
	}
}

// Colors of maps are colors in pages, and are not sent to Gopher clients.
func TestColorsOfMaps(t *testing.T) {
	s := start(t, nil)
	s.write("col/gophermap",
		"\x1b[31mRed\x1b[0m words\n\n  \x1b[32mgreen\x1b[0m  drawn\n0\x1b[33mlabel\x1b[0m\t/a.txt\n")
	_, page := s.get("/col/")
	s.holds("/col/", mainOf(page), `<span class="c1">Red</span> words`,
		`  <span class="c2">green</span>  drawn`, `<a href="/a.txt">label</a>`, "!\x1b", "![31m")
	s.write("col/x.txt", "\x1b]0;of a window\a\x1b[31mRed\x1b[0m\a text\n")
	_, page = s.get("/col/x.txt")
	s.holds("/col/x.txt", mainOf(page), `<span class="c1">Red</span> text`, "!of a window")
}
