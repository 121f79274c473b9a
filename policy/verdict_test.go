package policy

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// TestClosed: which spellings of what is denied are answered with a pointer, and to what.
func TestClosed(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Disallow: /drafts/\nDisallow: /*/tmp/\n\nUser-agent: veronica\nDisallow: /v$\n"},
		"drafts/x", "a/tmp/b", "c", "v", "vv")
	for sel, want := range map[string]string{
		"/drafts": "/drafts/", "drafts": "/drafts/", "/drafts/": "", "drafts/": "", "/drafts/x": "", "drafts/x": "", "/drafts/later": "",
		"a/tmp/b": "/a/tmp/b", "a/tmp/": "/a/tmp/", "/a/tmp": "/a/tmp/", "/a/tmp/b": "", "/a": "", "a": "", "c": "", "/c/": "",
		"robots.txt": "", "/robots.txt": "", "": "", "/": "", "v": "", "/vv": "",
	} {
		got, closed := c.Closed(sel)
		if closed != (want != "") || closed && got != want {
			t.Errorf("%q: %q, %v", sel, got, closed)
		}
	}
}

// TestClosedThoughDenied: a spelling that no line of the rule reaches is closed, though
// another line denies it to those who understand both.
func TestClosedThoughDenied(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Disallow: /*/tmp/\nDisallow: /a/\n"}, "a/tmp/b", "a/c")
	for sel, want := range map[string]bool{"a/tmp/b": true, "/a/tmp/b": false, "a/c": false, "/a/c": false, "/a": true} {
		if canonical, closed := c.Closed(sel); closed != want {
			t.Errorf("%q: %q, %v\n%s", sel, canonical, closed, c.File())
		}
	}
}

// TestClosedNever: what has an answer of its own is not closed, though all is denied and a
// directory is called so.
func TestClosedNever(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Disallow: /\n"}, "robots.txt/x", "a/b")
	for sel, want := range map[string]bool{"": false, "/": false, "/robots.txt": false, "robots.txt": false, "robots.txt/": false, "/a": true, "a/b/": false} {
		if canonical, closed := c.Closed(sel); closed != want {
			t.Errorf("%q: %q, %v\n%s", sel, canonical, closed, c.File())
		}
	}
}

// TestClosedToVeronica: what is denied to her by a name as it is, not escaped, is closed.
func TestClosedToVeronica(t *testing.T) {
	for dir, test := range map[string]struct{ file, text string }{
		"/d%41/":   {".robots", "User-agent: veronica\nDisallow: /d%2541/\n"},
		"/d%41/x/": {"d%41/.robots", "User-agent: veronica\nDisallow: /x/\n"},
	} {
		c := compileOf(map[string]string{test.file: test.text}, "d%41/x/y")
		if canonical, closed := c.Closed(strings.TrimSuffix(dir, "/")); !closed || canonical != dir {
			t.Errorf("%q, %v\n%s", canonical, closed, c.File())
		}
	}
}

// TestExplainReaders: who reads for one robot only is asked about no other.
func TestExplainReaders(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Disallow: /a\n"}, "a")
	for agent, others := range map[string]string{"*": "", "foo": "veronica2 gopher-mcp", "Veronica": "gopher-mcp", "gopher-mcp": "veronica2"} {
		asked := ""
		for _, r := range c.Explain(agent, "a", false).Readers {
			if asked += r.Reader + " "; r.Allowed {
				t.Errorf("%s, which reads as %s, is let in", agent, r.Reader)
			}
		}
		for _, m := range readers.All() {
			if other := strings.Contains(others, m.Name); strings.Contains(" "+asked, " "+m.Name+" ") == other {
				t.Errorf("%s: of %s the readers are %s", agent, m.Name, asked)
			}
		}
	}
}
