package policy

import (
	"slices"
	"strings"
	"testing"
)

// TestLines: what is written for the rules of the root, in which forms and in which order.
func TestLines(t *testing.T) {
	const veronica = "\nUser-agent: veronica\n"
	for text, want := range map[string]string{
		"Disallow: /\n": "Disallow: /\nDisallow: *\n",
		"Disallow: /\nAllow: /a\n": "Allow: /a\nDisallow: /\n" + veronica +
			"Disallow: /\nDisallow: *\n",
		"Disallow: *\n":               "Disallow: /*\nDisallow: /\nDisallow: *\n",
		"Disallow: /\nDisallow: /b\n": "Disallow: /b\nDisallow: /\nDisallow: *\n",
		"Allow: /b\nDisallow: /b\n":   "Disallow: /.robots\nAllow: /b\n",
		"Disallow: /b\nAllow: /a$\n":  "Allow: /a$\nDisallow: /b\n",
		"Disallow: /a b1/\n":          "Disallow: /a b1/\nDisallow: /a%20b1/\n",
		"Disallow: /1%x/\n":           "Disallow: /1%25x/\n" + veronica + "Disallow: /1%x/\n",
		"Disallow: /a*b\nDisallow: /aab$\n": "Disallow: /a*b\nDisallow: /aab$\n" + veronica +
			"Disallow: /a*b\nDisallow: /aab\n",
		"Disallow: /$\nDisallow: /b/\n": "Disallow: /$\nDisallow: /b/\n",
		"Disallow: /a$\nDisallow: /ab$\n": "Disallow: /a$\nDisallow: /ab$\n" + veronica +
			"Disallow: /ab\nDisallow: /a\n",
		"Disallow: /a%24\n":                 "Disallow: /a%24\n" + veronica + "Disallow: /a\n",
		"Disallow: /a%24*b\n":               "Disallow: /a$*b\nDisallow: /a%24*b\n",
		"Disallow: /é\n":                    "Disallow: /%C3%A9\nDisallow: /é\n",
		"Disallow: /a%2Ab\n":                "Disallow: /a%2Ab\n" + veronica + "Disallow: /a*b\n",
		"Disallow: /a\x80b\n":               "Disallow: /a%80b\n" + veronica + "Disallow: /a*b\n",
		"Disallow: / a%41\n":                "Disallow: / aA\nDisallow: /%20aA\n",
		"Disallow: /%41$$\n":                "Disallow: /A%24$\n" + veronica + "Disallow: /A\n",
		"Disallow: /*/x\n":                  "Disallow: /*/x\n",
		"Disallow: /tmp*\n":                 "Disallow: /tmp*\nDisallow: /tmp\n",
		"Disallow: /%0A\nDisallow: /%2Fa\n": "Disallow: //a\n",
		"Disallow: /%23*\n":                 "Disallow: /%23*\nDisallow: /%23\n",
		"Content-Usage: search=n\n":         "Disallow: /.robots\nContent-Usage: search=n\n",
		"Disallow: /a*$\n":                  "Disallow: /a*$\nDisallow: /a\n",
		"Disallow: /a%20\n":                 "Disallow: /a%20\n" + veronica + "Disallow: /a\n",
		"Disallow: /a%C2%A0\n":              "Disallow: /a%C2%A0\n" + veronica + "Disallow: /a\n",
		"Disallow: /a%E2%80%A8b\n": "Disallow: /a%E2%80%A8b\n" + veronica +
			"Disallow: /a*b\n",
		"Disallow: /a%1Db/\n":         "Disallow: /a%1Db/\n" + veronica + "Disallow: /a*b/\n",
		"Disallow: /x\nAllow: /x y\n": "Allow: /x%20y\nDisallow: /x\n",
		"User-agent: Foo bar\nUser-agent: Foo (x)\nDisallow: /a\n": "Disallow: /.robots\n\n" +
			"User-agent: Foo bar\nUser-agent: Foo\nDisallow: /a\n",
	} {
		if got := string(compileOf(map[string]string{".robots": text}).File()); got != header+
			"\nUser-agent: *\n"+want {
			t.Errorf("%q:\n%s", text, got)
		}
	}
}

// TestPlaced: the lines of "Disallow: /x" and "Disallow: /y$" in a directory whose name
// needs care.
func TestPlaced(t *testing.T) {
	for dir, want := range map[string]string{
		"a b":  "/a b/x|/a%20b/x|/a b/y$|/a%20b/y$|veronica|/a b/x|/a b/y|/a%20b/x",
		" b":   "/ b/x|/%20b/x|/ b/y$|/%20b/y$|veronica|/ b/x|/ b/y|/%20b/x",
		"d/ b": "/d/ b/x|/d/%20b/x|/d/ b/y$|/d/%20b/y$|veronica|/d/ b/x|/d/ b/y|/d/%20b/x",
		"b ":   "/b /x|/b%20/x|/b /y$|/b%20/y$|veronica|/b /x|/b /y|/b%20/x",
		"b$":   "/b$/x|/b%24/x|/b$/y$|/b%24/y$|veronica|/b$/x|/b$/y|/b%24/x",
		"#":    "/%23/x|/%23/y$|veronica|/*/x|/*/y",
		"%41":  "/%2541/x|/%2541/y$|veronica|/%41/x|/%41/y",
	} {
		file := string(compileOf(map[string]string{dir +
			"/.robots": "Disallow: /x\nDisallow: /y$\n"}).File())
		var got []string
		for line := range strings.Lines(strings.TrimPrefix(file, header+"\nUser-agent: *\n")) {
			if _, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"),
				": "); strings.HasPrefix(value, "/") || value == veronica {
				got = append(got, value)
			}
		}
		if !slices.Equal(got, strings.Split(want, "|")) {
			t.Errorf("%q: %q, not %q\n%s", dir, got, want, file)
		}
	}
}

// TestWhereFieldsStand: those of the whole site, in each group or at the end; a group
// for Veronica has no Allow.
func TestWhereFieldsStand(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Sitemap: gopher://e.org/0/s\nCrawl-delay: 5\nRequest-rate: 1/10\nVisit-time: 0600-0700\nComment: hello\n" +
		"Content-Signal: search=yes\nIndex: allow\nCooldown: 9\nLicense: https://e.org/l\nUser-agent: veronica\nAllow: /x\n"})
	const fields = "Comment: hello\nContent-Signal: search=yes\nCooldown: 9\nCrawl-delay: 5\nIndex: allow\nRequest-rate: 1/10\nVisit-time: 0600-0700\n"
	want := header + "\nUser-agent: *\nDisallow: /.robots\n" + fields +
		"\nUser-agent: veronica\nDisallow: /.robots\n" + fields +
		"\nLicense: https://e.org/l\nSitemap: gopher://e.org/0/s\n"
	if string(c.File()) != want {
		t.Errorf("got:\n%s\nwant:\n%s", c.File(), want)
	}
}
