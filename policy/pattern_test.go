package policy

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/prooftest"
)

// every calls f with each text of some letters that is not longer than n.
func every(letters string, n int, f func(string)) {
	f("")
	if n > 0 {
		for _, c := range letters {
			every(letters, n-1, func(rest string) { f(string(c) + rest) })
		}
	}
}

// TestMatches holds what is told of patterns against all short selectors: what
// matches, what covers, and what may meet.
func TestMatches(t *testing.T) {
	var patterns, selectors []string
	every("ab*", 3, func(s string) { patterns = append(patterns, "/"+s, "/"+s+"$") })
	every("ab", 6, func(s string) { selectors = append(selectors, "/"+s) })
	matched := map[string][]string{}
	for _, p := range patterns {
		for _, sel := range selectors {
			want := prooftest.Match(p, sel)
			if got := matches(p, sel); got != want {
				t.Fatalf("%q matches %q: %v", p, sel, got)
			}
			if want {
				matched[p] = append(matched[p], sel)
			}
			if len(sel) > 4 {
				continue
			}
			if got, want := covers(p, sel), prooftest.Match(p, sel) && prooftest.Match(p, sel+"a") && prooftest.Match(p, sel+"b") && p[len(p)-1] != '$'; got != want {
				t.Fatalf("%q covers %q: %v", p, sel, got)
			}
		}
	}
	for _, a := range patterns {
		have := map[string]bool{}
		for _, sel := range matched[a] {
			have[sel] = true
		}
		for _, b := range patterns {
			meets := false
			for _, sel := range matched[b] {
				meets = meets || have[sel]
			}
			// Where both have a star inside it may say yes without need.
			sure := isLiteral(a) || isLiteral(b) || strings.Count(a+b, "*") <= 1
			if got := mayMeet(a, b); got != meets && (sure || meets) {
				t.Fatalf("%q meets %q: %v", a, b, got)
			}
		}
	}
}

// TestCovered: a line is left out if a shorter one says the same to everybody.
func TestCovered(t *testing.T) {
	for _, test := range []struct{ text, written, left string }{
		{"Disallow: /a/\nDisallow: /a/b/\n", "/a/", "/a/b/"},
		{"Disallow: /a/\nDisallow: /a/*.zip$\n", "/a/", "/a/*.zip$"},
		{"Disallow: /a\nDisallow: /abc\nAllow: /abcd\n", "/a /abcd", "/abc"},
		{"Disallow: /a\nAllow: /ab\nDisallow: /abc\n", "/a /ab /abc", ""},
		{"Disallow: /a\nAllow: /b\nDisallow: /abc\n", "/a /b", "/abc"},
		{"Disallow: /a\nAllow: /*b\nDisallow: /abc\n", "/a /*b /abc", ""},
		{"Disallow: /a\nAllow: /a*b\nDisallow: /a*bc\n", "/a /a*b /a*bc", ""},
		{"Disallow: /a\nAllow: /a/bx\nDisallow: /a/b*ccc\n", "/a /a/bx /a/b*ccc", ""},
		{"Disallow: /ab\nAllow: /a\nDisallow: /abc\n", "/ab /a", "/abc"},
		{"Disallow: /\nDisallow: /a/\n", "/ /a/", ""},
		{"Disallow: /a$\nDisallow: /ab\n", "/a$ /ab", ""},
		{"Disallow: /a*b\nDisallow: /a*bc\n", "/a*b /a*bc", ""},
		{"Disallow: /a\nAllow: /a\n", "/a", ""},
		{"Disallow: /abc\nAllow: /a*b\nDisallow: /abcd\n", "/abc /a*b /abcd", ""},
		{"Disallow: /a\nAllow: /a*c\nDisallow: /abc\n", "/a /a*c", "/abc"},
		{"Disallow: /a\nDisallow: /a/b*ccc\nAllow: /b\n", "/a /b", "/a/b*ccc"},
		{"Disallow: /a\nDisallow: /a/b*ccc\nDisallow: /a/bx\n", "/a", "/a/b*ccc /a/bx"},
		{"Disallow: /a\nAllow: /a/bxxxx\nDisallow: /a/b*ccc\n", "/a /a/bxxxx", "/a/b*ccc"},
	} {
		file := string(compileOf(map[string]string{".robots": test.text}, "x").File())
		has := func(pattern string) bool { return strings.Contains(file, "llow: "+pattern+"\n") }
		for _, p := range strings.Fields(test.written) {
			if !has(p) {
				t.Errorf("%q: no %s in\n%s", test.text, p, file)
			}
		}
		for _, p := range strings.Fields(test.left) {
			if has(p) {
				t.Errorf("%q: %s in\n%s", test.text, p, file)
			}
		}
	}
}
