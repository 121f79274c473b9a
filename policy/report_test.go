package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
)

// TestReports: what each line of an annotation is told.
func TestReports(t *testing.T) {
	for text, want := range map[string]string{
		"Disallow /b\n":                                                "error 1 MISSPELT",
		"Disalow: /b\n":                                                "error 1 MISSPELT",
		"Disallow: /b\nAlow: /b/c\n":                                   "error 2 MISSPELT",
		"Useragent: x\nDisallow: /b\n":                                 "error 1 MISSPELT",
		"nonsense\n":                                                   "error 1 SYNTAX",
		"Colour: red\n":                                                "error 1 SYNTAX",
		"Final:\nDisallow: /b\n":                                       "error 1 SYNTAX",
		"Disallow: /b\nAllow: /b%0A\n":                                 "error 2 SYNTAX",
		"Content-Usage: /a\nDisallow: /b\n":                            "error 1 SYNTAX",
		"User-agent: *Bot*\nDisallow: /b\n":                            "error 1 AGENT-NAME; error 2 LOST",
		"User-agent: *Bot*\nDisallow: /to-come/\n":                     "error 1 AGENT-NAME; error 2 LOST",
		"Final: /to-come/\nDisallow: /b\n":                             "",
		"Disallow: /b/\nAllow: /b/c\n":                                 "notice 2 OVER-BLOCK",
		"User-agent: " + strings.Repeat("a", 64) + "\nDisallow: /b\n":  "",
		"User-agent: " + strings.Repeat("a", 65) + "\nDisallow: /b\n":  "error 1 AGENT-NAME; error 2 LOST",
		"User-agent: my bot\nAllow: /a\n":                              "error 1 AGENT-NAME",
		"User-agent: a, b\nDisallow: /b\n":                             "error 1 AGENT-NAME",
		"User-agent: a/1.1\nDisallow: /b\n":                            "error 1 AGENT-NAME",
		"User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /b\n": "warning 1 GROUP-SWALLOWED",
		"Crawl-delay: soon\n":                                          "error 1 SYNTAX",
		"License: terms\n":                                             "error 1 SYNTAX",
		"Comment:\n":                                                   "error 1 SYNTAX",
		"Comment: a\x01b\n":                                            "error 1 SYNTAX",
		"User-agent: a/1.1, b/2\nDisallow: /b\n":                       "error 1 AGENT-NAME; error 1 AGENT-NAME; error 1 AGENT-NAME",
		"User-agent: foo\nDisallow: /\nAllow: /a\n":                    "notice 2 ROOT-MENU; notice 3 OVER-BLOCK",
		"User-agent: veronica\nDisallow: /\nAllow: /a\n":               "notice 2 VERONICA-HOST; notice 3 OVER-BLOCK",
		"Disallow: /\nAllow: /a\n":                                     "notice 1 OVERRULED; notice 1 ROOT-MENU; notice 1 VERONICA-HOST; notice 2 OVER-BLOCK",
		"Disallow: /*.txt\n":                                           "warning 1 GLOB",
		"Disallow: /A*\n":                                              "notice 1 NO-MATCH",
		"Disallow: /a/readmi\n":                                        "warning 1 NO-MATCH",
		"Disallow: /to-come/\n":                                        "notice 1 NO-MATCH",
		"Disallow: /caps.txt\nDisallow: /b\n":                          "",
		"Allow: /a/feed.xml\n":                                         "",
		"Content-Usage: train-ai=n\nAllow: /a\n":                       "",
		"Content-Usage: train-ai=no\nAllow: /a\n":                      "notice 1 PREFERENCE",
		"Content-Usage: nonsense(((\nAllow: /a\n":                      "error 1 SYNTAX",
		"Content-Signal: search = Yes\nAllow: /a\n":                    "",
		"Content-Signal: search=y\nAllow: /a\n":                        "notice 1 PREFERENCE",
		"Content-Usage: eat=n\nAllow: /a\n":                            "notice 1 PREFERENCE",
		"Content-Signal: ai-train=no\nAllow: /a\n":                     "",
		"Content-Signal: sing=no\nAllow: /a\n":                         "notice 1 PREFERENCE",
		"Disallow: /a/sub\nDisallow: /b/\n":                            "notice 1 OVERRULED",
	} {
		root := treeOf(map[string]string{".robots": text, "a/sub/.robots": "Allow: /x\n"}, "a/readme", "a/sub/x", "a/sub/x.txt", "b/c", "caps")
		c := Compile(Input{Root: root, Own: []string{"/caps.txt", "feed.xml"}}, nil)
		var list []string
		for _, r := range c.Reports() {
			if r.File == ".robots" && r.Code != CodeOverBlockStrict {
				list = append(list, fmt.Sprintf("%s %d %s", r.Severity, r.Line, r.Code))
			}
		}
		slices.Sort(list)
		if got := strings.Join(list, "; "); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestNearestName(t *testing.T) {
	c := compileOf(map[string]string{"phlog/.robots": "Disallow: /draft/\n"}, "phlog/drafts/a.txt")
	if got, want := fmt.Sprint(c.Reports()[0].Diagnostic), `phlog/.robots:1: warning: "Disallow: /draft/" matches nothing; the nearest name is /drafts/ (NO-MATCH)`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestUnreadable: as long as an annotation cannot be read, its directory is denied,
// and nothing opens it.
func TestUnreadable(t *testing.T) {
	root := treeOf(map[string]string{".robots": "Allow: /*x\nAllow: /a/b\nDisallow: /a\nUser-agent: bot\nAllow: /\n", "a/.robots": "", "a/b/.robots": "Allow: /\n"}, "a/x", "a/b/x", "z")
	root.Dirs[0].Notes[0].Err = errors.New("permission denied")
	c := Compile(Input{Root: root}, nil)
	for _, agent := range []string{"zz", "bot"} {
		for name, want := range map[string]bool{"a/x": false, "a/b/x": false, "z": true} {
			if got := c.Explain(agent, name, false).Allowed; got != want {
				t.Errorf("%s into %s: %v\n%s", agent, name, got, c.File())
			}
		}
	}
	if !slices.Contains(linesOf(c, "a"), "Disallow: /a/") { // though "/a" says as much: who wrote that may take it back
		t.Errorf("no line of its own:\n%s", c.File())
	}
	if r := c.Reports()[0]; r.Code != CodeUnreadable || r.Severity != diag.Error || r.File != "a/.robots" {
		t.Errorf("got %+v", r)
	}
}

// TestHandWritten: a robots.txt that is alone is served as it is.
func TestHandWritten(t *testing.T) {
	text := "# mine\nUser-agent: *\nDisallow: /private\n"
	c := compileOf(map[string]string{"robots.txt": text}, "private/x", "a")
	if string(c.File()) != text || !c.Denied("private/x", false) || c.Denied("a", false) {
		t.Errorf("got:\n%s", c.File())
	}
	if s := c.Source(3); s == nil || s.File != "robots.txt" || s.Line != 3 {
		t.Errorf("line 3 is from %+v", s)
	}
	want := RuleSource{File: "robots.txt", Line: 3, Value: "/private"}
	if e := c.Explain("*", "private/x", false); e.Allowed || e.By == nil || *e.By != want || e.Line != 3 || e.Text != "Disallow: /private" || e.Overrules != nil {
		t.Errorf("private/x: %+v, by %+v", e, e.By)
	}
	if canonical, closed := c.Closed("private/x"); !closed || canonical != "/private/x" {
		t.Errorf("private/x: %q, %v", canonical, closed)
	}
	if e := c.Explain("*", "a", false); !e.Allowed || e.By != nil || e.Line != 0 || e.Text != "" {
		t.Errorf("a: %+v", e)
	}
	c = compileOf(map[string]string{"robots.txt": "Sitemap: gopher://e.org/0/s\n" + text}, "a")
	if s := c.Source(1); s == nil || s.Line != 1 || s.Value != "gopher://e.org/0/s" || c.Source(0) != nil || c.Source(2) != nil || c.Source(5) != nil {
		t.Errorf("line 1 is from %+v", s)
	}
	c = compileOf(map[string]string{"robots.txt": text, "b/.robots": "Disallow: /\n"}, "private/x")
	if !strings.Contains(string(c.File()), "\nDisallow: /private\n") || !strings.Contains(string(c.File()), "\nDisallow: /b/\n") {
		t.Errorf("got:\n%s", c.File())
	}
}

// TestPreferences: each path has what its annotations say.
func TestPreferences(t *testing.T) {
	c := compileOf(map[string]string{
		".robots":      "Content-Usage: train-ai=y, search=y\nContent-Usage: train-ai=n\nLicense: https://e.org/l\nContent-Signal: ai-train=no\n",
		"art/.robots":  "Content-Usage: /My%20Own/ search=n\nDisallow: /x\n\nUser-agent: GPTBot\nContent-Usage: train-ai=n\n",
		"junk/.robots": "License: https://e.org/m\n",
	})
	for _, want := range []string{
		"\nContent-Usage: search=y, train-ai=n\n", "\nContent-Usage: /art/My%20Own/ search=n\n", "\nContent-Signal: ai-train=no\n",
		"User-agent: GPTBot\nDisallow: /art/x\nDisallow: art/x\nContent-Usage: /art/ train-ai=n\n", "\n\nLicense: https://e.org/l\n",
	} {
		if !strings.Contains(string(c.File()), want) {
			t.Errorf("no %q in\n%s", want, c.File())
		}
	}
	if strings.Contains(string(c.File()), "e.org/m") || strings.Count(string(c.File()), "License: ") != 1 {
		t.Errorf("got:\n%s", c.File())
	}
}

// TestPreferencesTogether: what several lines say of one path is one dictionary,
// whatever stands in it; each preference is traced to the line that states it, and
// a line that does not parse is none.
func TestPreferencesTogether(t *testing.T) {
	c := compileOf(map[string]string{
		".robots":   "Content-Usage: search=y\n\nUser-agent: GPTBot\nContent-Usage: /a/ train-ai=y;x=1, eat=\"a,b\", ai=7\n",
		"a/.robots": "Content-Usage: train-ai=n;x=2\nContent-Usage: nonsense(((\nContent-Usage: search=maybe\n",
	}, "a/x")
	if !strings.Contains(string(c.File()), "\nContent-Usage: /a/ ai=7, search=maybe, train-ai=n;x=2\n") {
		t.Errorf("got:\n%s", c.File())
	}
	for _, r := range c.Reports() {
		if r.Code == CodeUnnamedLeak {
			t.Error(r)
		}
	}
	var got []string
	for _, p := range c.Explain("gptbot", "a/x", false).Usage {
		got = append(got, fmt.Sprintf("%s=%s %s:%d", p.Key, p.Value, p.By.File, p.By.Line))
	}
	if got, want := strings.Join(got, "; "), "ai=unstated .robots:4; search=unstated a/.robots:3; train-ai=n a/.robots:1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	hand := compileOf(map[string]string{"robots.txt": "User-agent: *\nDisallow: /b\nContent-Usage: train-ai=n\n"}, "a")
	if u := hand.Explain("*", "a", false).Usage; len(u) != 1 || u[0].By == nil || u[0].By.Line != 3 || u[0].Line != 3 {
		t.Errorf("hand-written: %+v", u)
	}
}

// FuzzAnnotation: any bytes give reports, never a panic, and never open what a line
// that is understood denies.
func FuzzAnnotation(f *testing.F) {
	for _, s := range []string{"Disallow: /a\n", "User-agent: *\nAllow: /%zz*$\nFinal: *\n", "\x00\xff:\r:\n", "Content-Usage: =,;\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root := &Dir{Files: []string{"x"}, Dirs: []*Dir{{Name: "d", Files: []string{"y"}, Notes: []*Annotation{{File: "d/.robots", Data: data}}}}}
		root.Notes = []*Annotation{{File: ".robots", Data: []byte("Final: /\nDisallow: /x\nDisallow: /d/y\n")}}
		c := Compile(Input{Root: root}, nil)
		if !c.Denied("x", false) || !c.Denied("d/y", false) || len(c.Unproven()) > 0 {
			t.Fatalf("%q opens too much: %v\n%s", data, c.Unproven(), c.File())
		}
	})
}

// TestOverBlocks: what a reader loses is told at the line that is the cause, and each
// selector once.
func TestOverBlocks(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Disallow: /drafts/\nAllow: /drafts/about.txt\nDisallow: /*.zip$\n"}, "a.zip", "drafts/about.txt", "drafts/x.txt")
	lines := map[int]string{}
	for _, r := range c.Reports() {
		if r.Code != CodeOverBlock {
			continue
		}
		lines[r.Line] += r.Victims[0]
		if isDisallow := r.Line == 3; strings.Contains(r.Message, "take it to deny more") != isDisallow {
			t.Errorf("line %d: %s", r.Line, r.Message)
		}
		if victims := slices.Sorted(slices.Values(r.Victims)); len(slices.Compact(victims)) < len(r.Victims) {
			t.Errorf("twice: %q", r.Victims)
		}
	}
	if len(lines) != 2 || lines[2] != "/drafts/about.txt" || lines[3] != "/later.zip/" {
		t.Errorf("got %v", lines)
	}
}

// TestOverBlocksOfVeronica: where an annotation names her, what she loses is told, too, at
// the line that is the cause.
func TestOverBlocksOfVeronica(t *testing.T) {
	c := compileOf(map[string]string{"t/.robots": "User-agent: veronica\nAllow: /\n", "a/.robots": "Disallow: /log$\nDisallow: /d/\n"}, "a/log-book.txt", "a/d")
	lost := map[string]string{"/a/log-book.txt": "a/.robots:1", "/a/d": "a/.robots:2"}
	for _, r := range c.Reports() {
		for _, sel := range r.Victims {
			if slices.Contains(r.Readers, "veronica2") && lost[sel] == r.Place() {
				delete(lost, sel)
			}
		}
	}
	if len(lost) > 0 {
		t.Errorf("not told: %v\n%v\n%s", lost, c.Reports(), c.File())
	}
}

// TestExamples: a report names ten selectors, and a rule that is said twice is told of once.
func TestExamples(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("d/x%02d", i))
	}
	most := 0
	for _, r := range compileOf(map[string]string{".robots": "User-agent: *\nUser-agent: foo\nDisallow: /d/\nAllow: /d/x\nUser-agent: foo\nDisallow: /d/x0\n"}, names...).Reports() {
		most = max(most, len(r.Victims))
	}
	if most != 10 {
		t.Errorf("%d victims", most)
	}
	var globs []string
	for _, r := range compileOf(map[string]string{".robots": "Disallow: /b/\nDisallow: /b/c*b$\nAllow: /b/cd\n", "b/.robots": "Disallow: /c*b$\n"}).Reports() {
		if r.Code == CodeGlob {
			globs = append(globs, r.Place())
		}
	}
	if !slices.Equal(globs, []string{".robots:2"}) {
		t.Errorf("a pattern is told of at %q", globs)
	}
}

// TestDeniedAndNamed: what some readers cannot be told of a directory that is denied as a
// whole is told at its annotation, and nothing more is denied.
func TestDeniedAndNamed(t *testing.T) {
	c := compileOf(map[string]string{"m#x/.robots": "Disallow: /a\n" + strings.Repeat("Final: /x\n", maxTopFinals+1)}, "m#x/y", "a")
	named := slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeName && r.Place() == "m#x/.robots" })
	if len(c.Unproven()) > 0 || !named || c.Denied("a", false) || !c.Denied("m#x/y", false) {
		t.Errorf("%v\n%v\n%s", c.Unproven(), c.Reports(), c.File())
	}
}
