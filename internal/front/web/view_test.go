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
	s.write(
		"t/gophermap", "!The title\n\nWords.\n0A label 2026-01-02\tdated.txt\n",
		"t/dated.txt", "Title: A label\n=======\n\nBody.\n",
		"u/gophermap", "=========\nThe title\n=========\n\n!The title\nWords.\n",
		"mid/gophermap", "Welcome to\nThe title\n!The title\n",
		"v/gophermap", "!The title\n  /\\_/\\ drawn\n",
		"w/gophermap", "+-----------+\n| The title |   x\n+-----------+\n#\n!The title\n",
		"t/2026-03-04-x.md", "# A *walk*\n\nText.\n",
		"t/art.txt", ".d88b.  o888o\n888888  88888\n\nMore.\n",
		"t/box.txt", " ┌───────┐\n │ A box │\n └───────┘\n",
		"t/matter.md", "---\ntitle: Front\ndate: 2026-01-02\n---\n\nMore.\n",
	)
	long := strings.Repeat("words in a row ", 30)
	s.write(
		"t/long.txt", long+"end.\n\nMore.\n",
		"t/2026-05-06-d.txt", "2026-05-06   A day\n\nBody.\n",
		"t/url.txt", "See https://e.org/ first.\n\nMore.\n",
	)
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

	// The map of the root names the site on all pages.
	s = start(t, nil)
	s.write("gophermap", "!A hole\n", "x.txt", "Text.\n")
	s.shows(map[string][]string{"/x.txt": {"A hole"}})
}

// What lies around a dated text: the directories on the way, by their titles, and what its menu
// links before and after it.
func TestNeighbors(t *testing.T) {
	s := start(t, nil)
	s.write("log/gophermap",
		"!The log\n0Third\t2026-03-03.txt\n0About\tabout.txt\n9Zip\t2026-01-15.zip\n0Far\t/phlog/2026-01-02.txt\n0First\t2026-01-01.txt\n0Second\t2026-02-02.txt\n")
	for _, name := range []string{"2026-01-01", "2026-02-02", "2026-02-20-draft", "2026-03-03"} {
		s.write("log/"+name+".txt", "x\n")
	}
	s.shows(map[string][]string{
		"/log/2026-01-01.txt": {"!rel=\"prev\"", `rel="next" href="/log/2026-02-02.txt"`,
			"Newer</span> Second", `rel="up" href="/log/"`, "Up</span> The log",
			`<a class="site" href="/">gopher.example</a>` + "\n" +
				`<nav aria-label="Path"><ol><li><a href="/log/">The log</a></li>`},
		"/log/2026-02-02.txt": {`rel="prev" href="/log/2026-01-01.txt"`,
			`rel="next" href="/log/2026-03-03.txt"`, "Older</span> First"},
		"/log/2026-03-03.txt": {`rel="prev" href="/log/2026-02-02.txt"`,
			`!rel="next"`, "!draft"},
		"/log/2026-02-20-draft.txt": {"!rel=\"prev\"", "!rel=\"next\"", `rel="up"`},
		"/":                         {`!rel="up"`, "!class=\"turn\""},
		"/a.txt":                    {`rel="up" href="/"`, `href="/a.txt?raw"`},
		"/numbers":                  {"!?raw"},
		"/b%20c%2541%3F.txt":        {"<title>b c%41?.txt</title>"},
	})
}

// TestDeniedIsNotShown: a page that robots may fetch tells nothing of what they must not: no
// title of a neighbor or of a directory on the way. One that is denied itself tells all.
func TestDeniedIsNotShown(t *testing.T) {
	s := start(t, nil)
	s.write("log/gophermap", "!The log\n*\n")
	s.write(
		"log/2026-01-01.txt", "First\n",
		"log/2026-01-02.txt", "Whisper\n",
		"log/2026-01-03.txt", "Third\n",
		"log/2026-01-04.txt", "Fourth\n",
		"shut/gophermap", "!Whispers\n*\n",
		"shut/open.txt", "An open text\n",
		"shut/2026-02-01.txt", "One\n",
		"shut/2026-02-02.txt", "Two\n",
		".robots", "Disallow: /log/2026-01-02.txt\nDisallow: /shut/\nAllow: /shut/open.txt\n",
	)
	treetest.Eventually(func() bool {
		_, robots := s.get("/robots.txt")
		return strings.Contains(robots, "open.txt")
	})
	s.shows(map[string][]string{
		"/log/2026-01-01.txt": {"!2026-01-02", "!Whisper", "Newer</span> Third",
			"Up</span> The log"},
		"/log/2026-01-03.txt": {"!2026-01-02", "!Whisper", "Older</span> First",
			"Newer</span> Fourth"},
		"/log/2026-01-02.txt":  {"Whisper", "Older</span> First", "Newer</span> Third"},
		"/shut/open.txt":       {"!Whispers", "Up</span> shut", "An open text"},
		"/shut/2026-02-01.txt": {"Up</span> Whispers", "Newer</span> Two"},
	})
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
	s.write(
		"gophermap", "!The site\n=part.sh\n",
		"part.sh", "#!/bin/sh\n",
	)
	s.shows(map[string][]string{"/none1": {"There is nothing at /none1"},
		"/none2": {"There is nothing at /none2"}})
	if n := programs.Load(); n != 0 {
		t.Errorf("programs ran %d times", n)
	}
	s.shows(map[string][]string{"/": {"A line"}})
	if n := programs.Load(); n != 1 {
		t.Errorf("the root's page ran programs %d times", n)
	}
}

// Texts and menus have no label of their type; everything else has an icon with a name.
func TestIcons(t *testing.T) {
	s := start(t, nil)
	s.write("i/gophermap", "0Text\ta.txt\n1Menu\t/phlog/\n5Zip\t/x.zip\nIPicture\t/p.png\nsSound\t/s.mp3\nhWeb\tURL:https://e.org/\n\n  drawn\n9  Zip too\t/x.zip\n")
	s.shows(map[string][]string{"/i/": {`<li><a href="/i/a.txt">Text</a></li>`,
		`<li><a href="/phlog/">Menu</a></li>`,
		`Zip</a> <svg class="i" viewBox="0 0 16 16" role="img" aria-label="archive"`,
		`aria-label="picture"`, `aria-label="sound"`, `aria-label="on another server"`,
		`<symbol id="i-sound"`, `  <a href="/x.zip">Zip too</a> <svg`, `!<symbol id="i-video"`}})
	for name := range icons {
		if icons[name].ID != name || icons[name].Name == "" || icons[name].Path == "" {
			t.Errorf("%s: %+v", name, icons[name])
		}
	}
	for kind, name := range iconNames {
		if icons[name] == nil {
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
	s.write(
		"long/gophermap", lines.String(),
		"longer/gophermap", strings.Repeat("0Name\t/n.txt\n", 5500),
	)
	s.shows(map[string][]string{
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
		"/long/?q=1":         {"The whole list"},
		"/phlog/?q=first":    {"Nothing found for &#34;first&#34;"},
	})
	s.shows(map[string][]string{"/long/": {"Name 0<", "!whole list"}}) // after a search
}

// A page that cannot be shown is one of the site.
func TestFaults(t *testing.T) {
	s := unread(t, func(s *served) { s.pages.Search = true })
	s.write("gophermap", "!The site\n", "empty/.x", "", "empty.txt", "\n \n")
	s.read()
	s.shows(map[string][]string{"/": {"The site"}}) // from which error pages have its name
	for path, want := range map[string][]string{
		"/nope": {`<a class="site" href="/">The site</a>`,
			"<h1>There is nothing at /nope</h1>",
			`<a href="/">Start page</a>, or <a href="/search">search</a>`, `role="search"`,
			`<html lang="en">`},
		"/%1b%5b31m%3Cb%3E":            {"This is no path", "!<b>", "Start page"},
		"/%3Cb%3E":                     {"There is nothing at /&lt;b&gt;"},
		"/" + strings.Repeat("x", 500): {"There is nothing at /" + strings.Repeat("x", 79) + "..."},
		"/busy":                        {"Server busy", "The site"},
	} {
		res, page := s.get(path)
		s.holds(path, page, want...)
		if retry := res.Header.Get("Retry-After"); (retry != "") != (path == "/busy") {
			t.Errorf("%s: try again after %q", path, retry)
		}
		if res.Header.Get("Robots-Tag") != "noindex" ||
			res.Header.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
	s.shows(map[string][]string{"/empty/": {"This directory is empty."},
		"/empty.txt": {"This text is empty."}})
}

// What the owner adds: a line, an icon, a license, a language, a theme.
func TestOwnersTouch(t *testing.T) {
	s := start(t, func(s *served) { s.host.Lang, s.pages.Theme = "pt-BR", "paper" })
	s.shows(map[string][]string{"/a.txt": {`<html lang="pt-BR">`, string(looks["paper"]),
		`<link rel="icon" href="data:,">`, `!class="owner"`}})
	s.write(
		".footer", "Kept by <Ann>\nsecond line\n",
		"favicon.png", "\x89PNG",
		".robots", "License: https://e.org/l\nDisallow: /no/\n",
	)
	treetest.Until(t, "the annotation was read", func() bool {
		res, _ := s.get("/a.txt")
		return res.Header.Get("Link") == `<https://e.org/l>; rel="license"`
	})
	s.shows(map[string][]string{"/a.txt": {`<p class="owner">Kept by &lt;Ann&gt;</p>`,
		`<link rel="icon" href="/favicon.png">`, "!second line"}})
	if res, _ := s.get("/.footer"); res.StatusCode != http.StatusNotFound {
		t.Error(".footer is served")
	}
}

// Texts of more than 1 KiB are compressed for those who take it: pages, raw files, feeds and
// robots.txt, each the same text.
func TestGzip(t *testing.T) {
	s := start(t, nil)
	s.write(
		"long.txt", strings.Repeat("Caf\xe9, and more of it.\n", 200),
		"edge.txt", strings.Repeat("x\n", maxText/2),
	)
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
		c := s.dial()
		c.say("GET /cut.xml HTTP/1.1\r\nHost: x\r\nAccept-Encoding: " + coding + "\r\n\r\n")
		res, err := http.ReadResponse(c.in, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
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
	_, page = s.get("/a.txt?q=private")
	s.holds("/a.txt?q=private", page, `name="q"`, "!private") // it is kept for all
	_, page = s.get("/search")
	s.holds("/search", mainOf(page), "<h1>Words</h1>",
		`<form action="/search"><label><span class="hidden">Words</span> <input`)
}

// What an author has drawn keeps its columns, with links in it; other lines are a list. The lines
// of a drawing meet; links without a box have room. Colors of maps are colors in pages.
func TestDrawings(t *testing.T) {
	s := start(t, nil)
	s.write(
		"drawn/gophermap", "  /\\_/\\\n0  A cat\t/a.txt\n\nTo be or so as 1 of 10 is.\n0Plain\t/a.txt\n*** News of all and of everybody else here ***\n\nWelcome\n=======================\n0More\t/a.txt\n",
		"art/gophermap", "!Art\n\n  /\\_/\\\n ( o.o )\n",
		"box/gophermap", "!Box\n\n+-----+\n0| A   |\t/a.txt\n+-----+\n",
		"list/gophermap", "!List\n\n0A    2026-01-02\t/a.txt\n",
		"box.txt", " ┌───┐\n └───┘\n",
		"verse.txt", "a\nb\n", "two/gophermap", "!Two\n\nWords.\n--\nMore.\n",
		"mixed.txt", " ┌───┐\n └───┘\n\nA line of prose that is as long as lines of prose are.\n",
		"col/gophermap", "\x1b[31mRed\x1b[0m words\n\n  \x1b[32mgreen\x1b[0m  drawn\n0\x1b[33mlabel\x1b[0m\t/a.txt\n",
		"col/x.txt", "\x1b]0;of a window\a\x1b[31mRed\x1b[0m\a text\n",
	)
	s.shows(map[string][]string{
		"/drawn/": {"<pre tabindex=\"0\">\n  /\\_/\\\n  <a href=\"/a.txt\">A cat</a>\n",
			`<p class="info">To be or so as 1 of 10 is.</p>`, "here ***</span></pre>",
			`<li><a href="/a.txt">Plain</a>`, "<p class=\"info\">Welcome</p>\n<hr>\n<ul>"},
		"/box.txt": {`<pre class="art">`}, "/mixed.txt": {"<pre>"}, "/verse.txt": {"<pre>"},
		"/two/": {"--", "!<hr>"},
		"/art/": {`<pre tabindex="0" class="art">`}, "/box/": {`<pre tabindex="0" class="art">`},
		"/list/": {`<pre tabindex="0">`},
		"/col/": {`<span class="c1">Red</span> words`, `  <span class="c2">green</span>  drawn`,
			`<a href="/a.txt">label</a>`, "!\x1b", "![31m"},
		"/col/x.txt": {`<span class="c1">Red</span> text`, "!of a window"},
	})
}
