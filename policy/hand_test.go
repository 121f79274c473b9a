package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
)

// TestHandWritten: a robots.txt of the root that is the only annotation is served byte
// for byte; otherwise it is an annotation of the root. One that readers take as it is
// meant raises no warning.
func TestHandWritten(t *testing.T) {
	const text = "# by hand\r\nuser-agent:*\r\nDISALLOW : /cgi\nDisallow: cgi\n\n\nSitemap: gopher://x/"
	hand := map[string]string{"robots.txt": text}
	c := compileOf(hand)
	if string(c.File()) != text {
		t.Errorf("the file is %q", c.File())
	}
	for _, r := range c.Reports() {
		if r.Severity != diag.Notice || r.File != "robots.txt" || r.Line == 0 {
			t.Errorf("%v of %q", r, r.Victims)
		}
	}
	c = compileOf(map[string]string{"robots.txt": "Disallow: /ab\nDisallow: b\nUser-agent: x\nDisallow: /a/\n"})
	if !slices.ContainsFunc(c.Reports(), func(r Report) bool {
		return r.Line == 4 && slices.Contains(r.Victims, "/a/")
	}) {
		t.Errorf("the line that strict readers take for everybody's is not named: %v", c.Reports())
	}
	c = compileOf(hand)
	if c.Hash() == c.FileHash() || c.Source(3).Line != 3 || c.Source(1) != nil {
		t.Errorf("line 3 comes from %+v", c.Source(3))
	}
	more := inputOf(hand)
	more.Programs = []string{"/p"}
	listed := inputOf(hand)
	listed.Sitemaps = []string{"gopher://h/0/sitemap.xml"}
	if got := string(Compile(listed).File()); !strings.HasSuffix(got,
		"\nSitemap: gopher://x/\nSitemap: gopher://h/0/sitemap.xml\n") {
		t.Errorf("with a sitemap the file is %q", got)
	}
	both := more
	both.Sitemaps = listed.Sitemaps
	for name, in := range map[string]Input{
		"a sitemap":               listed,
		"a program and a sitemap": both,
		"another annotation": inputOf(map[string]string{"robots.txt": text,
			"d/.robots": "Disallow: /x\n"}),
		"an annotation beside it": inputOf(map[string]string{"robots.txt": text,
			".robots": "Disallow: /x\n"}),
		"a program":              more,
		"it is called .robots":   inputOf(map[string]string{".robots": text}),
		"it lies in a directory": inputOf(map[string]string{"d/robots.txt": text}),
		"it has too many patterns": inputOf(map[string]string{"robots.txt": rulesOf(601,
			"Disallow: /*%d\n")}),
	} {
		if c := Compile(in); !strings.HasPrefix(string(c.File()), header) {
			t.Errorf("%s: the file is %q", name, c.File())
		}
	}
	c = compileOf(map[string]string{"robots.txt": text, ".robots": "Disallow: /x\n"})
	if !c.DeniedToAll("cgi", false) || !c.DeniedToAll("x", false) || c.DeniedToAll("y", false) {
		t.Errorf("of both files is made:\n%s", c.File())
	}
}

// TestHandWrittenLeaks: readers that a hand-written file lets in are named, at its line;
// what only over-blocks is a notice.
func TestHandWrittenLeaks(t *testing.T) {
	c := compileOf(map[string]string{"robots.txt": "User-agent: *\nDisallow: /log$\nDisallow: /private/\nAllow: /private/pub/\n"})
	got := map[string]bool{}
	for _, r := range c.Reports() {
		if r.Code != CodeHandWritten || r.File != "robots.txt" ||
			(len(r.Leaks) > 0) != (r.Severity == diag.Warning) {
			t.Errorf("another report: %v", r)
		}
		for _, sel := range slices.Concat(r.Leaks, r.Victims) {
			got[fmt.Sprint(r.Line, r.Severity, sel)] = true
		}
	}
	if !got["2warning/log"] || !got["4notice/private/pub/"] || len(c.Unproven()) > 0 {
		t.Errorf("reported is %v; %v", got, c.Unproven())
	}
}

// TestCloses: a group with nothing but Crawl-delay joins the next one, and the report
// says what that closes.
func TestCloses(t *testing.T) {
	const text = "User-agent: *\nCrawl-delay: 10\n\nUser-agent: badbot\nDisallow: /\n"
	for file, says := range map[string]string{".robots": "this closes the whole site to every robot", "~bob/.robots": "this closes ~bob to every robot", "robots.txt": "the whole site"} {
		c := compileOf(map[string]string{file: text})
		i := slices.IndexFunc(c.Reports(), func(r Report) bool { return r.Code == "R9-SWALLOWED" })
		if i < 0 || c.Reports()[i].Severity != diag.Error ||
			!strings.Contains(c.Reports()[i].Message, says) || c.Reports()[i].File != file ||
			c.Reports()[i].Line != 1 {
			t.Errorf("%s: %v", file, c.Reports())
		}
		if !c.DeniedToAll("~bob/x", false) {
			t.Errorf("%s: not closed\n%s", file, c.File())
		}
	}
	for _, text := range []string{
		"User-agent: *\nCrawl-delay: 10\nDisallow:\n\nUser-agent: badbot\nDisallow: /\n",
		"User-agent: a\nCrawl-delay: 10\n\nUser-agent: badbot\nDisallow: /\n",
		"User-agent: *\nCrawl-delay: 10\n\nUser-agent: badbot\nDisallow: /x\n",
	} {
		for _, r := range compileOf(root(text)).Reports() {
			if r.Severity == diag.Error {
				t.Errorf("%q: %v", text, r)
			}
		}
	}
}

// TestOverruledAt: both lines name each other, also where either pattern has a wildcard.
func TestOverruledAt(t *testing.T) {
	for _, test := range []struct{ above, below string }{
		{"Final: /*/x\n", "Allow: /*/x/y\n"},
		{"Final: /~bob/\n", "Allow: /*.txt$\n"},
		{"User-agent: foo\nDisallow: /*9/\n", "Allow: /*/2019/x\n"},
	} {
		c := compileOf(map[string]string{".robots": test.above, "~bob/.robots": test.below})
		line := strings.Count(test.above, "\n")
		got := map[string]string{}
		for _, r := range c.Reports() {
			if r.Code == CodeOverruled {
				got[r.File] = r.Message
				if want := map[string]int{".robots": line,
					"~bob/.robots": 1}[r.File]; r.Line != want {
					t.Errorf("%q: %v", test.above, r)
				}
			}
		}
		if !strings.Contains(got[".robots"], "~bob/.robots:1") ||
			!strings.Contains(got["~bob/.robots"], ".robots:"+string(rune('0'+line))) {
			t.Errorf("%q below %q: %q", test.below, test.above, got)
		}
	}
	for _, test := range []struct{ above, below string }{
		{"Final: /*.zip$\n", "Allow: /x.zap$\n"},
		{"User-agent: foo\nDisallow: /~bob/ab\n", "Allow: /*.x$\nUser-agent: foo\nAllow: /abc\n"},
		{"Final: /~bob/long\n", "Allow: /l\n"},
	} {
		if list := saidOf(compileOf(map[string]string{".robots": test.above,
			"~bob/.robots": test.below}), CodeOverruled); len(list) > 0 {
			t.Errorf("%q below %q: %q", test.below, test.above, list)
		}
	}
}

// TestCureHelps: who does what the hint of an over-block says gets rid of it.
func TestCureHelps(t *testing.T) {
	with := "Disallow: /\nAllow: /about.txt\n"
	before := compileOf(notesOf("d/", with))
	if reads(t, "veronica2", before.File(), veronica)("/d/about.txt") ||
		len(saidOf(before, CodeOverBlock)) == 0 {
		t.Fatal("nothing is lost")
	}
	after := compileOf(notesOf("d/", with+"User-agent: veronica\nDisallow: /drafts/\n"))
	if !reads(t, "veronica2", after.File(), veronica)("/d/about.txt") {
		t.Error("veronica gains nothing by lines of her own")
	}
	moved := compileOf(notesOf("d/", "Disallow: /drafts/\n"))
	if list := saidOf(moved, CodeOverBlock); len(list) > 0 {
		t.Errorf("what is moved out of it is lost: %q", list)
	}
}

// TestNoSnapshot: until a policy stands, every spelling but the canonical one is closed.
func TestNoSnapshot(t *testing.T) {
	var none *Compiled
	open := compileOf(root("Allow: /\n"))
	for _, test := range []struct {
		canonical, spelling string
		closed              bool
	}{{"/a", "/a", false}, {"/a", "a", true}, {"/d/", "/d", true}, {"/d/", "d/", true},
		{"/", "", false}, {"/a b", "/a%20b", true}} {
		if none.Closed(test.canonical, test.spelling) != test.closed {
			t.Errorf("%q for %q", test.spelling, test.canonical)
		}
		if open.Closed(test.canonical, test.spelling) {
			t.Errorf("%q for %q is closed where nothing is denied", test.spelling, test.canonical)
		}
	}
	hole := compileOf(root("Disallow: /\n"))
	for _, spelling := range []string{"/about", "about/", "about"} {
		if hole.Closed("/about/", spelling) {
			t.Errorf("Disallow: / closes %q", spelling)
		}
	}
}
