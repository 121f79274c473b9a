package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPrograms: what programs answer is denied unless the root opens it by name, as
// a whole or one by one; what others allow does not matter.
func TestPrograms(t *testing.T) {
	all := []string{"cgi", "cgi/x", "cgi/x/y", "cgi?x", "d/cgi", "d/cgi/x", "d/a.dcgi", "a.dcgi", "a.dcgi?q", "ab.dcgi/x", "d/e/b.dcgi", "d/e/anything.dcgi"}
	for _, test := range []struct {
		root, below string
		open        string
	}{
		{"", "", ""},
		{"Allow: /\nAllow: /*x\nAllow: /d/e/\n", "Allow: /e/\nAllow: /*/b\n", ""},
		{"Allow: /cgi$\n", "", "cgi"},
		{"Allow: /cgi\n", "", "cgi cgi/x cgi/x/y cgi?x"},
		{"Allow: /cgi/\n", "", "cgi/x cgi/x/y"},
		{"Allow: /cgi/\nDisallow: /cgi/x/\n", "", "cgi/x"},
		{"Allow: /cgi/x$\n", "", "cgi/x"},
		{"Allow: /cgi/x\n", "", "cgi/x cgi/x/y"},
		{"Allow: /cgifoo\n", "", ""},
		{"Allow: /cgi?x\n", "", "cgi?x"},
		{"Allow: /cgi*\n", "", "cgi cgi/x cgi/x/y cgi?x"},
		{"Allow: /cgi$\nAllow: /*listed\n", "", "cgi"},
		{"", "Allow: /cgi\nAllow: /a.dcgi\n", ""},
		{"Allow: /d/cgi/x\n", "Disallow: /cgi/x$\n", ""},
		{"Allow: /a.dcgi$\n", "", "a.dcgi"},
		{"Allow: /a.dcgi\n", "", "a.dcgi a.dcgi?q"},
		{"Allow: /a.dcgi\nAllow: /d/e/\n", "Allow: /e/b\nAllow: /e/*b\n", "a.dcgi a.dcgi?q"},
		{"Allow: /a.dcgi\nAllow: /d/e/anything\n", "", "a.dcgi a.dcgi?q"},
		{"Allow: /a.dcgi\nAllow: /d/*e*anything*\n", "", "a.dcgi a.dcgi?q"},
		{"Allow: /a.dcgi\n", "Allow: /e/b.dcgi$\n", "a.dcgi a.dcgi?q"},
		{"Allow: /a.dcgi\n", "Allow: /e/.\n", "a.dcgi a.dcgi?q"},
		{"Allow: /d/cgi/x\n", "Allow: /*long/path\n", "d/cgi/x"},
		{"Allow: /a.dcgi\nDisallow: /a.dcgi$\n", "", "a.dcgi?q"},
		{"Allow: /*.dcgi\nDisallow: /*.dcgi?\n", "Disallow: /a.d*i\n", "a.dcgi ab.dcgi/x d/e/b.dcgi d/e/anything.dcgi"},
		{"Allow: /*.dcgi$\n", "", "d/a.dcgi a.dcgi d/e/b.dcgi d/e/anything.dcgi"},
		{"Allow: /d/*.dcgi$\n", "", "d/a.dcgi d/e/b.dcgi d/e/anything.dcgi"},
		{"Allow: /*.dcgi\nDisallow: /d/e/b.d\n", "", "d/a.dcgi a.dcgi a.dcgi?q ab.dcgi/x d/e/anything.dcgi"},
	} {
		root := treeOf(map[string]string{".robots": test.root + "Disallow: /never\n", "d/.robots": test.below + "Disallow: /never\n"}, "a", "d/e/f", "cgi/listed", "d/b.dcgi")
		c := Compile(Input{Root: root, Programs: []string{"/cgi", "/d/cgi", "/*.dcgi"}}, nil)
		if len(c.Unproven()) > 0 {
			t.Errorf("%q: %v", test.root, c.Unproven())
		}
		var open []string
		for _, name := range all {
			if !c.Denied(name, false) {
				open = append(open, name)
			}
		}
		if got := strings.Join(open, " "); got != test.open {
			t.Errorf("%q, %q: opens %q, want %q\n%s", test.root, test.below, got, test.open, c.File())
		}
		for _, row := range c.Proof() {
			if row.Leaks > 0 && row.Name == "rfc9309" || row.OverBlocks > 0 && row.Name == "rfc9309" {
				t.Errorf("%q, %q: %+v\n%s", test.root, test.below, row, c.File())
			}
		}
		for _, r := range c.Reports() {
			if r.Code == CodeNoMatch && r.File == ".robots" && !strings.Contains(r.Message, "never") && !strings.Contains(r.Message, "*x") && !strings.Contains(r.Message, "cgifoo") && !strings.Contains(r.Message, "b.d") && !strings.Contains(r.Message, "anything") {
				t.Errorf("%q: %+v", test.root, r)
			}
		}
		if c.Denied("cgifoo", false) || c.Denied("a", false) || test.root+test.below == "" && c.Denied("d/e/f", false) {
			t.Errorf("%q: too much is denied\n%s", test.root, c.File())
		}
	}
}

// TestProgramsLines: what programs answer has lines of its own, also below what an
// annotation denies: that may go, and they must not go with it.
func TestProgramsLines(t *testing.T) {
	c := Compile(Input{Root: treeOf(map[string]string{".robots": "Disallow: /cg\n"}, "a"), Programs: []string{"/cgi"}}, nil)
	for _, end := range []string{"$", "/", "?"} {
		if !strings.Contains(string(c.File()), "\nDisallow: /cgi"+end+"\n") {
			t.Errorf("no /cgi%s in\n%s", end, c.File())
		}
	}
	// Against an Allow that is shorter than theirs, they need no other ones.
	c = Compile(Input{Root: treeOf(map[string]string{".robots": "Allow: /a.dcgi\nAllow: /d/\n"}, "a"), Programs: []string{"/*.dcgi"}}, nil)
	if strings.Contains(string(c.File()), "/d/*") || !c.Denied("d/x.dcgi", false) || c.Denied("d/x", false) {
		t.Errorf("lines of what an Allow cannot outweigh:\n%s", c.File())
	}
	// An Allow of a name that a program answers opens nothing, though the root opens another.
	c = Compile(Input{Root: treeOf(map[string]string{".robots": "Allow: /a.dcgi\n", "d/.robots": "Allow: /a.dcgi$\nAllow: /a.dcgi/xyz$\n"}, "a"), Programs: []string{"/*.dcgi"}}, nil)
	if !c.Denied("d/a.dcgi", false) || !c.Denied("d/a.dcgi/xyz", false) || len(c.Unproven()) > 0 {
		t.Errorf("an Allow of a name:\n%s", c.File())
	}
}

// TestProgramsLaws: whatever annotations say, no reader is let into what a program
// answers but by name, and readers of RFC 9309 get what the root opens.
func TestProgramsLaws(t *testing.T) {
	pattern := rapid.Custom(func(t *rapid.T) string {
		words := []string{"/", "cgi", "d", "e", "a", ".x", "*", "?", "%3F", "b.x", "cgi/"}
		text := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, "words"), "")
		return rapid.SampledFrom([]string{"Allow: ", "Disallow: "}).Draw(t, "field") + text + rapid.SampledFrom([]string{"", "$"}).Draw(t, "end") + "\n"
	})
	rules := rapid.Map(rapid.SliceOfN(pattern, 0, 4), func(list []string) string { return strings.Join(list, "") })
	rapid.Check(t, func(t *rapid.T) {
		notes := map[string]string{".robots": rules.Draw(t, "root"), "d/.robots": rules.Draw(t, "d"), "cgi/.robots": rules.Draw(t, "cgi")}
		c := Compile(Input{Root: treeOf(notes, "a", "d/e/f", "d/cgi", "cgi/listed", "d/b.x", "e.x/a"), Programs: []string{"/cgi", "/d/cgi", "/*.x"}}, nil)
		for _, row := range c.Proof() {
			if strings.HasPrefix(row.Name, "rfc9309") && row.Name != "rfc9309-raw" && row.Leaks > 0 {
				t.Fatalf("%q: %+v\n%s", notes, row, c.File())
			}
		}
		for _, r := range c.Reports() {
			if r.Code == CodeUnnamedLeak {
				t.Fatalf("%q: %s: %v\n%s", notes, r.Diagnostic, r.Leaks, c.File())
			}
		}
	})
}

// TestCheckProgram: what is no selector of a program, and no end of names, is refused. If
// it is compiled all the same, everything is denied and a report says why.
func TestCheckProgram(t *testing.T) {
	root := treeOf(map[string]string{".robots": "Allow: /a\nDisallow: /b*c$\nAllow: /*.x$\nAllow: /$\n"}, "a", "cgi/b.x")
	for _, p := range []string{"/cgi", "/cgi-bin", "/d/cgi", "/a b", "/a$", "/a%20b", "/é", "/*.dcgi", "/*x", "/*.tar.gz", "/*.é"} {
		c := Compile(Input{Root: root, Programs: []string{p}}, nil)
		if err := CheckProgram(p); err != nil || c.Denied("b", false) || len(c.Unproven()) > 0 {
			t.Errorf("%q: %v, %v\n%s", p, err, c.Unproven(), c.File())
		}
	}
	for _, p := range []string{"", "/", "cgi", "/cgi/", "//", "/a//b", "/..", "/.git", "/a\x00", "/a\xff", "/*", "/**", "/*/", "/*.x/y", "/a*b", "/*.x*", "/cgi?x", "*.x", "/" + strings.Repeat("a/", 3000) + "b"} {
		if CheckProgram(p) == nil {
			t.Errorf("%q is taken", p)
		}
		c := Compile(Input{Root: root, Programs: []string{"/cgi", p}}, nil)
		if !c.Denied("a", false) || !c.Denied("to-come", false) || len(c.Unproven()) > 0 {
			t.Errorf("%q: %v\n%s", p, c.Unproven(), c.File())
		}
		if !slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeProgram }) {
			t.Errorf("%q: %v", p, c.Reports())
		}
		if next := Compile(Input{Root: root, Programs: []string{"/cgi"}}, c); next.Denied("a", false) || next.Hash() != Compile(Input{Root: root, Programs: []string{"/cgi"}}, nil).Hash() {
			t.Errorf("%q is remembered:\n%s", p, next.File())
		}
	}
}

// TestOwn: any text may be a selector that the server answers by itself.
func TestOwn(t *testing.T) {
	root := treeOf(map[string]string{".robots": "Allow: /a\nDisallow: /\n"}, "a", "d/b")
	for _, own := range []string{"", "/", "//", "/a b", "/*", "a/b", "\x00", "/..", "/d/", "robots.txt", "\xff"} {
		if c := Compile(Input{Root: root, Own: []string{own}}, nil); len(c.Unproven()) > 0 || !c.Denied("d/b", false) || c.Denied("a", false) {
			t.Errorf("%q: %v\n%s", own, c.Unproven(), c.File())
		}
	}
}
