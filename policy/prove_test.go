package policy

import (
	"bytes"
	"testing"
	"time"

	"github.com/gophd/gophd/robots"
)

// Another file is held against the same policy: its leaks and over-blocks are
// its own.
func TestProve(t *testing.T) {
	c := Compile(tree("a", "b", "d/x", "d/y", "d/.robots\tDisallow: /x"), nil)
	if m, leaks := c.Prove(c.File()); len(leaks) > 0 || len(m) != len(c.Proof()) || m[0] != c.Proof()[0] {
		t.Errorf("its own file: %v, %v, want %v", m, leaks, c.Proof())
	}
	m, leaks := c.Prove(bytes.ReplaceAll(c.File(), []byte("Disallow: /d/x\n"), []byte("Disallow: /b\n")))
	for _, row := range m {
		if row.Leaks != 1 || row.OverBlocks != 1 {
			t.Errorf("a rule changed: %+v", row)
		}
	}
	if len(leaks) != len(m) || leaks[0].Selector != "/d/x" {
		t.Errorf("leaks %v", leaks)
	}
	if m, leaks := c.Prove(nil); len(leaks) == 0 || m[0].OverBlocks != 0 {
		t.Errorf("no file: %v, %v", m, leaks)
	}
	if len(c.Unproven()) > 0 {
		t.Errorf("the policy has changed: %v", c.Unproven())
	}
}

func TestHas(t *testing.T) {
	root := tree("a", "d/x", "d/e/y")
	for name, want := range map[string][2]bool{ // directory, file
		".": {true, false}, "a": {false, true}, "d": {true, false}, "d/x": {false, true},
		"d/e": {true, false}, "d/e/y": {false, true}, "x": {false, false}, "a/x": {false, false}, "d/e/z": {false, false},
	} {
		if got := [2]bool{root.Has(name, true), root.Has(name, false)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestCrawler(t *testing.T) {
	for _, test := range []struct {
		text string
		want robots.Crawler
	}{
		{"Disallow: /x", robots.Crawler{Cooldown: robots.DefaultCooldown}},
		{"Index: Allow", robots.Crawler{Index: robots.IndexAllow, Cooldown: robots.DefaultCooldown}},
		{"Index: deny|Cooldown: 60", robots.Crawler{Index: robots.IndexDeny, Cooldown: time.Minute}},
		{"Cooldown: 60", robots.Crawler{Cooldown: time.Minute}},
		{"Index: maybe", robots.Crawler{Cooldown: robots.DefaultCooldown}},
	} {
		c := Compile(tree("a", ".robots\t"+test.text), nil)
		if got := c.Fields().Crawler(); got != test.want {
			t.Errorf("%s: %v, want %v", test.text, got, test.want)
		}
	}
}
