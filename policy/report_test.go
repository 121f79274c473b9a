package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
)

// told are annotations that raise a code at one line, and others, almost the same, that
// do not.
var told = []struct {
	code, at  string // "phlog/.robots:2: warning"
	bad, good map[string]string
}{
	{CodeAnchor, "d/.robots:1: notice", notesOf("d/", "Disallow: /log$\n"),
		notesOf("d/", "Disallow: /log/\n")},
	{CodeDigits, ".robots:1: notice", root("Disallow: /*9.txt\n"), root("Disallow: /*x.txt\n")},
	{CodeFinal, ".robots:2: error", root("Disallow: /q\nFinal: /a*b\n"),
		root("Disallow: /q\nFinal: /*b\n")},
	{CodeGlob, "d/.robots:1: warning", notesOf("d/", "Disallow: /*.zip\n"),
		notesOf("d/", "Disallow: /zip*\n")},
	{CodeHandWritten, "robots.txt:2: warning",
		map[string]string{"robots.txt": "User-agent: *\nDisallow: /a$\n"},
		map[string]string{"robots.txt": "User-agent: *\nDisallow: /a$\n",
			"d/.robots": "Disallow: /b\n"}},
	{CodeIndex, "d/.robots:2: notice", notesOf("d/", "Disallow: /\nAllow: /index.html\n"),
		notesOf("d/", "Disallow: /\nAllow: /index.txt\n")},
	{CodeLost, ".robots:2: error", root("User-agent: *x*\nDisallow: /a\n"),
		root("User-agent: *x*\nAllow: /a\n")},
	{CodeMatchedLength, ".robots:1: notice", root("Disallow: /log$\nAllow: /log\n"),
		root("Disallow: /logs\nAllow: /log\n")},
	{CodeMisplacedField, "d/.robots:1: warning", notesOf("d/", "Crawl-delay: 10\n"),
		root("Crawl-delay: 10\n")},
	{CodeName, ".robots:1: warning", root("Disallow: /%23b\n"), root("Disallow: /a-b\n")},
	{CodeName, ".robots:1: warning", root("Disallow: /*a&b/\n"), root("Disallow: /a&b*/\n")},
	{CodeOverruled, "a/.robots:1: notice",
		map[string]string{".robots": "Final: /*.zip$\n", "a/.robots": "Allow: /x.zip\n"},
		map[string]string{".robots": "Final: /*.zip$\n", "a/.robots": "Allow: /x.txt\n"}},
	{CodeOverBlock, "d/.robots:2: notice", notesOf("d/", "Disallow: /\nAllow: /about.txt\n"),
		notesOf("d/", "Disallow: /\nDisallow: /about.txt\n")},
	{CodeOverruled, ".robots:1: notice",
		map[string]string{".robots": "Disallow: /~bob/\n", "~bob/.robots": "Allow: /\n"},
		map[string]string{".robots": "Final: /~bob/\n", "~bob/.robots": "Disallow: /\n"}},
	{CodeOverruled, "a/.robots:1: notice",
		map[string]string{".robots": "Content-Usage: search=n\n",
			"a/.robots": "Content-Usage: search=y\nUser-agent: *\nContent-Usage: search=y\n"},
		map[string]string{"a/.robots": "Content-Usage: /b/c/ search=y\n",
			"a/b/.robots":   "User-agent: foo\nContent-Usage: search=n\n",
			"a/b/c/.robots": "Content-Usage: search=n\n"}},
	{CodeOverruled, "~bob/.robots:1: notice",
		map[string]string{".robots": "Final: /~bob/\n", "~bob/.robots": "Allow: /\n"},
		map[string]string{".robots": "Disallow: /~bob/\n", "~bob/.robots": "Allow: /\n"}},
	{CodePartName, ".robots:1: notice", root("Disallow: /a\nUser-agent: bot\nDisallow:\n"),
		root("Disallow: /a\nUser-agent: bot\nDisallow: /a\nDisallow: /b\n")},
	{"R2-MISSPELT-FIELD", "d/.robots:1: error", notesOf("d/", "Disalow: /a\n"),
		notesOf("d/", "Disallow: /a\n")}, // as package lint says
	{CodeVeronicaHost, ".robots:1: notice", root("Disallow: /\nAllow: /pub/\n"),
		root("Disallow: /\n")},
}

func root(text string) map[string]string { return notesOf("", text) }

func notesOf(dir, text string) map[string]string {
	return map[string]string{dir + ".robots": text}
}

// saidOf lists the reports with a code, as "file:line: severity".
func saidOf(c *Compiled, code string) (list []string) {
	for _, r := range c.Reports() {
		if r.Code == code {
			list = append(list, fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Severity))
		}
	}
	return list
}

// TestCodes: each code has an annotation that raises it, at its file and line, and one
// that does not.
func TestCodes(t *testing.T) {
	left := map[string]bool{}
	for _, c := range Codes() {
		left[c.Code] = true
	}
	for _, test := range told {
		delete(left, test.code)
		if list := saidOf(compileOf(test.bad), test.code); !slices.Contains(list, test.at) {
			t.Errorf("%s: no %q for %q, but %q", test.code, test.at, test.bad, list)
		}
		if list := saidOf(compileOf(test.good), test.code); slices.Contains(list, test.at) {
			t.Errorf("%s: %q for %q", test.code, list, test.good)
		}
	}
	for _, elsewhere := range []string{ // TestBounds, TestClosed, TestOutsidersLines; packages site and internal/robotscmd
		CodeTooLarge, CodeCoarsened, CodeUnreadable, CodeProgram, CodeUnnamedLeak, CodeReader,
		CodeRootMenu, CodeNoMatch, CodeNotRead, CodeDiffers, CodeShownElsewhere,
		CodeJoined, CodeAlias,
	} {
		delete(left, elsewhere)
	}
	if len(left) > 0 {
		t.Errorf("nothing raises %v", slices.Sorted(maps.Keys(left)))
	}
}

// TestReportsName: a report has the file, the line, and who it concerns, once for each
// line and code.
func TestReportsName(t *testing.T) {
	seen := map[string]bool{}
	for _, test := range told {
		for _, r := range compileOf(test.bad).Reports() {
			if test.bad[r.File] == "" || r.Line < 1 ||
				r.Line > strings.Count(test.bad[r.File], "\n") || r.Message == "" ||
				r.Hint == "" && test.code == r.Code && r.Code[2] != '-' {
				t.Errorf("%q: %+v", test.bad, r)
			}
			key := fmt.Sprint(test.bad, r.File, r.Line, r.Code, r.Message)
			if seen[key] && test.code == r.Code {
				t.Errorf("%q: twice: %v", test.bad, r)
			}
			seen[key] = true
			if r.Severity == diag.Error && len(r.Readers) > 0 {
				t.Errorf("%q: what only some readers suffer is an error: %v", test.bad, r)
			}
		}
	}
}

// TestPartOfVeronica: Python since 3.15 takes veronica's group for a robot whose name holds
// hers. If the robot escapes selectors, a line of that group for readers that do not is none
// to it.
func TestPartOfVeronica(t *testing.T) {
	c := compileOf(map[string]string{"~al/.robots": "Final: /?$\n",
		"~al/a?/.robots": "User-agent: veronica\nDisallow: /\n"})
	isNamed := func(r Report) bool {
		return r.Code == CodePartName && r.File == "~al/.robots" &&
			slices.Contains(r.Readers, "longest-match")
	}
	if !slices.ContainsFunc(c.Reports(), isNamed) {
		t.Errorf("%v", c.Reports())
	}
}

// A reader that one robot uses is named where its group comes from, not beside the rules of
// another group.
func TestReaderOfOneRobot(t *testing.T) {
	of := func(text string) (n int) {
		for _, r := range compileOf(root(text)).Reports() {
			if r.Line == 1 && slices.Contains(r.Readers, "veronica2") {
				n++
			}
		}
		return n
	}
	const rule = "Disallow: /*9.txt\n"
	if n := of(rule); n == 0 {
		t.Error("veronica-2 knows no wildcards, and no report says so")
	}
	if n := of(rule + "User-agent: veronica\nDisallow: /b\n"); n != 0 {
		t.Errorf("%d reports name veronica-2 beside a rule that is not hers", n)
	}
}

// TestClosed: what closes a directory is an error that says why, and the directory is
// closed to everybody.
func TestClosed(t *testing.T) {
	broken := inputOf(map[string]string{".robots": "Allow: /d/x\n", "d/.robots": "Allow: /\n",
		"d/e/.robots": "Allow: /\n"})
	broken.Annotations = slices.DeleteFunc(broken.Annotations, func(a Annotation) bool {
		return a.Dir == "/d/"
	})
	broken.Annotations = append(broken.Annotations,
		Annotation{Dir: "/d/", File: "d/.robots", Err: errors.New("permission denied")})
	program := inputOf(root("Allow: /\n"))
	program.Programs = []string{"cgi-bin"}
	for code, test := range map[string]struct {
		in                 Input
		file, says, closed string
		open               string
	}{
		CodeUnreadable: {broken, "d/.robots", "permission denied", "d/x", "x"},
		CodeProgram:    {program, ".robots", "cgi-bin", "x", ""},
	} {
		c := Compile(test.in)
		list := slices.DeleteFunc(slices.Clone(c.Reports()), func(r Report) bool {
			return r.Code != code
		})
		if len(list) != 1 || list[0].File != test.file || list[0].Severity != diag.Error ||
			!strings.Contains(list[0].Message, test.says) {
			t.Errorf("%s: %v", code, c.Reports())
		}
		if !c.DeniedToAll(test.closed, false) ||
			test.open != "" && c.DeniedToAll(test.open, false) {
			t.Errorf("%s: %s is open, or %s closed\n%s", code, test.closed, test.open, c.File())
		}
	}
}

// TestClosedBelow: of two directories that are closed, one in the other, both say why, once.
func TestClosedBelow(t *testing.T) {
	var in Input
	for _, dir := range []string{"d/", "d/e/"} {
		in.Annotations = append(in.Annotations,
			Annotation{Dir: "/" + dir, File: dir + ".robots", Err: errors.New("permission denied")})
	}
	var list []string
	for _, r := range Compile(in).Reports() {
		list = append(list, r.Code+" "+r.File)
	}
	slices.Sort(list)
	if !slices.Equal(list, []string{"UNREADABLE d/.robots", "UNREADABLE d/e/.robots"}) {
		t.Errorf("%q", list)
	}
}

// TestRules: the rules of an annotation are found by its directory, whatever others call
// their files.
func TestRules(t *testing.T) {
	c := Compile(Input{Annotations: []Annotation{
		{Dir: "/a/", File: "note", Data: []byte("Disallow: /x*y\n")},
		{Dir: "/b/", File: "note", Data: []byte("Allow: /%41/\n")},
		{Dir: "/b/", File: "other", Data: []byte("Disallow: /z\n")},
	}})
	var got []string
	for _, at := range [][2]string{{"/a/", "note"}, {"/b/", "note"}, {"/b/", "more"},
		{"/c/", "note"}, {"/", "note"}} {
		for _, r := range c.Rules(at[0], at[1]) {
			got = append(got, fmt.Sprint(r.Dir, r.Path, " ", r.Line, r.Allow, r.Literal))
		}
	}
	if want := []string{"/a//a/x 1 false false", "/b//b/A/ 1 true true"}; !slices.Equal(got, want) {
		t.Errorf("the rules are %q", got)
	}
}

// TestPreferencesHint: what is said of preferences that disagree does not speak of Final,
// which is about fetching.
func TestPreferencesHint(t *testing.T) {
	for _, r := range compileOf(map[string]string{".robots": "Content-Usage: search=n\n",
		"a/.robots": "Content-Usage: search=y\n"}).Reports() {
		if r.Code != CodeOverruled || strings.Contains(r.Hint, "Final") {
			t.Errorf("%v: %s", r, r.Hint)
		}
	}
}

// TestCures: an over-block's hint is one that helps the readers it is about.
func TestCures(t *testing.T) {
	for text, want := range map[string]string{
		"Disallow: /\nAllow: /about.txt\n": "User-agent: veronica",
		"Disallow: /log$\n":                "deny a directory",
		"User-agent: x\nDisallow: /a/\n":   "nothing to do",
	} {
		var hints []string
		for _, r := range compileOf(map[string]string{"d/.robots": text}).Reports() {
			if r.Code == CodeOverBlock {
				hints = append(hints, r.Hint)
			}
		}
		if len(hints) != 1 || !strings.Contains(hints[0], want) ||
			want != "User-agent: veronica" && strings.Contains(hints[0], veronica) {
			t.Errorf("%q: %q", text, hints)
		}
	}
}

// TestLetIn: a name that holds an escape is named to the readers that take it as they like.
func TestLetIn(t *testing.T) {
	c := Compile(inputOf(root("Disallow: /*faster.txt\n")))
	in := c.LetIn("50%faster.txt", false)
	for reader, want := range map[string]bool{"rfc9309-raw": true, "1994": true, "rfc9309": false,
		"google": false, "veronica2": false} {
		if slices.Contains(in, reader) != want {
			t.Errorf("%s is let in: %v", reader, !want)
		}
	}
	if in := c.LetIn("slow.txt", false); in != nil {
		t.Errorf("into what is allowed: %q", in)
	}
}

// TestRefusedTwice: an annotation that refuses what one above it refuses overrules nothing.
func TestRefusedTwice(t *testing.T) {
	c := Compile(inputOf(map[string]string{".robots": "Content-Usage: train-ai=n\n",
		"d/.robots": "Content-Usage: train-ai=n\n"}))
	if list := c.Reports(); len(list) > 0 {
		t.Errorf("%v", list)
	}
}
