package policy

import "testing"

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
