package front

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
)

// wholeTexts are texts with the titles that they have: "" is the name.
var wholeTexts = []struct{ suffix, text, title string }{
	{".c", "#include <stdio.h>\n\nint main(void)\n{\n\tputs(\"hi\");\n}\n", ""},
	{".txt", "#include <stdio.h>\n\nint main(void) { return 0; }\n", ""},
	{".sh", "#!/bin/sh\n\nset -e\necho \"$1\" | sed 's/a  b/c/'\n", ""},
	{"", "#!/bin/sh\n\nset -e\n", ""},
	{".patch", "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n", ""},
	{".txt", "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n", ""},
	{".txt", "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@h.example>\nSubject: [PATCH] x\n\n---\n x | 2 +-\n", ""},
	{".txt", "* milk\n* bread\n* tea\n", ""},
	{".txt", "* milk\n\n* bread\n", ""},
	{".txt", "- milk\n- bread\n", ""},
	{".txt", "1. milk\n2. bread\n", ""},
	{".log", "Nov 27 14:00:01 host sshd[1]: started\n\nNov 27 14:00:02 host sshd[1]: ended\n", ""},
	{".csv", "name,age\nAnn,7\nBob,8\n", ""},
	{".txt", "name,age\nAnn,7\nBob,8\n", ""},
	{".xml", "<?xml version=\"1.0\"?>\n<a>\n  <b/>\n</a>\n", ""},
	{".txt", "<?xml version=\"1.0\"?>\n\n<a/>\n", ""},
	{".json", "{\n  \"a\": 1\n}\n", ""},
	{".txt", "A paragraph that an editor has wrapped softly, so that all of it is in one line, however long that may be, and then goes on.\n\nAnd another one.\n", ""},
	{".txt", "A paragraph that was wrapped by hand at about seventy columns, as\nmost texts on Gopher are, and goes on in the next line.\n", ""},
	{".txt", "+-------+\n| A box |\n+-------+\n\ntext below\n", ""},
	{".txt", "┌───────┐\n│ A box │\n└───────┘\n", ""},
	{".txt", "   /\\_/\\\n  ( o.o )\n   > ^ <\n", ""},
	{".txt", "Why Gopher\n\nA text.\n", "Why Gopher"},
	{".txt", "Why Gopher\n==========\n\nA text.\n", "Why Gopher"},
	{".txt", "==========\nWhy Gopher\n==========\n\nA text.\n", "Why Gopher"},
	{".txt", "2026-01-02 A walk\n\nIt went.\n", "A walk"},
	{".txt", "---\ntitle: \"CAN bus\"\ndate: 2012-10-22\n---\n\nSlides.\n", "CAN bus"},
	{".txt", "Title: A walk\nBy: me\n\nIt went.\n", "A walk"},
	{".txt", "Dear reader,\nI write in short lines\nas poems do.\n", ""},
	{".md", "An opening line\n\n# Tea, a *short* guide\n\nText with `code`.\n\n- [ ] a task\n- [x] done\n", "Tea, a short guide"},
	{".md", "This is [my *hole*](gopher://h.example).\n\nMore of it.\n", "This is my hole."},
	{".gmi", "An opening line\n\n# Tea\n\nText.\n=> https://h.example/ A link\n* item\n> quote\n```\n  art\n```\n", "Tea"},
	{".gmi", "# Week update of 2026-01-02\n\nText.\n", "Week update of 2026-01-02"},
	{".py", "# A comment\n\nprint('x')\n", ""},
	{".txt", "package main\n\nimport \"fmt\"\n", "package main"},
	{".txt", "Chapter one  ........  1\nChapter two  ........  2\n", ""},
	{".html", "<html><head><title>Old &amp; new</title></head>\n<body><p>Hi\n</body></html>\n", "Old & new"},
}

var tags = regexp.MustCompile(`<[^>]*>`)

// TestTextsWhole: a page, an entry of a feed and a page of Gemini have every line of a text, and
// the title is the same everywhere.
func TestTextsWhole(t *testing.T) {
	h := &hole{files: map[string]string{}}
	dir := func(i int) string {
		return fmt.Sprintf("/d%d/", i/10)
	} // a feed has the whole text of its newest entries
	name := func(i int) string {
		return fmt.Sprintf("2026-01-%02d-text%d%s", i%28+1, i, wholeTexts[i].suffix)
	}
	for i, x := range wholeTexts {
		h.files[strings.TrimPrefix(dir(i), "/")+name(i)] = x.text
	}
	h.serve(t)
	for i, x := range wholeTexts {
		menu, feed := h.ask("gemini", dir(i)).Body, h.ask("http", dir(i)+"feed.xml").Body
		title := x.title
		if title == "" {
			title = name(i)
		}
		page := h.exchange("http",
			"GET "+dir(i)+name(i)+" HTTP/1.0\r\nHost: h\r\nAccept: text/html\r\n\r\n")
		if !strings.Contains(page, "<title>"+html.EscapeString(title)+"</title>") {
			t.Errorf("%q: the title is %q, want %q", x.text,
				regexp.MustCompile("<title>.*</title>").FindString(page), title)
		}
		if listed := "=> " + dir(i) + name(i) + " " + name(i)[:10] + " " + x.title +
			"\n"; x.title != "" && !strings.Contains(menu, listed) {
			t.Errorf("%q is not listed as %q", x.text, listed)
		}
		shown := map[string]string{"page": html.UnescapeString(tags.ReplaceAllString(page[strings.Index(page, "<main>"):strings.Index(page, "</main>")], ""))}
		if _, entry, ok := strings.Cut(feed,
			"<id>tag:h,2026-01-"+name(i)[8:10]+":"+dir(i)+name(i)); ok {
			entry, _, _ = strings.Cut(entry, "</entry>")
			_, entry, _ = strings.Cut(entry, "<content")
			shown["entry"] = html.UnescapeString(tags.ReplaceAllString(html.UnescapeString(entry), "")) + title // which the entry has
		} else if x.suffix != ".html" {
			t.Errorf("%s is not in the feed", name(i))
		}
		if isSource := answer.IsSource(name(i), strings.Split(x.text, "\n")[0]) &&
			x.suffix != ".html"; isSource && !strings.Contains(shown["page"], x.text) {
			t.Errorf("what is copied from the page of %q is another text:\n%s",
				x.text, shown["page"])
		}
		for where, text := range shown {
			for line := range strings.Lines(x.text) {
				line = strings.TrimRight(line, "\n")
				if isMarked := x.suffix == ".md" || x.suffix == ".gmi"; isMarked {
					line = strings.Trim(strings.NewReplacer("`", "", "- [ ] ", "", "- [x] ", "",
						"=> https://h.example/ ", "", "* item", "item", "*short*", "short",
						"[my *hole*](gopher://h.example)", "my hole").Replace(line), "#> ")
				} else if line == strings.Repeat("=", 10) && where == "page" && x.title != "" {
					continue // above or below the heading
				}
				if !strings.Contains(text, line) {
					t.Errorf("the %s of %q lacks %q:\n%s", where, x.text, line, text)
				}
			}
		}
		if got := h.ask("gemini", dir(i)+name(i)).Body; got != x.text && x.suffix != ".html" {
			t.Errorf("Gemini has %q of %q", got, x.text)
		}
	}
}
