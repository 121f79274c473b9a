package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestReports(t *testing.T) {
	long := strings.Repeat("long", 64)
	for _, test := range []struct {
		code string
		tree *Dir
		file string
		line int
		sel  string
		hurt []string // leaks or victims
	}{
		{CodeListingExposed, tree("d/a", "d/x", "d/.robots\tDisallow: /|Allow: /a"), "d/.robots", 1, "/d/", []string{"/d/", "d/"}},
		{CodeListingExposed, tree("a", "x", ".robots\tDisallow: /|Allow: /a"), ".robots", 1, "/", []string{"/", ""}},
		{CodeRootMenu, tree("a", ".robots\tDisallow: /"), ".robots", 1, "/", []string{""}},
		{CodeName, tree("a#b", "ab", ".robots\tDisallow: /a%23"), ".robots", 1, "/a#b", []string{"/a#b", "a#b"}},
		{CodeNameCollision, tree("xA", "x%41", "d/y", ".robots\tDisallow: /d", "d/.robots\tDisallow: /"), "", 0, "", nil},
		{CodeNameCollision, tree("xA/a", "x%41/b", "xA/.robots\tDisallow: /a"), "xA/.robots", 1, "/x%41", []string{"/x%41", "/xA"}},
		{CodeNameLong, tree(long, "a", ".robots\tDisallow: /l"), ".robots", 1, "/" + long, nil},
		{CodeNameUnspeakable, tree("x\nAllow: ", "a", "b", ".robots\tDisallow: /a"), "", 0, "/", nil},
		{CodeOverBlock, tree("x.txt", "x.txt.gz", ".robots\tDisallow: /x.txt$"), ".robots", 1, "/x.txt", []string{"/x.txt.gz"}},
		{CodeOverBlockStrict, tree("a", "b", ".robots\tUser-agent: foo|Disallow: /a"), ".robots", 2, "/a", []string{"/a"}},
		{CodeNewFiles, tree("a.zip", "b", ".robots\tDisallow: *.zip"), ".robots", 1, "/", nil},
		{CodePartName, tree("p/s", "a", ".robots\tDisallow: /p/|User-agent: bot|Allow: /"), ".robots", 0, "/p/", []string{"/p/", "/p", "p/", "p", "/p/s", "p/s"}},
		{CodeSyntax, tree("a", "d/.robots\tDisallow: /|Disalow: /x"), "d/.robots", 2, "", nil},
		{CodeSyntax, tree("a", ".robots\tCrawl-delay: soon"), ".robots", 1, "", nil},
		{CodeSyntax, tree("a", ".robots\tDisallow"), ".robots", 1, "", nil},
		{CodeAgentName, tree("a", ".robots\tUser-agent: \"my robot\"|Disallow: /"), ".robots", 1, "", nil},
		{CodeMisplacedField, tree("d/a", "d/.robots\tCrawl-delay: 5"), "d/.robots", 1, "", nil},
		{CodeGroupSwallowed, tree("a", ".robots\tUser-agent: *|Sitemap: x|Crawl-delay: 5|User-agent: b|Disallow: /"), ".robots", 1, "", nil},
		{CodeOverBlockStrict, tree("a", "b", "robots.txt\tUser-agent: foo||Disallow: /a"), "robots.txt", 3, "/a", []string{"/a"}},
		{CodeHandWritten, tree("d/a", "robots.txt\tUser-agent: *|Disallow: /d"), "robots.txt", 0, "", []string{"d/", "d", "d/a"}},
	} {
		c := Compile(test.tree, nil)
		i := slices.IndexFunc(c.Reports(), func(r Report) bool {
			return r.Code == test.code && (test.sel == "" || r.Selector == test.sel)
		})
		if test.file == "" && test.line == 0 && test.sel == "" {
			if i >= 0 {
				t.Errorf("unexpected %+v", c.Reports()[i])
			}
			continue
		}
		if i < 0 {
			t.Errorf("no report %s about %s\n%+v\n%s", test.code, test.sel, c.Reports(), c.File())
			continue
		}
		r := c.Reports()[i]
		hurt := append(slices.Clone(r.Leaks), r.Victims...)
		if r.File != test.file || r.Line != test.line || !slices.Equal(hurt, test.hurt) && len(test.hurt) > 0 {
			t.Errorf("got %+v", r)
		}
	}
}

// TestCodes wants every code documented, and none that is not there.
func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codes() {
		if seen[c.Code] || c.Meaning == "" || c.Hint == "" || c.Example == "" || badness[c.Severity] < 0 {
			t.Errorf("%+v", c)
		}
		seen[c.Code] = true
	}
}
