package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots/readers"
)

// The published list of AI crawlers, pasted as .robots into a home, a phlog or the root
// of a site with 300 other homes, binds the robots that it names, there alone, and
// closes nothing to a robot that it does not name, whatever the neighbours have; but a
// reader without groups takes every line as its own.
func TestListOfCrawlers(t *testing.T) {
	list, err := os.ReadFile("testdata/ai.robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for line := range strings.Lines(string(list)) {
		if name, ok := strings.CutPrefix(line, "User-agent: "); ok {
			named = append(named, strings.TrimSpace(name))
		}
	}
	if len(named) < 160 {
		t.Fatalf("%d names", len(named))
	}
	for _, dirs := range [][]string{{"~ann/"}, {"~ann/phlog/"}, {""}, {"~ann/", "~bob/"}, {"", "~ann/phlog/", "~bob/"}} {
		notes := map[string]string{}
		for i := range 300 {
			notes[fmt.Sprintf("~u%d/.robots", i)] = "Disallow: /drafts/\nAllow: /drafts/about.txt\n"
		}
		for _, dir := range dirs {
			notes[dir+".robots"] = string(list)
		}
		c := compileOf(notes)
		for _, r := range c.Reports() {
			if r.Severity == diag.Error {
				t.Errorf("in %q: %v", dirs, r)
			}
		}
		in := func(sel string) bool {
			for _, dir := range dirs {
				if strings.HasPrefix(sel, "/"+dir) {
					return true
				}
			}
			return false
		}
		for _, sel := range []string{"/about.txt", "/~ann/a.txt", "/~ann/phlog/2026.txt", "/~bob/b.txt", "/~u7/x.txt"} {
			for _, r := range readers.All() {
				if r.Agent == "" && r.Groups && !r.Read(c.File()).Agent("some-other").Allowed(sel) {
					t.Errorf("in %q: %s keeps robots that nobody names out of %s", dirs, r.Name, sel)
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
