package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/lint"
	"github.com/gophd/gophd/robots/readers"
)

// The published list of AI crawlers, pasted as .robots into a home, a phlog or the root
// of a site with 300 other homes, binds the robots that it names, there alone, and
// closes nothing to a robot that it does not name, whatever the neighbours have; but a
// reader without groups takes every line as its own.
func TestListOfCrawlers(t *testing.T) {
	list, named := crawlers(t)
	for _, dirs := range [][]string{{"~ann/"}, {"~ann/phlog/"}, {""}, {"~ann/", "~bob/"},
		{"", "~ann/phlog/", "~bob/"}} {
		notes := map[string]string{}
		for i := range 300 {
			notes[fmt.Sprintf("~u%d/.robots", i)] = "Disallow: /drafts/\nAllow: /drafts/about.txt\n"
		}
		for _, dir := range dirs {
			notes[dir+".robots"] = list
		}
		c := compileOf(notes)
		for _, r := range c.Reports() {
			if r.Severity == diag.Error {
				t.Errorf("in %q: %v", dirs, r)
			}
		}
		if found := lint.File(robots.Parse(robots.RFC9309, c.File())); len(found) > 0 {
			t.Errorf("in %q: lint finds %v", dirs, found)
		}
		in := func(sel string) bool {
			for _, dir := range dirs {
				if strings.HasPrefix(sel, "/"+dir) {
					return true
				}
			}
			return false
		}
		for _, sel := range []string{"/about.txt", "/~ann/a.txt", "/~ann/phlog/2026.txt",
			"/~bob/b.txt", "/~u7/x.txt"} {
			for _, r := range readers.All() {
				if r.Agent == "" && r.Groups && !r.Read(c.File()).Agent("some-other").Allowed(sel) {
					t.Errorf("in %q: %s keeps robots that nobody names out of %s",
						dirs, r.Name, sel)
				}
			}
			for _, name := range named {
				name, _, _ = strings.Cut(name, " ")
				if allowed := reads(t, "rfc9309", c.File(), name)(sel); allowed == in(sel) {
					t.Errorf("in %q: %s is allowed %s: %v", dirs, name, sel, allowed)
				}
			}
		}
	}
}

// crawlers returns the list, and the names in it.
func crawlers(t *testing.T) (list string, named []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/ai.robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "User-agent: "); ok {
			named = append(named, strings.TrimSpace(name))
		}
	}
	if len(named) < 160 {
		t.Fatalf("%d names", len(named))
	}
	return string(data), named
}

// TestCrawlersBesideOwnNames: where many homes have the list, and others write rules for
// one of its robots, no home is denied.
func TestCrawlersBesideOwnNames(t *testing.T) {
	list, named := crawlers(t)
	for _, root := range []string{"", list} {
		notes := map[string]string{".robots": root}
		for i := range 300 {
			text := fmt.Sprintf("Disallow: /drafts/\nDisallow: /p%d\n", i)
			switch {
			case i%7 == 0:
				text = list
			case i%5 == 0:
				text += fmt.Sprintf("User-agent: %s\nDisallow: /own%d\n", named[i*5%len(named)], i)
			}
			notes[fmt.Sprintf("~u%03d/.robots", i)] = text
		}
		c := compileOf(notes)
		if list := denied(c); len(list) > 0 || len(c.File()) > maxBytes {
			t.Errorf("denied: %q; the file has %d bytes", list, len(c.File()))
		}
	}
}

// TestTwoNames: two names in one home, of which parts are names of the list, close no other
// home, and cost few groups.
func TestTwoNames(t *testing.T) {
	list, _ := crawlers(t)
	notes := map[string]string{"~a/.robots": "User-agent: Applebot-Extended\nUser-agent: GoogleOther\nDisallow: /\n", "~b/.robots": list}
	for i := range 60 {
		notes[fmt.Sprintf("~u%d/.robots", i)] = "Disallow: /drafts/\nAllow: /drafts/about.txt\n"
	}
	c := compileOf(notes)
	if groups := strings.Count(string(c.File()),
		"\n\nUser-agent"); len(denied(c)) > 0 || groups != 3 {
		t.Errorf("%d groups beside that for everybody, denied: %q", groups, denied(c))
	}
}
