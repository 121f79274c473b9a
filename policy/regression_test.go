package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/policy/internal/prooftest"
)

// TestNamed: what these annotations cannot tell every reader is named at its line,
// and so no directory is denied on account of it.
func TestNamed(t *testing.T) {
	for name, test := range map[string]struct {
		notes map[string]string
		want  string // a report that is there
	}{
		"robots that are treated alike in lines of their own": {
			map[string]string{".robots": "User-agent: foo\nDisallow: /\nUser-agent: foobot\nDisallow:\nDisallow: /\n"}, CodeRootMenu},
		"a Final without a path says nothing": {
			map[string]string{".robots": "Disallow: /\n", "a/.robots": "Allow: /\nUser-agent: foo\nFinal:\n"}, CodeSyntax},
		"a name with a percent sign, for Veronica": {
			map[string]string{".robots": "User-agent: veronica\nDisallow: %2F*/\n"}, CodeNoMatch},
		"a weak line and a pattern between slashes, as long": {
			map[string]string{".robots": "User-agent: foo\nDisallow: **$\nDisallow: /*/a\n"}, CodeGlob},
		"a blank at the beginning of a name that ends there": {
			map[string]string{".robots": "Disallow: / b$\n", "a/.robots": "Disallow: /\n"}, CodeName},
		"a Final above, and an Allow beside it that a ban by name overrules": {
			map[string]string{".robots": "User-agent: foo\nDisallow: /\n", "a/.robots": "Disallow: /\nAllow: /abc\nFinal: /*/*/\n",
				"a/abc/.robots": "User-agent: foo\nAllow: /b\n"}, CodeRootMenu},
		"an index.html in any directory": {
			map[string]string{"a/.robots": "Allow: /*/index.html\nDisallow: /\n"}, CodeIndex},
		"an index.html of the root": {
			map[string]string{".robots": "Disallow: /\nAllow: /index.html\n"}, CodeIndex},
		"an index.html that ends there, in a directory whose menu is denied": {
			map[string]string{"a/.robots": "Disallow: /$\nDisallow: /index.html$\n"}, CodeOverBlock},
		"a preference of a robot about what nobody can ask for": {
			map[string]string{".robots": "Content-Usage: search=n\nUser-agent: foo\nContent-Usage: /%2Fa search=n\n"}, CodeSyntax},
		"an Allow of which CPython's reader drops the end": {
			map[string]string{".robots": "Disallow: /\nAllow: /x%23\n"}, CodeEscaped},
		"a robot that is named in 300 groups": {
			map[string]string{"a/.robots": strings.Repeat("User-agent: foo\nDisallow: /b\n", 300)}, CodeNoMatch},
		"a robot that is named 20,000 times in a row": {
			map[string]string{"a/.robots": strings.Repeat("User-agent: foo\n", 20_000) + "Disallow: /b\n"}, CodeNoMatch},
		"600 rules in each of the annotations of a directory": {
			map[string]string{"robots.txt": "User-agent: foo\n" + strings.Repeat("Disallow: /b\n", 600), ".robots": "User-agent: foo\n" + strings.Repeat("Disallow: /c\n", 600)}, CodeNoMatch},
		"1,000 rules and one that is empty": {
			map[string]string{"a/.robots": strings.Repeat("Disallow: /b\n", 1000) + "Disallow:\n"}, CodeNoMatch},
	} {
		c := compileOf(test.notes, "a/x", "a/d/index.html")
		found := false
		for _, r := range c.Reports() {
			if found = found || r.Code == test.want; r.Code == CodeUnnamedLeak || r.Code == CodeTooLarge {
				t.Errorf("%s: %v", name, r)
			}
		}
		if !found {
			t.Errorf("%s: no %s in %v", name, test.want, c.Reports())
		}
	}
}

// TestNobody: what is no product token names nobody, to the compiler and to the
// proof. The directory was denied on account of a robot that is not there.
func TestNobody(t *testing.T) {
	for _, agent := range []string{"my bot", "a;b", "a (x)", "*a*", ", ,", "/1.1"} {
		c := compileOf(map[string]string{"d/.robots": "User-agent: " + agent + "\nDisallow: /x\n"}, "d/x")
		if c.Denied("d/x", false) || len(c.Unproven()) > 0 || !slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeLost && r.Line == 2 }) {
			t.Errorf("%q: %v\n%s", agent, c.Reports(), c.File())
		}
	}
}

// TestNobodyInAList: a word of a list that is no product token leaves those after it
// in. A Final of nobody is lost, and robots named in lines of their own share what follows.
func TestNobodyInAList(t *testing.T) {
	c := compileOf(map[string]string{".robots": "User-agent: a;b, foo\nUser-agent: bar\nDisallow: /x\n\nUser-agent: c;d\nFinal: /x\n"}, "x")
	for agent, want := range map[string]bool{"foo": false, "bar": false, "a": true} {
		if c.Explain(agent, "x", false).Allowed != want {
			t.Errorf("%s: %v\n%s", agent, !want, c.File())
		}
	}
	lost := 0
	for _, r := range c.Reports() {
		if r.Code == CodeLost && r.Line == 6 {
			lost++
		}
		if r.Code == CodeGroupSwallowed {
			t.Error(r)
		}
	}
	if lost != 1 {
		t.Errorf("a Final of nobody: %v", c.Reports())
	}
}

// TestCure: what leaks is denied at its directory, after many rounds all is; the report
// is about the first annotation there.
func TestCure(t *testing.T) {
	notes := map[string]string{"d/.robots": "Disallow: /x\n", "d/e/.robots": "Disallow: /y\n", "f/g/.robots": "Disallow: /z\n"}
	for round, test := range map[int]struct{ dir, file, denied, open string }{
		0:             {"/d/", "d/.robots", "d/a d/e/a", "f/a"},
		maxRounds - 1: {"/f/", "f/g/.robots", "f/a", "d/a"},
		maxRounds:     {"/d/", "d/.robots", "d/a f/a a", ""},
	} {
		c := &Compiled{in: Input{Root: treeOf(notes, "d/e/x", "f/g/x")}}
		c.grow(&Compiled{}, nil)
		w := work{c: c, denied: map[*node]*rule{}, stale: true}
		finding := proof.Finding{Dir: test.dir, File: test.file, Line: 1, Leak: true, Examples: []string{test.dir + "x"}}
		if w.cure(finding, round) || len(w.said) != 1 || w.said[0].File != test.file {
			t.Errorf("round %d: %v", round, w.said)
		}
		w.write()
		for i, list := range []string{test.open, test.denied} {
			for _, name := range strings.Fields(list) {
				if c.DeniedToAll(name, false) != (i == 1) {
					t.Errorf("round %d: %s\n%s", round, name, c.file)
				}
			}
		}
		if !w.cure(finding, round) || len(w.said) != 1 {
			t.Errorf("round %d: it is denied twice: %v", round, w.said)
		}
	}
}

// TestURLs: a pattern that is a URL counts by its path, of a gopher URL without the
// item type.
func TestURLs(t *testing.T) {
	for value, denied := range map[string]string{
		"gopher://h/0x": "d/x", "gopher://h:70/1/x/": "d/x/", "gophers://h/0/x": "d/x", "gopher://h/xx": "d/x", "HTTP://h/x": "d/x", "ftp://h/x": "d/x",
		"gopher://h": "d/", "gopher://h/": "d/", "gopher://h/1": "d/", "http://h": "d/", "//h/x": "d//h/x", "http:///x": "d/x", "/a://b": "d/a://b",
	} {
		c := compileOf(map[string]string{"d/.robots": "Disallow: " + value + "\n"}, "e")
		if !strings.Contains(string(c.File()), "\nDisallow: /"+denied+"\n") || len(c.Unproven()) > 0 || c.Denied("d/y", false) != (denied == "d/") {
			t.Errorf("%s: %v\n%s", value, c.Reports(), c.File())
		}
	}
}

// TestLeakIsCured: a leak that no report names denies the directory of its rule, and
// when the file is written so, nothing is unproven any more.
func TestLeakIsCured(t *testing.T) {
	c := &Compiled{in: Input{Root: treeOf(map[string]string{".robots": "Disallow: /b\n", "d/.robots": "Disallow: /x\nDisallow: /y\n"}, "d/x", "d/y")}}
	c.grow(&Compiled{}, nil)
	w := work{c: c, denied: map[*node]*rule{}, stale: true}
	w.write()
	right := string(c.file)
	c.file = []byte(strings.ReplaceAll(right, "Disallow: /d/", "Disallow: /other/"))
	if _, done := w.prove(nil, 0); done || len(w.said) != 1 || w.said[0].Code != CodeUnnamedLeak {
		t.Fatalf("nothing is found in\n%s", c.file)
	}
	w.write()
	if _, done := w.prove(c.proof, 1); !done || len(c.Unproven()) > 0 || !strings.Contains(string(c.file), "\nDisallow: /d/\n") || !strings.Contains(string(c.file), "\nDisallow: /b\n") {
		t.Errorf("%v in\n%s", c.Unproven(), c.file)
	}
}

// TestFinalWithoutPath: a group of nothing but that is none, to the policy as it is
// defined and to what is made of it.
func TestFinalWithoutPath(t *testing.T) {
	root := &prooftest.Dir{Text: "Disallow: /\n", Dirs: []*prooftest.Dir{{Name: "a", Text: "Allow: /\nUser-agent: foo\nFinal:\n", Files: []string{"x"}}}}
	c := Compile(Input{Root: drawnTree(root, "/")}, nil)
	if prooftest.Decide([]*prooftest.Dir{root, root.Dirs[0]}, "foo", "/a/x").Denied() || !c.Explain("foo", "a/x", false).Allowed || c.Explain("foo", "b", false).Allowed {
		t.Errorf("foo:\n%s", c.File())
	}
}

// TestWhereFieldsStand: those of the whole site, in each group or at the end; a group
// for Veronica has no Allow.
func TestWhereFieldsStand(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Sitemap: gopher://e.org/0/s\nCrawl-delay: 5\nRequest-rate: 1/10\nVisit-time: 0600-0700\nComment: hello\n" +
		"Content-Signal: search=yes\nIndex: allow\nCooldown: 9\nLicense: https://e.org/l\nUser-agent: veronica\nAllow: /x\n"})
	const fields = "Comment: hello\nContent-Signal: search=yes\nCooldown: 9\nCrawl-delay: 5\nIndex: allow\nRequest-rate: 1/10\nVisit-time: 0600-0700\n"
	want := header + "\nUser-agent: *\nDisallow: /.robots\nAllow: /\n" + fields +
		"\nUser-agent: veronica\nDisallow: /.robots\n" + fields + "\nLicense: https://e.org/l\nSitemap: gopher://e.org/0/s\n"
	if string(c.File()) != want {
		t.Errorf("got:\n%s\nwant:\n%s", c.File(), want)
	}
}
