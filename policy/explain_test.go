package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExplain(t *testing.T) {
	c := Compile(tree("a", "phlog/drafts/x", "phlog/drafts/about.txt",
		".robots\tDisallow: /a|Disallow: /phlog/dr",
		"phlog/.robots\tUser-agent: *|Disallow: /drafts/|Allow: /drafts/about.txt|User-agent: foo|Disallow:"), nil)
	for _, test := range []struct {
		agent, name    string
		dir, allowed   bool
		by, overrules  string
		line           string
		readersAllowed int
	}{
		{"*", "phlog/drafts/x", false, false, "phlog/.robots:2", ".robots:2", "Disallow: /phlog/drafts/*$", 0},
		{"*", "phlog/drafts/about.txt", false, true, "phlog/.robots:3", "phlog/.robots:2", "Allow: /phlog/drafts/about.txt$", 5},
		{"Foo", "phlog/drafts/x", false, false, ".robots:2", "", "Disallow: /phlog/drafts", 0},
		{"*", "phlog", true, true, "", "", "", 6},
		{"*", "a", false, false, ".robots:1", "", "Disallow: /a", 0},
		{"*", ".", true, true, "", "", "", 6},
	} {
		e := c.Explain(test.agent, test.name, test.dir)
		readers := 0
		for _, r := range e.Readers {
			if r.Allowed {
				readers++
			}
		}
		if e.Allowed != test.allowed || place(e.By) != test.by || place(e.Overrules) != test.overrules ||
			e.Text != test.line || readers != test.readersAllowed {
			t.Errorf("%s %s: got %+v by %v over %v", test.agent, test.name, e, e.By, e.Overrules)
		}
		if e.Line > 0 && strings.Split(string(c.File()), "\n")[e.Line-1] != e.Text {
			t.Errorf("%s: line %d is not %q", test.name, e.Line, e.Text)
		}
	}
}

func place(s *RuleSource) string {
	if s == nil {
		return ""
	}
	return s.File + ":" + string(rune('0'+s.Line))
}

// TestExplainAgrees compares the explanation with the policy, everywhere.
func TestExplainAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := drawTree(t)
		c := Compile(root, nil)
		for _, res := range resources(root) {
			for _, agent := range named(root) {
				dir := strings.HasSuffix(res.sel, "/")
				e := c.Explain(agent, strings.Trim(res.sel, "/"), dir)
				if denied := naiveDenied(res.path, res.sel, agent); e.Allowed == denied {
					t.Fatalf("%s %q: denied %v, but by %v", agent, res.sel, denied, e.By)
				}
				if e.Selector != res.sel {
					t.Fatalf("%q became %q", res.sel, e.Selector)
				}
			}
		}
	})
}

func TestSource(t *testing.T) {
	c := Compile(tree("a", "d/x", ".robots\tDisallow: /a|Crawl-delay: 5", "d/.robots\t# mine|Disallow: /"), nil)
	want := map[string]string{"Disallow: /a": ".robots:1", "Disallow: d": "d/.robots:2", "Crawl-delay: 5": ".robots:2", "User-agent: *": ":0"}
	for i, l := range strings.Split(string(c.File()), "\n") {
		file, line := c.Source(i + 1)
		if w, ok := want[l]; ok && w != file+":"+string(rune('0'+line)) {
			t.Errorf("%q comes from %s:%d, want %s", l, file, line, w)
		}
		delete(want, l)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v\n%s", want, c.File())
	}
}
