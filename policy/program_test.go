package policy

import "testing"

// TestCheckProgram: what programs answer is a selector, "/*" and the end of names, or
// "/~*/" and a name.
func TestCheckProgram(t *testing.T) {
	for p, ok := range map[string]bool{
		"/cgi": true, "/d/cgi-bin": true, "/*.dcgi": true, "/*x": true, "/a b": true, "/now/": true, "/": true, "/~*/cgi-bin": true,
		"": false, "cgi": false, "//": false, "/cgi//": false, "/~*/": false, "/~*/*": false, "/~a*/x": false, "/*": false, "/*/x": false, "/*.x/y": false, "*.x": false, "/a*": false, "/*a*": false,
		"/a?b": false, "/.cgi": false, "/a//b": false, "/a\tb": false,
	} {
		if err := CheckProgram(p); (err == nil) != ok {
			t.Errorf("%q: %v", p, err)
		}
	}
}

// TestSourceOfEachLine: a line of the file comes from the annotation that says it; the
// first and the last line, too.
func TestSourceOfEachLine(t *testing.T) {
	c := compileOf(root("Disallow: /a/\nSitemap: gopher://x/\n"))
	lines := 0
	for range c.sources {
		lines++
	}
	if s := c.Source(lines); s == nil || s.Line != 2 || c.Source(0) != nil || c.Source(lines+1) != nil || c.Source(1) != nil || c.Source(3).Line != 1 {
		t.Errorf("the last line comes from %v\n%s", c.Source(lines), c.File())
	}
}
