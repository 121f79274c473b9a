package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
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
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/cd\n":                "2 GLOB " + plain,
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/a\n":                 "",
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/c*e\n":               "",
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/cdefgh\n":            "",
		"Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/c*e\nDisallow: /c\n": "",
		"Allow: /a\nDisallow: /b/\nDisallow: /b/c*b$\nAllow: /b/cd\n":     "3 GLOB " + plain,

		// One who sees every Disallow sees no weak form of a rule for one robot, nor of
		// one that is not for Veronica where she has a group.
		"Disallow: /*c$\nUser-agent: veronica\nDisallow: /d$\n": "1 GLOB " + plain + " gopher-strict",
		"User-agent: foo\nDisallow: /*c$\n":                     "2 GLOB " + plain + " gopher-strict",
		"User-agent: foo\nDisallow: /a*b\n":                     "2 GLOB " + plain,
		"Disallow: /*/a\n":                                      "1 GLOB " + plain,

		"Disallow: /$\nDisallow: /log$\n":             "1 ROOT-MENU 1994 gemini gopher-strict veronica2",
		"Disallow: /a/i$\nDisallow: /a/index.html$\n": "",

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
		{"User-agent: veronica\nDisallow: /d/\n", "User-agent: veronica\nAllow: /x\n", false},
		{"Allow: /d/\n", "Allow: /x\n", false},
		{"", "Disallow: /\nAllow: /x\n", false},
		{"Allow: /d/cgi/x\n", "Allow: /cgi/x/y\n", false},
	} {
		notes := map[string]string{".robots": test.root, "d/.robots": test.below}
		c := Compile(Input{Root: treeOf(notes, "d/x", "e/x"), Programs: []string{"/d/cgi"}}, nil)
		got := slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeOverruled })
		if got != test.want {
			t.Errorf("%q: %v\n%v\n%s", notes, got, c.Reports(), c.File())
		}
	}
}

// TestByAllow: which Allow is the reason that a reader is let into something else.
func TestByAllow(t *testing.T) {
	for _, test := range []struct{ allow, reader, sels, others, code string }{
		{"/d/index.html", "google", "/d/ /d d", "/e/ / /d/x /d/index.html/", CodeIndex},
		{"/d/index.html$", "google-raw", "/d/ d", "/e/", CodeIndex},
		{"/*/index.htm", "google", "/d/ /e /d/x", "/", CodeIndex},
		{"/d/index.html", "rfc9309", "", "/d/ /d", ""},
		{"/d/x", "google", "", "/d/ /d", ""},
		{"/a%20b", "1994", "/a%20b a%20b /a%20bc", "/a%20c /ab", CodeEscaped},
		{"/a%20b", "gopher-mcp", "/a%20b", "", CodeEscaped},
		{"/a%20b", "rfc9309", "", "/a%20b", ""},
		{"/x%23", "first-match", "/x /xy x", "/y", CodeEscaped},
		{"/x%23", "gemini", "", "/x", ""},
	} {
		e := entry{rule: &rule{form: form{uri: test.allow, raw: test.allow}, allow: true}}
		w := work{groups: []*group{{entries: []entry{e}}}}
		for sel := range strings.FieldsSeq(test.sels) {
			if r, ok := w.byAllow(test.reader, sel); !ok || r.Code != test.code {
				t.Errorf("%s, %s, %s: %v", test.allow, test.reader, sel, r)
			}
		}
		for sel := range strings.FieldsSeq(test.others) {
			if r, ok := w.byAllow(test.reader, sel); ok {
				t.Errorf("%s, %s, %s: %v", test.allow, test.reader, sel, r)
			}
		}
		dropped, denial := e, e
		dropped.dropped, denial.rule = true, &rule{form: e.form}
		w.groups[0].entries = []entry{dropped, denial}
		for sel := range strings.FieldsSeq(test.sels) {
			if r, ok := w.byAllow(test.reader, sel); ok {
				t.Errorf("no Allow of %s, %s, %s: %v", test.allow, test.reader, sel, r)
			}
		}
	}
}

// TestByName: which names a reader does not understand that does not escape them.
func TestByName(t *testing.T) {
	for reader, names := range map[string][2]string{ // those, and others
		"gopher-strict": {"/a#b /a* a$", "/ab /a?b /a:b /a%41"},
		"veronica2":     {"/a#b", "/ab"},
		"gopher-mcp":    {"/a#b /a?b a:b /a%41 /ä", "/ab /a.b-c_d~e/F9"},
		"1994":          {"/a;b", "/ab"},
		"rfc9309":       {"", "/a#b /a?b"},
		"google":        {"", "/a*b"},
	} {
		for i, list := range names {
			for sel := range strings.FieldsSeq(list) {
				if r, ok := byName(proof.Finding{Reader: reader, File: "f", Line: 2}, sel); ok != (i == 0) || ok && (r.Code != CodeName || r.Place() != "f:2") {
					t.Errorf("%s, %s: %v", reader, sel, r)
				}
			}
		}
	}
}

// TestStrictAlone: what strict Gopher readers alone lose at a line has a code of its own.
func TestStrictAlone(t *testing.T) {
	for text, want := range map[string]string{
		"User-agent: foo\nDisallow: /b/\n":  "gopher-strict " + CodeOverBlockStrict,
		"Disallow: /b/\nAllow: /b/c\n":      "gopher-strict " + CodeOverBlock,
		"User-agent: veronica\nDisallow: /": "gopher-strict " + CodeOverBlockStrict,
	} {
		var got []string
		for _, r := range compileOf(map[string]string{".robots": text}, "b/c").Reports() {
			if slices.Contains(r.Readers, strict) && len(r.Victims) > 0 {
				got = append(got, strict+" "+r.Code)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
