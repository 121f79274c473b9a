package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// TestLineEnds: no author writes a line into the file of others: what some reader takes for
// the end of a line stands in no line, whoever wrote it, in whatever field.
func TestLineEnds(t *testing.T) {
	for _, end := range []string{"\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1d",
		"\x1e", "\x1f"} {
		for _, notes := range []map[string]string{
			{"a/.robots": "Disallow: /x" + end + "User-agent: zz\n", "b/.robots": "Disallow: /\n"},
			{"a/.robots": "Allow: /x" + end + "User-agent: zz\n", "b/.robots": "Disallow: /\n"},
			{"a/.robots": "User-agent: foo" + end + "bar\nDisallow: /x\n",
				"b/.robots": "Disallow: /\n"},
			{"a/x" + end + "User-agent: zz/.robots": "Disallow: /q\n",
				"b/.robots": "Disallow: /\n"},
			{"~a/.robots": "Disallow: /x" + end + "User-agent: zz\n", "~b/.robots": "Disallow: /\n",
				"~c/.robots": "Disallow: /y\n"},
			{".robots": "Comment: x" + end + "User-agent: zz\n", "b/.robots": "Disallow: /\n"},
		} {
			c := compileOf(notes)
			if strings.Contains(string(c.File()), end) && end != "\x1f" {
				t.Errorf("%q stands in the file of %q:\n%s", end, notes, c.File())
			}
			for _, r := range readers.All() {
				if r.Agent == "" && r.Read(c.File()).Agent("zz").Allowed("/b/x") &&
					r.Read(c.File()).Agent("zz").Allowed("/~b/x") {
					t.Errorf("%s is let into b/x: %q\n%s", r.Name, notes, c.File())
				}
			}
			if list := denied(c); len(list) > 0 || len(c.Unproven()) > 0 {
				t.Errorf("%q: closed: %q", notes, list)
			}
		}
	}
}

// TestWords: how the words of an annotation are cut.
func TestWords(t *testing.T) {
	for _, test := range []struct{ text, want string }{ // the lines of the group, without fields
		{"Disallow: /x\u00a0\n", "/d/x"},
		{"Disallow: \u2003/x\n", "/d/x"},
		{"Final: /x\u00a0\n", "/d/x"},
		{"\u00a0Disallow: /x\n", "/d/x"},
		{"Disallow\u0085: /x\n", "/d/x"},
		{"Disalow: /x\nDissallow: /y\n", "/d/x /d/y"},
		{"Disallows: /x\nDisallow-all: /y\n", "/.robots"},
		{"Disallow /x\n", "/d/x"},
		{"Disallow: /a**b***\n", "/d/a*b* /d/a*b"},
		{"Disallow: x\nDisallow: ?q\n", "/d/%3Fq /d/?q /d/x"},
		{"Disallow: /x\x00y\n", "/d/x"},
		{"Disallow: /x\ty\n", "/.robots"},
		{"Disallow: gopher://h/0/drafts/\nDisallow: gopher://h/pub/\n", "/d/drafts/ /d/pub/"},
		{"User-agent: foo\nFinal:\nUser-agent: bar\nDisallow: /a\n", "/.robots"},
	} {
		var got []string
		group, _, _ := strings.Cut(string(compileOf(notesOf("d/", test.text)).File()), "\n\n")
		for line := range strings.Lines(group) {
			if _, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "llow: "); ok {
				got = append(got, value)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: %q, not %q", test.text, got, test.want)
		}
	}
	c := compileOf(notesOf("d/", "User-agent: foo\nFinal:\nUser-agent: bar\nDisallow: /a\n"))
	for _, robot := range []string{"foo", "bar"} {
		if c.Explain(robot, "d/a", false).Allowed {
			t.Errorf("an empty Final ends the run of names before %s", robot)
		}
	}
}

// TestProgramReports: an Allow that is too short to open a program is told what to write,
// and reports about the lines of a program name the program.
func TestProgramReports(t *testing.T) {
	in := inputOf(root("Allow: /cgi\nDisallow: /now/\nAllow: /now/\n"))
	in.Programs = []string{"/cgi", "/now/", "/"}
	var said []string
	for _, r := range Compile(in).Reports() {
		if r.Code == CodeProgram {
			said = append(said, fmt.Sprintf("%d %s", r.Line, r.Message))
		}
		if r.File == "" {
			t.Errorf("about no file: %v", r)
		}
	}
	if len(said) != 2 || !strings.Contains(said[0], "write /cgi*, and /cgi?") ||
		!strings.Contains(said[1], "write /now/$") {
		t.Errorf("%q", said)
	}
}
