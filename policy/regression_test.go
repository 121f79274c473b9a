package policy

import (
	"strings"
	"testing"

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
			map[string]string{".robots": "User-agent: veronica\nDisallow: %2F*/\n"}, CodeName},
		"a weak line and a pattern between slashes, as long": {
			map[string]string{".robots": "User-agent: foo\nDisallow: **$\nDisallow: /*/a\n"}, CodeGlob},
		"an index.html in any directory": {
			map[string]string{"a/.robots": "Allow: /*/index.html\nDisallow: /\n"}, CodeIndex},
		"an index.html of the root": {
			map[string]string{".robots": "Disallow: /\nAllow: /index.html\n"}, CodeIndex},
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

// TestFinalWithoutPath: a group of nothing but that is none, to the policy as it is
// defined and to what is made of it.
func TestFinalWithoutPath(t *testing.T) {
	root := &prooftest.Dir{Text: "Disallow: /\n", Dirs: []*prooftest.Dir{{Name: "a", Text: "Allow: /\nUser-agent: foo\nFinal:\n", Files: []string{"x"}}}}
	c := Compile(Input{Root: drawnTree(root, "/")}, nil)
	if prooftest.Decide([]*prooftest.Dir{root, root.Dirs[0]}, "foo", "/a/x").Denied() || !c.Explain("foo", "a/x", false).Allowed || c.Explain("foo", "b", false).Allowed {
		t.Errorf("foo:\n%s", c.File())
	}
}
