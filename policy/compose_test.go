package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestDeciding: the longest rule decides, whatever the order; Allow if two are
// equally long.
func TestDeciding(t *testing.T) {
	var rules []*rule
	for uri, allow := range map[string]bool{"/": true, "/a/": false, "/a*": true, "/a/b": false, "/a/cc": false, "/a/b/c$": false, "/x/yyyyyyy": true} {
		rules = append(rules, &rule{form: form{uri: uri}, allow: allow})
	}
	rules = append(rules, &rule{form: form{uri: "/a/b"}, allow: true})
	for i := range rules {
		turned := slices.Concat(rules[i:], rules[:i])
		for range 2 {
			if r := deciding(turned, "/a/b/c"); r == nil || r.uri != "/a/b" || !r.allow {
				t.Errorf("%+v decides", r)
			}
			if r := deciding(turned, "/a/cc/"); r == nil || r.uri != "/a/cc" || r.allow {
				t.Errorf("%+v decides", r)
			}
			slices.Reverse(turned)
		}
	}
	if r := deciding(rules[:0], "/a"); r != nil {
		t.Errorf("%+v decides", r)
	}
}

// TestFinalParts: where Final names a part of what a pattern of the root denies, an Allow
// below keeps the rest if that can be said; if it cannot, it opens nothing.
func TestFinalParts(t *testing.T) {
	for _, test := range []struct {
		root, below  string
		open, denied string
	}{
		{"Final: /d/\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "d/abcdef d/abcdefg", "d/abcdef.zip d/x a.zip"},
		{"Final: /\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "d/abcdef d/abcdefg", "d/abcdef.zip d/x a.zip"},
		{"Final: /d$\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "d/abcdef d/abcdef.zip", "d/x a.zip"},
		{"Final: /e/\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "d/abcdef d/abcdef.zip", "d/x a.zip"},
		{"Final: /d\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "a", "d/abcdef d/abcdef.zip d/x a.zip"},
		{"Final: /*/\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "a", "d/abcdef d/abcdef.zip d/x a.zip"},
		{"Final: /d/*\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "a", "d/abcdef d/abcdef.zip d/x a.zip"},
		{"Final: /d/\nDisallow: /*e/*.zip$\n", "Disallow: /\nAllow: /abcdefghij\n", "a", "d/abcdefghij d/abcde/x.zip e/x.zip"},
		{"Final: /d/\nDisallow: /*.zip$\nAllow: /d/abcdefg*p$\n", "Disallow: /\nAllow: /abcdef\n", "d/abcdefg.zip", "d/abcdef d/abcdef.zip"},
		{"Final: /d/\nDisallow: /*/x\n", "Disallow: /\nAllow: /xyz\n", "a", "d/xyz d/x"},
		{"Final: /\nAllow: /d/\nDisallow: /*b\n", "Disallow: /xy\nAllow: /xyz\n", "d/xyz d/xyzb d/a", "d/xy b"},
		{"Final: /\nDisallow: /*b\nAllow: /*c\n", "Disallow: /xy\nAllow: /xyz\n", "a", "d/xyz d/xyzb d/xy b"},
		{"Final: /\nAllow: /d/*z\n", "Disallow: /\nAllow: /abc\n", "d/abc d/abcz d/z", "d/x"},
		{"Final: /\nDisallow: /d/a*z$\nAllow: /d/ab*z$\n", "Disallow: /\nAllow: /abcdefghi\n", "d/abcdz", "d/abcdefghi d/abcdefghiy d/x d/acz"},
		{"Final: /d/\nDisallow: /*e/*.zip$\n", "Disallow: /\nAllow: /abcdefghij\nAllow: /b\n", "d/b", "d/abcdefghij d/x"},
		{"Final: /a/\nFinal: /d/\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "d/abcdef", "d/abcdef.zip d/x"},
		{"Final: /\nDisallow: /d/*z$\n", "Disallow: /\nAllow: /abc\n", "d/abc", "d/abcz d/x"},
		{"Final: /\nDisallow: /!q\nDisallow: /*.zip$\n", "Disallow: /\nAllow: /abcdef\n", "d/abcdef", "d/abcdef.zip d/x"},
		{"Final: /\nAllow: /d/a\nDisallow: /*b\nDisallow: /d/*bcdz$\n", "Disallow: /\nAllow: /abcdefghijk\n", "d/a d/abcdefghijk", "d/abcdefghijkbcdz d/x"},
		{"Final: /d/x/\nDisallow: /d\n", "Allow: /*y\n", "d/y d/z/y", "d/x/y d/z"},
		{"Final: /d/x/\nDisallow: /d/$\n", "Disallow: /\nAllow: /*\n", "a", "d/x d/x/y d/y"},
		{"Final: /d/\nDisallow: /*/x\n", "Disallow: /\nAllow: /yzabc\n", "a", "d/yzabc d/yzabc/x d/x"},
		{"Final: /d/e/\nDisallow: /*e\n", "Disallow: /\nAllow: /*qqqq\n", "a", "d/e/xqqqq d/xqqqq e"},
		{"Final: /d/\nDisallow: /*q*.zip$\n", "Disallow: /\nAllow: /abcdefghij\n", "a", "d/abcdefghij d/abcdefghijq.zip q.zip"},
	} {
		c := compileOf(map[string]string{".robots": test.root, "d/.robots": test.below}, "a", "d/x")
		for _, name := range strings.Fields(test.open) {
			if c.Denied(name, false) {
				t.Errorf("%q, %q: %s is denied\n%s", test.root, test.below, name, c.File())
			}
		}
		for _, name := range strings.Fields(test.denied) {
			if !c.Denied(name, false) {
				t.Errorf("%q, %q: %s is open\n%s", test.root, test.below, name, c.File())
			}
		}
		if len(c.Unproven()) > 0 {
			t.Errorf("%q, %q: %v", test.root, test.below, c.Unproven())
		}
	}
}

// TestStars: a line is made longer by up to 1,000 stars, so that it outweighs an Allow;
// a longer one is left out.
func TestStars(t *testing.T) {
	for length, kept := range map[int]bool{1002: true, 1003: false} {
		allow := "/" + strings.Repeat("a", length) // as "/d" + allow it is 999 or 1,000 bytes longer than "/d/*z$"
		c := compileOf(map[string]string{".robots": "Final: /\nDisallow: /d/*z$\n", "d/.robots": "Disallow: /\nAllow: " + allow + "\n"}, "d/x")
		if c.Denied("d"+allow, false) == kept || !c.Denied("d"+allow+"z", false) || strings.Contains(string(c.File()), strings.Repeat("*", 1001)+"z") != kept {
			t.Errorf("%d bytes:\n%s", len("/d"+allow), c.File())
		}
	}
}

// TestFinalWithoutRoom: an Allow that no line of the root can outweigh is left out.
func TestFinalWithoutRoom(t *testing.T) {
	long := strings.Repeat("a", 1100)
	for name, test := range map[string]struct{ root, below, denied string }{
		"it is too long":                {"Final: /\nDisallow: /*.zip$\n", "Allow: /" + long + "*\n", "d/" + long + ".zip"},
		"a pattern without a star ends": {"Final: /\nDisallow: /d/a$\n", "Allow: /*****a\n", "d/a"},
	} {
		c := compileOf(map[string]string{".robots": test.root, "d/.robots": test.below}, "d/x")
		if !c.Denied(test.denied, false) || len(c.Unproven()) > 0 {
			t.Errorf("%s: %v\n%s", name, c.Reports(), c.File())
		}
		for _, r := range c.Reports() {
			if r.Code == CodeUnnamedLeak {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}

// TestComposed: which lines are written where an Allow meets what it must not open: a
// directory that is denied as a whole, what programs answer, what a Final holds.
func TestComposed(t *testing.T) {
	const cgi, ext = "/cgi", "/*.dcgi"
	for name, test := range map[string]struct {
		root, below   string // annotations of the root and of d
		shut          string // a directory with an annotation that cannot be read
		program       string
		written, left string // lines, with a comma between them
	}{
		"an Allow that is outweighed in a part does not undo a Disallow": {"Allow: /d*xyz\nDisallow: /d*xyz\n", "", "d", "",
			"Allow: /d*xyz, Disallow: /d*xyz, Disallow: /d/, Disallow: /d/****", ""},
		"an Allow elsewhere is not outweighed": {"Allow: /xyz\nDisallow: /xyz\n", "", "d", "",
			"Allow: /xyz, Disallow: /d/", "Disallow: /xyz, Disallow: /d/**"},
		"an Allow inside is left out": {"Allow: /d/abc\nAllow: /d\nDisallow: /e/\nDisallow: /e/f/\n", "", "d", "",
			"Allow: /d, Disallow: /d/, Disallow: /e/", "Allow: /d/abc, Disallow: /d/***, Disallow: /e/f/"},
		"what is denied as a whole and by a rule covers a program": {"Disallow: /d/\n", "", "d", "/d/cgi",
			"Disallow: /d/", "Disallow: /d/cgi/"},
		"an Allow above undoes a Disallow": {"Allow: /d/abcdefgh\n", "Disallow: /abcdefgh\nDisallow: /x\n", "", "",
			"Allow: /d/abcdefgh, Disallow: /d/x", "Disallow: /d/abcdefgh"},
		"an Allow above that is outweighed in a part undoes none": {"Allow: /d/abcdefgh\n", "Disallow: /abcdefgh\n", "", ext,
			"Allow: /d/abcdefgh, Disallow: /d/abcdefgh", ""},
		"what is denied as a whole is not covered": {"Disallow: /d\n", "", "d/e", "",
			"Disallow: /d, Disallow: /d/e/", ""},
		"a program outweighs an Allow in a part": {"Allow: /d/abcdefgh\nDisallow: /d/abcdefgh\n", "", "", ext,
			"Allow: /d/abcdefgh, Disallow: /d/abcdefgh, Disallow: /*****.dcgi$, Disallow: /*****.dcgi/, Disallow: /***.dcgi%3F", "Disallow: /d/abcdefgh*.dcgi$"},
		"a program outweighs an Allow below in a part": {"", "Disallow: /\nAllow: /abcdefgh\n", "", ext,
			"Allow: /d/abcdefgh, Disallow: /d/, Disallow: /*****.dcgi$", ""},
		"a program is opened, and outweighs another Allow": {"Allow: /a.dcgi\nAllow: /d/abcdefgh\nDisallow: /d/abcdefgh\n", "", "", ext,
			"Allow: /a.dcgi, Allow: /d/abcdefgh, Disallow: /d/abcdefgh, Disallow: /d/abcdefgh*.dcgi$, Disallow: /d/abcdefgh*.dcgi/, Disallow: /d/abcdefgh*.dcgi?", "Disallow: /*****.dcgi$"},
		"a program is opened, and outweighs a pattern": {"Allow: /a.dcgi\nAllow: /d/*anything\n", "", "", ext,
			"Disallow: /d/****.dcgi$, Disallow: /d/****.dcgi/, Disallow: /d/**.dcgi%3F", ""},
		"a part that begins with a blank": {"Allow: /a.dcgi\nAllow: / bcdefghijk\n", "", "", ext,
			"Disallow: /%20bcdefghijk*.dcgi$, Disallow: /*bcdefghijk*.dcgi", ""},
		"a program without an extension outweighs a pattern": {"Allow: /cgi$\nAllow: /c*listed\n", "", "", cgi,
			"Allow: /cgi$, Allow: /c*listed, Disallow: /cgi/, Disallow: /cgi/*****", "Disallow: /c*/cgi/"},
		"an Allow as long as a program's line, which cannot be longer": {"Allow: /c*gi\nDisallow: /x\n", "", "", cgi,
			"Disallow: /cgi$, Disallow: /x", "Allow: /c*gi"},
		"an Allow below what the root opens has no lines more": {"Allow: /d/*.dcgi\n", "Allow: /b.dcgi\nDisallow: /\n", "", ext,
			"Allow: /d/b.dcgi", "Allow: /d/b.dcgi%3F"},
		"an Allow as long as a program's line opens it": {"Allow: /ab.dcgi\nDisallow: /a\n", "", "", ext,
			"Allow: /ab.dcgi, Allow: /ab.dcgi?, Allow: /ab.dcgi%3F", "Allow: /ab.dcgi$, Allow: /ab.dcgi/"},
		"an extension with more behind it names no program": {"Allow: /a.dcgixyz\nAllow: /a.dcgix.dcgi\n", "", "", ext,
			"Disallow: /a.dcgixyz*.dcgi$, Allow: /a.dcgix.dcgi", ""},
		"a Disallow before what opens a program": {"Disallow: /a\nAllow: /cgi$\n", "", "", cgi,
			"Allow: /cgi$, Disallow: /cgi/", "Disallow: /cgi$"},
		"a Final outweighs an Allow in a part": {"Final: /d/\nDisallow: /*.zip$\n", "Allow: /abcdef\nDisallow: /abcdef\n", "", "",
			"Allow: /d/abcdef, Disallow: /d/abcdef, Disallow: /*.zip$, Disallow: /d/**.zip$", "Disallow: /****.zip$"},
		"a shorter Allow beside a Final": {"Final: /\nAllow: /d/a\nDisallow: /d/*bcdz$\n", "Disallow: /\nAllow: /abcdefghijk\nDisallow: /abcdefghijk\n", "", "",
			"Allow: /d/a, Allow: /d/abcdefghijk, Disallow: /d/*******bcdz$", ""},
		"a program that begins with a blank": {"", "", "", "/ cgi",
			"Disallow: / cgi/, Disallow: /*cgi/, Disallow: *cgi/", ""},
		"a program that ends with a blank": {"", "", "", "/cgi ",
			"Disallow: /cgi%20$, Disallow: /cgi, Disallow: cgi", "Disallow: /cgi "},
		"a part of an extension that ends with a dollar": {"Allow: /a.d%24\nAllow: /d/abcdefgh\n", "", "", "/*.d$",
			"Disallow: /d/abcdefgh*.d%24$, Disallow: /d/abcdefgh*.d", "Disallow: /d/abcdefgh*.d$"},
	} {
		root := treeOf(map[string]string{".robots": test.root, "d/.robots": test.below}, "d/x", "d/e/x")
		if test.shut != "" {
			dir := root.find(test.shut)
			dir.Notes = []*Annotation{{File: test.shut + "/.robots", Err: errors.New("it is a directory")}}
		}
		in := Input{Root: root}
		if test.program != "" {
			in.Programs = []string{test.program}
		}
		c := Compile(in, nil)
		for line := range strings.SplitSeq(test.written, ", ") {
			if !strings.Contains(string(c.File()), "\n"+line+"\n") {
				t.Errorf("%s: no %q in\n%s", name, line, c.File())
			}
		}
		for line := range strings.SplitSeq(test.left, ", ") {
			if line != "" && strings.Contains(string(c.File()), "\n"+line+"\n") {
				t.Errorf("%s: %q in\n%s", name, line, c.File())
			}
		}
		for _, r := range c.Reports() {
			if r.Code == CodeOverruled || r.Code == CodeUnnamedLeak {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}
