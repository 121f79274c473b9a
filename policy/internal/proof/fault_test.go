package proof_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/prooftest"
)

// A right file, made by hand from the tree of faultTree.
const rightFile = `# robots.txt
User-agent: *
Disallow: *.zip$
Disallow: /*.zip$
Disallow: /drafts/
Disallow: /pub
Allow: /pub
Disallow: /sec/
Disallow: /soon/
Disallow: /~bob/
Allow: /~bob/phlog/
Disallow: drafts/
Disallow: pub
Allow: pub
Disallow: sec/
Disallow: soon/
Disallow: ~bob/
Allow: ~bob/phlog/
Content-Usage: / train-ai=n
Content-Usage: /~bob/ search=y

User-agent: gptbot
Disallow: /drafts/
Disallow: /sec/
Disallow: /~bob/
Disallow: drafts/
Disallow: sec/
Disallow: ~bob/
Content-Usage: / train-ai=n
Content-Usage: /~bob/ search=y

User-agent: veronica
Disallow: *.zip
Disallow: /*.zip
Disallow: /drafts/
Disallow: /pub
Disallow: /sec/
Disallow: /soon/
Disallow: /~bob/
Disallow: drafts/
Disallow: pub
Disallow: sec/
Disallow: soon/
Disallow: ~bob/
`

func faultTree() *prooftest.Dir {
	return newTree(map[string]string{
		"a.txt": "", "drafts/x.txt": "", "pub/y.zip": "", "pub/y": "", "~bob/phlog/1.txt": "", "~bob/x": "", "sec/a": "",
		".robots": "Disallow: /drafts/\nDisallow: /soon/\nDisallow: /*.zip$\nDisallow: /pub\nAllow: /pub\nContent-Usage: train-ai=n\n" +
			"User-agent: GPTBot\nDisallow: /drafts/\nDisallow: /~bob/\n",
		"sec/.robots":  "Disallow: /\nUser-agent: *GoodBot*\nAllow: /\n",
		"~bob/.robots": "Disallow: /\nAllow: /phlog/\nContent-Usage: search=y\n",
	})
}

// wrongs lists what is wrong with a file: leaks of readers that the globs cannot
// be told are known, and what is denied too much matters to exact readers alone.
func wrongs(root *prooftest.Dir, file string) (list []string) {
	for _, f := range check(root, file, nil).Findings {
		exact := strings.HasPrefix(f.Reader, "rfc9309") || strings.HasPrefix(f.Reader, "google") || f.Reader == "preferences"
		noGlobs := f.Reader == "1994" || f.Reader == "first-match" || f.Reader == "gemini"
		if glob := noGlobs && f.File == "/.robots" && f.Line == 3; f.Leak && !glob || !f.Leak && exact {
			list = append(list, fmt.Sprintf("%+v", f))
		}
	}
	return list
}

func TestFaults(t *testing.T) {
	root := faultTree()
	if list := wrongs(root, rightFile); len(list) > 0 {
		t.Fatalf("the right file is taken for wrong:\n%s", strings.Join(list, "\n"))
	}
	without := func(drop func(line string) bool) string {
		var kept []string
		for line := range strings.Lines(rightFile) {
			if !drop(line) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	own := strings.Index(rightFile, "User-agent: gptbot")
	last := strings.Index(rightFile, "User-agent: veronica")
	for name, file := range map[string]string{
		"a rule that contains draft is dropped":  without(func(l string) bool { return strings.Contains(l, "draft") }),
		"Disallow wins ties":                     without(func(l string) bool { return strings.HasPrefix(l, "Allow: ") && strings.Contains(l, "pub") }),
		"Allow is written for Disallow on a tie": strings.ReplaceAll(rightFile, "Disallow: /sec/\n", "Disallow: /sec/\nAllow: /sec/\n"),
		"the slashless family is forgotten": without(func(l string) bool {
			_, value, rule := strings.Cut(l, "llow: ")
			return rule && value[0] != '/'
		}),
		"a robot's own group is forgotten":           rightFile[:own] + rightFile[last:],
		"a future name is taken as allowed":          without(func(l string) bool { return strings.Contains(l, "soon") }),
		"*x* is taken for *":                         strings.ReplaceAll(rightFile, "Disallow: /sec/\n", ""),
		"the group veronica is left out":             rightFile[:last],
		"a name that nobody denied":                  strings.Replace(rightFile, "Disallow: drafts/", "Disallow: /a\nDisallow: drafts/", 1),
		"an Allow below opens a ban by name":         rightFile[:own] + strings.Replace(rightFile[own:], "Disallow: drafts/", "Allow: /~bob/phlog/\nDisallow: drafts/", 1),
		"a glob loses its end":                       strings.Replace(rightFile, "Disallow: /*.zip$", "Disallow: /*.zip", 1),
		"a glob is taken for a name":                 strings.ReplaceAll(rightFile, "*.zip$", "y.zip$"),
		"a preference is forgotten":                  without(func(l string) bool { return strings.Contains(l, "train-ai") }),
		"a preference is more permissive":            strings.ReplaceAll(rightFile, "train-ai=n", "train-ai=y"),
		"a preference of a directory is everybody's": strings.ReplaceAll(rightFile, "Content-Usage: /~bob/", "Content-Usage: /"),
	} {
		if len(wrongs(root, file)) == 0 {
			t.Errorf("%s, and nothing is found:\n%s", name, file)
		}
	}
}

func TestPrograms(t *testing.T) {
	root := newTree(map[string]string{".robots": "Allow: /cgi$\n"})
	in := input(root, "User-agent: *\nDisallow: /cgi\nDisallow: cgi\nAllow: /cgi$\nAllow: cgi$\n\nUser-agent: veronica\nDisallow: /cgi\nDisallow: cgi\n")
	in.Programs = []string{"/cgi"}
	if list := leaks(in); len(list) > 0 {
		t.Errorf("the right file leaks: %v", list)
	}
	in.File = []byte("User-agent: *\nDisallow:\n")
	if list := leaks(in); len(list) == 0 {
		t.Error("nobody is kept out of what a program answers, and nothing is found")
	}
}

func TestShut(t *testing.T) {
	root := newTree(map[string]string{"~bob/x": "", "~bob/.robots": "Allow: /\n"})
	in := input(root, "User-agent: *\nAllow: /~bob/\n")
	if list := leaks(in); len(list) > 0 {
		t.Errorf("what is allowed leaks: %v", list)
	}
	in.Shut = []string{"/~bob/"}
	if list := leaks(in); len(list) == 0 {
		t.Error("a directory that is shut stands open, and nothing is found")
	}
}

func TestUnreadable(t *testing.T) {
	root := newTree(map[string]string{"~bob/x": "", "~bob/.robots": "Allow: /\n"})
	root.Dirs[0].Err = fmt.Errorf("no permission")
	list := leaks(input(root, "User-agent: *\nAllow: /~bob/\n"))
	if len(list) == 0 || list[0].File != "~bob/.robots" || list[0].Line != 0 || list[0].Dir != "/~bob/" {
		t.Errorf("got %+v", list)
	}
}

// TestExamples: those that exist come first.
func TestExamples(t *testing.T) {
	for file, want := range map[string]string{".robots": "Disallow: /d/\n", "d/.robots": "Disallow: /\n"} {
		root := newTree(map[string]string{"d/x": "", file: want})
		for _, f := range leaks(input(root, "User-agent: *\nAllow: /\n")) {
			if f.Reader == "rfc9309" && !slices.Equal(f.Examples[:4], []string{"/d/", "d/", "/d/x", "d/x"}) {
				t.Errorf("%s: %q", file, f.Examples)
			}
		}
	}
}

// TestGlobEnd: what a pattern ends with may stand in a directory's name, too.
func TestGlobEnd(t *testing.T) {
	root := newTree(map[string]string{".robots": "Disallow: /*.zip$\n", "x.zip/y.zip": "", "x.zip/y": ""})
	for _, f := range leaks(input(root, "User-agent: *\nAllow: /\n")) {
		if f.Reader == "rfc9309" && (!slices.Contains(f.Examples, "/x.zip/y.zip") || slices.Contains(f.Examples, "/x.zip/y")) {
			t.Errorf("%q", f.Examples)
		}
	}
}
