package policy

import (
	"slices"
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
