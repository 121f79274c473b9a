package policy

import (
	"slices"
	"strings"
	"testing"
)

// TestWhoCannotBeTold: what is told of readers that a rule does not reach, and of
// which; nothing if each gets it.
func TestWhoCannotBeTold(t *testing.T) {
	const plain = "1994 first-match gemini"
	for text, want := range map[string]string{
		"Disallow: /a/\nDisallow: /b\n":         "",
		"Disallow: /a$\nDisallow: /ab$\n":       "", // the weak form of each stands beside it
		"Disallow: /a*longer\nDisallow: /ab$\n": "1 GLOB " + plain,
		"Disallow: /*k\nDisallow: /log$\n":      "1 GLOB " + plain + "; 2 ANCHOR " + plain,
		"Disallow: /*/a$\n":                     "1 GLOB " + plain + " gopher-strict veronica2",
		"Disallow: /a%23b\n":                    "1 NAME " + plain + " google-raw gopher-mcp rfc9309-raw",
		"Disallow: /a%24\n":                     "1 NAME " + plain + " google-raw gopher-mcp rfc9309-raw",
		"Disallow: / b\n":                       "",
		"Disallow: / b$\n":                      "1 NAME " + plain + " google-raw gopher-mcp rfc9309-raw",

		// A reader that has a name gets its own group.
		"Disallow: /a%23b\nUser-agent: gopher-mcp\nDisallow: /x\n":                               "1 NAME " + plain + " google-raw rfc9309-raw",
		"Disallow: /a$\nUser-agent: foo\nDisallow: /c%23\nUser-agent: veronica\nDisallow: /d$\n": "3 NAME " + plain + " google-raw gopher-strict rfc9309-raw",
		"Disallow: /b\nUser-agent: veronica\nDisallow: /*/a$\n":                                  "",

		// Who goes by the first rule is let in by an Allow that may meet a longer pattern.
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/cd\n":  "2 GLOB " + plain,
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/a\n":   "",
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/c*e\n": "",

		"Disallow: /\nDisallow: /*b$\n": "1 ROOT-MENU " + plain + "; 2 GLOB " + plain,
	} {
		var list []string
		for _, r := range compileOf(map[string]string{".robots": text}, "log").Reports() {
			if r.Code != CodeNoMatch && r.Code != CodeOverBlock && r.Code != CodeOverBlockStrict {
				place, _ := strings.CutPrefix(r.Place(), ".robots:")
				list = append(list, place+" "+r.Code+" "+strings.Join(slices.Sorted(slices.Values(r.Readers)), " "))
			}
		}
		slices.Sort(list)
		if got := strings.Join(list, "; "); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestOverruled: it is told of a rule of the root that an Allow below opens some of what
// it denies to all, and of no other.
func TestOverruled(t *testing.T) {
	for _, test := range []struct {
		root, below string
		want        bool
	}{
		{"Disallow: /d/\n", "Allow: /x\n", true},
		{"Disallow: /d\n", "Disallow: /\nAllow: /x\n", true},
		{"Disallow: /d/\n", "Disallow: /x\n", false},
		{"Disallow: /d/\nAllow: /d/x\n", "", false},
		{"Disallow: /e/\n", "Allow: /x\n", false},
		{"Disallow: /*d/\n", "Allow: /x\n", false},
		{"Final: /d/\nDisallow: /d/\n", "Allow: /x\n", false},
		{"Final: /d/\nDisallow: /d\n", "Allow: /x\n", false},
		{"User-agent: foo\nDisallow: /d/\n", "User-agent: foo\nAllow: /x\n", false},
		{"Allow: /d/\n", "Allow: /x\n", false},
	} {
		notes := map[string]string{".robots": test.root, "d/.robots": test.below}
		c := compileOf(notes, "d/x", "e/x")
		got := slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeOverruled })
		if got != test.want {
			t.Errorf("%q: %v\n%v\n%s", notes, got, c.Reports(), c.File())
		}
	}
}
