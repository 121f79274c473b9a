package policy

import (
	"strings"
	"testing"
)

// TestCheckProgram: what programs answer is a selector, "/*" and the end of names, or
// "/~*/" and a name.
func TestCheckProgram(t *testing.T) {
	for p, ok := range map[string]bool{
		"/cgi": true, "/d/cgi-bin": true, "/*.dcgi": true, "/*x": true, "/a b": true, "/now/": true,
		"/": true, "/~*/cgi-bin": true,
		"/" + strings.Repeat("x", 4095): true, "/" + strings.Repeat("x", 4096): false,
		"": false, "cgi": false, "//": false, "/cgi//": false, "/~*/": false, "/~*/*": false,
		"/~a*/x": false, "/*": false, "/*/x": false, "/*.x/y": false, "*.x": false,
		"/a*": false, "/*a*": false,
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
	if s := c.Source(lines); s == nil || s.Line != 2 || c.Source(0) != nil ||
		c.Source(lines+1) != nil || c.Source(1) != nil || c.Source(3).Line != 1 {
		t.Errorf("the last line comes from %v\n%s", c.Source(lines), c.File())
	}
}

// TestSourceText: a Final is shown as one, unless it counts as a Disallow.
func TestSourceText(t *testing.T) {
	c := compileOf(root("Final: /a/\nDisallow: /b\nAllow: /c\nFinal: /d*e\n"))
	got := ""
	for _, name := range []string{"a/x", "b", "c", "de"} {
		if by := c.Explain("*", name, false).By; by != nil {
			got += by.Text() + "\n"
		}
	}
	if got != "Final: /a/\nDisallow: /b\nAllow: /c\nDisallow: /d*e\n" {
		t.Errorf("shown is %q", got)
	}
}

// TestReportsOfPrograms: a report about what a program answers is about no author's line,
// gives no author's hint, and says so.
func TestReportsOfPrograms(t *testing.T) {
	list := Compile(Input{Programs: []string{"/cgi"}}).Reports()
	for _, r := range list {
		if r.Hint != "" && r.Code != CodeOverBlock ||
			!strings.Contains(r.Message, "what programs answer") && r.Code == CodeAnchor {
			t.Errorf("%v: %q", r, r.Hint)
		}
	}
	if len(list) == 0 {
		t.Error("nothing is said about readers that do not know $")
	}
	in := inputOf(root("Allow: /phlog/2026/\n")) // below which the program is denied
	in.Programs = []string{"/*.dcgi"}
	for _, r := range Compile(in).Reports() {
		if r.File != ".robots" && r.File != "-fastcgi /*.dcgi" {
			t.Errorf("it names neither a file nor a flag: %v", r)
		}
	}
}

// TestWholeSite: a report about the root's annotation says that the whole site is denied.
func TestWholeSite(t *testing.T) {
	for file, want := range map[string]string{".robots": "the whole site is denied: ",
		"d/.robots": "the directory is denied: "} {
		if list := compileOf(map[string]string{file: rulesOf(1001,
			"Disallow: /%d\n")}).Reports(); len(list) != 1 ||
			!strings.HasPrefix(list[0].Message, want) {
			t.Errorf("%s: %v", file, list)
		}
	}
}
