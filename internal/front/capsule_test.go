package front

import (
	"strings"
	"testing"
)

// TestCapsule: the front page of a capsule is the menu of its directory on every front, and
// each front shows it in its own form.
func TestCapsule(t *testing.T) {
	long := strings.Repeat("words in one long paragraph ", 4)
	index := "# My capsule\n" + long +
		"\n* an item\n=> log The log\n=> log/index.gmi\n=> gemini://h/a.gmi Ours\n=> https://far.example/ Far\n```\n=x   <art>\n```\n"
	h := &hole{files: map[string]string{"index.gmi": index, "log/index.gmi": "# Log",
		"a.gmi": "# A", "unlinked.txt": "x", "both/index.gmi": "# Gemtext",
		"both/gophermap": "A map\n"}}
	h.serve(t)
	for _, row := range []struct {
		front, path string
		has         []string
	}{
		{"gopher", "/", []string{"i# My capsule\t",
			"iwords in one long paragraph words in one long paragraph words in one\t",
			"i* an item\t", "1The log\t/log/\th\t70\r\n", "1log/index.gmi\t/log/\th",
			"0Ours\t/a.gmi\th\t70\r\n", "hFar\tURL:https://far.example/\t", "i=x   <art>\t"}},
		{"nex", "/", []string{"# My capsule\n", "words in one\nlong paragraph",
			"=> /log/ The log\n", "=> /a.gmi Ours\n", "=> https://far.example/ Far\n"}},
		{"gemini", "/", []string{index}},
		{"spartan", "/", []string{index}},
		{"http", "/", []string{"<title>My capsule</title>", "<p>" + strings.TrimSpace(long),
			`<li class="dot">an item</li>`, `<a href="/a.gmi">Ours</a>`, "=x   &lt;art&gt;"}},
		{"gopher", "/both/", []string{"iA map\t"}},
		{"nex", "/both/", []string{"A map\n"}},
		{"http", "/both/", []string{"A map"}},
		{"gemini", "/both/", []string{"# Gemtext"}},
	} {
		r := h.ask(row.front, row.path)
		for _, part := range row.has {
			if !strings.Contains(r.Body, part) {
				t.Errorf("%s: %s has no %q:\n%s", row.front, row.path, part, r.Body)
			}
		}
		if strings.Contains(r.Body, "unlinked.txt") || strings.Count(r.Body, "My capsule") > 4 {
			t.Errorf("%s: %s:\n%s", row.front, row.path, r.Body)
		}
	}
}

// TestListedTitles: a listing links texts by their titles, with the name beside them, but not
// one that robots must not fetch; prose with one wide gap is no drawing.
func TestListedTitles(t *testing.T) {
	prose := "A paragraph that has one  wide gap in it and goes on for more than\ncolumns, so that it wraps.\n"
	h := &hole{files: map[string]string{
		"d/2026-01-02-why.txt": "Why Gopher\n\nA text.\n", "d/tea.md": "# Tea, a *short* guide\n",
		"d/old.html": "<TITLE>Old &amp; new</TITLE>", "d/a.c": "#include <stdio.h>\n",
		"d/secret.txt": "Whisper\n\nx\n", "d/.robots": "Disallow: /secret.txt\n",
		"gophermap": prose,
	}}
	h.serve(t)
	for _, row := range []struct {
		front, path string
		has         []string
	}{
		{"gemini", "/d/", []string{"=> /d/2026-01-02-why.txt 2026-01-02 Why Gopher\n",
			"=> /d/tea.md Tea, a short guide (tea.md)\n", "=> /d/old.html Old & new (old.html)\n",
			"=> /d/a.c a.c\n", "=> /d/secret.txt secret.txt\n"}},
		{"http", "/d/", []string{`<time>2026-01-02</time> <a href="/d/2026-01-02-why.txt">Why Gopher</a> <span class="kind">why.txt</span>`, `>Tea, a short guide</a> <span class="kind">tea.md</span>`, ">Old &amp; new</a>", ">a.c</a></li>", ">secret.txt</a></li>"}},
		{"gopher", "/d/", []string{"02026-01-02-why.txt\t", "0tea.md\t"}},
		{"gemini", "/", []string{"# h\n\n" + prose}},
		{"http", "/", []string{`<p class="info"><span class="p">A paragraph that has one  wide gap`}},
		{"http", "/d/feed.xml", []string{`<content type="html" xml:base="http://h/d/2026-01-02-why.txt">&lt;pre&gt;&#xA;A text.`}},
		{"http", "/about-robots", []string{"<title>What robots may fetch here</title>"}},
	} {
		r := h.ask(row.front, row.path)
		if row.path == "/about-robots" {
			r.Body = h.exchange("http",
				"GET /about-robots HTTP/1.0\r\nHost: h\r\nAccept: text/html\r\n\r\n")
		}
		for _, part := range row.has {
			if !strings.Contains(r.Body, part) {
				t.Errorf("%s: %s has no %q:\n%s", row.front, row.path, part, r.Body)
			}
		}
		if strings.Contains(r.Body, "Whisper") {
			t.Errorf("%s: %s shows what is denied:\n%s", row.front, row.path, r.Body)
		}
	}
}

// TestLabels: the media type on each front names the character set of the bytes sent, or says
// that it is not known; a browser that asks for the raw file gets its own bytes.
func TestLabels(t *testing.T) {
	h := &hole{files: map[string]string{
		"utf8.txt": "Grüße aus Köln\n", "latin.txt": "Gr\xfc\xdfe aus K\xf6ln\n",
		"wide.txt": "\xff\xfeK\x00\xf6\x00\n\x00", "koi8.txt": "\xf0\xd2\xc9\xd7\xc5\xd4\n",
		"box.nfo": "\xc9\xcd\xcd\xcd\xbb\n", "latin.gmi": "# Gr\xfc\xdfe aus K\xf6ln\n",
		"a.zip": "PK", "b.epub": "PK",
		"own.xml": "<?xml version='1.0' encoding='koi8-r'?><a>\xf0\xd2\xc9\xd7\xc5\xd4</a>",
	}}
	h.serve(t)
	for _, row := range []struct{ path, sent, gemini, raw string }{
		{"/utf8.txt", "Grüße aus Köln\n", "text/plain; charset=utf-8", "text/plain; charset=utf-8"},
		{"/latin.txt", "Grüße aus Köln\n", "text/plain; charset=utf-8",
			"text/plain; charset=windows-1252"},
		{"/wide.txt", "Kö\n", "text/plain; charset=utf-8", "text/plain; charset=utf-16"},
		{"/koi8.txt", h.files["koi8.txt"], "text/plain; charset=unknown-8bit",
			"text/plain; charset=unknown-8bit"},
		{"/box.nfo", "╔═══╗\n", "text/plain; charset=utf-8", "text/plain; charset=IBM437"},
		{"/latin.gmi", "# Grüße aus Köln\n", "text/gemini; charset=utf-8",
			"text/plain; charset=windows-1252"},
		{"/a.zip", "PK", "application/zip", "application/zip"},
		{"/b.epub", "PK", "application/epub+zip", "application/epub+zip"},
		{"/own.xml", h.files["own.xml"], "application/xml", "application/xml"},
	} {
		for front, want := range map[string]string{
			"gopher": row.sent, "nex": row.sent, "gemini": "20 " + row.gemini + "|" + row.sent,
			"spartan": "2 " + row.gemini + "|" + row.sent,
		} {
			if got := h.said(front, row.path); got != want {
				t.Errorf("%s: %s is %q, want %q", front, row.path, got, want)
			}
		}
		got := h.exchange("http", "GET "+row.path+"?raw HTTP/1.0\r\nHost: h\r\n\r\n")
		if !strings.Contains(got, "\r\nContent-Type: "+row.raw+"\r\n") ||
			!strings.HasSuffix(got, "\r\n\r\n"+h.files[strings.TrimPrefix(row.path, "/")]) {
			t.Errorf("raw: %s is %q", row.path, got)
		}
	}
}
