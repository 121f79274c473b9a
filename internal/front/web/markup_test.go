package web

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func markedDown(title, source string) string {
	var w pageWriter
	if !(&page{Title: title}).markdown(&w, source) {
		return "plain"
	}
	return w.String()
}

// Markdown has no HTML of its author, no links that run, and no pictures from elsewhere; the
// page has its first heading.
func TestMarkdown(t *testing.T) {
	for source, want := range map[string][2]string{ // has, has not
		"# Title\n\nText *a*":                                       {"<em>a</em>", "Title"},
		"# Title\n\n# Other":                                        {"<h2>Other</h2>", "<h1"},
		"# Title\n\n## Sub\n\n## Title\n":                           {"<h2>Sub</h2>\n<h2>Title</h2>", "<h3"},
		"## Other heading\n\nText of the first part\n":              {"<h3>Other heading</h3>", "<h2"},
		"a <script>alert(1)</script>\n\n<img src=x onerror=y>\n":    {"alert(1)", "<script"},
		"<div onclick=x>\nblock\n</div>\n":                          {"omitted", "onclick"},
		"[x](javascript:alert(1)) [y](data:text/html,z) [v](\\\\e)": {"x y v", "href"},
		"[x](https://e.org/ \"t\")":                                 {`rel="external nofollow noreferrer"`, "script"},
		"[x](other.txt) [y](/a/b)":                                  {`<a href="other.txt">x</a> <a href="/a/b">y</a>`, "rel="},
		"![far](https://e.org/p.png)":                               {`<a href="https://e.org/p.png"`, "<img"},
		"![far](//e.org/p.png)":                                     {`>far</a>`, "<img"},
		"![bad](javascript:x)":                                      {"bad", "javascript"},
		"![near](p.png)":                                            {`<img src="p.png" alt="near"`, "<a"},
		"<javascript:alert(1)> <https://e.org/>":                    {`<a href="https://e.org/" rel`, `href="javascript`},
		"www.e.org https://f.org/":                                  {`href="http://www.e.org" rel`, "script"},
		"| a |\n|---|\n| 1 |\n":                                     {"<table tabindex=\"0\">", "script"},
		"    code <b>\n":                                            {"code &lt;b&gt;", "<b>"},
	} {
		got := markedDown("Title", source)
		if !strings.Contains(got, want[0]) || strings.Contains(got, want[1]) {
			t.Errorf("%q: %s\nwant %q, not %q", source, got, want[0], want[1])
		}
	}
}

// Markdown that is made to be slow or large is shown as it is, or is neither.
func TestSlowMarkdown(t *testing.T) {
	url := "[a]: /" + strings.Repeat("x", 60_000) + "\n\n"
	if got := markedDown("", url+strings.Repeat("[a] ", 15_000)); got != "plain" {
		t.Errorf("a link many times: %d bytes", len(got))
	}
	for part, most := range map[string]int{"a": maxMarkdown, ">": maxDepth, "[": maxMarks} {
		at, past := markedDown("", strings.Repeat(part, most)),
			markedDown("", strings.Repeat(part, most+1))
		if at == "plain" || past != "plain" {
			t.Errorf("%d of %q become %d bytes, and one more %d", most, part, len(at), len(past))
		}
	}
	for _, part := range []string{">", "[", "*a ", "**a_", "![", "`", "- ", "1. ", "<", "[a](", "|",
		"&", "\\", "~~", "    "} {
		for _, source := range []string{strings.Repeat(part, maxMarkdown/len(part)),
			strings.Repeat(part+"\n", maxMarkdown/(len(part)+1))} {
			if got := markedDown("", source); len(got) > 32<<20 {
				t.Errorf("%q: %d bytes", part, len(got))
			}
		}
	}
}

// Gemtext becomes markup of ours alone.
func TestGemtext(t *testing.T) {
	var w pageWriter
	(&page{Title: "Title"}).gemtext(&w,
		"# Title\n## Sub <b>\nA line.\n\n=> x.gmi A link\n=> javascript:x Bad\n=>\tgemini://e.org/\n* one\n> said\n```alt\n <pre>  drawn\n```\n#### deep\n")
	want := "<h2>Sub &lt;b&gt;</h2>\n<p>A line.</p>\n<ul>\n<li><a href=\"x.gmi\">A link</a></li>\n<li>Bad</li>\n" +
		"<li><a href=\"gemini://e.org/\" rel=\"external nofollow noreferrer\">gemini://e.org/</a> <svg class=\"i\" viewBox=\"0 0 16 16\" role=\"img\" aria-label=\"on another server\"><use href=\"#i-away\"/></svg></li>\n" +
		"<li class=\"dot\">one</li>\n</ul>\n<blockquote>\n<p>said</p>\n</blockquote>\n<pre tabindex=\"0\">\n &lt;pre&gt;  drawn\n</pre>\n<h3>deep</h3>\n"
	if got := w.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var two pageWriter
	if (&page{Title: "Title"}).gemtext(&two,
		"# Title\n# Other\n## Sub\n"); two.String() != "<h2>Other</h2>\n<h3>Sub</h3>\n" {
		t.Error(two.String())
	}
	for text, hidden := range map[string]bool{"Title\nmore": true, "# Title\nTitle\n": false,
		"a\n# Title\n": false} {
		p := &page{Title: "Title"}
		if p.gemtext(&pageWriter{}, text); p.Hidden != hidden {
			t.Errorf("gemtext %q: the heading of the page is hidden: %v", text, p.Hidden)
		}
		p.Hidden = false
		if p.markdown(&pageWriter{}, text); p.Hidden != hidden {
			t.Errorf("Markdown %q: the heading of the page is hidden: %v", text, p.Hidden)
		}
	}
	line := rapid.OneOf(rapid.StringMatching("(=>|#|\\*|>|```)? ?[<>\"&a-z:/ ]{0,20}"),
		rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		var w pageWriter
		(&page{}).gemtext(&w, strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n"))
		for _, element := range []string{"ul", "pre", "blockquote", "p", "li"} {
			if got := w.String(); strings.Count(got, "<"+element+">")+
				strings.Count(got, "<"+element+" ") != strings.Count(got, "</"+element+">") {
				t.Fatalf("%s is not closed: %s", element, got)
			}
		}
	})
}
