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
