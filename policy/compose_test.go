package policy

import (
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
