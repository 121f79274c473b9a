package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/prooftest"
	"github.com/gophd/gophd/robots"
)

// preferenceFaults tells where a file states other preferences than the annotations
// of a tree: of all that is in it and of names to come, for each robot that may
// fetch them.
func preferenceFaults(file []byte, resources []prooftest.Resource) (faults []string) {
	f := robots.Parse(robots.RFC9309, file)
	for _, robot := range append([]string{"*", "nobody"}, prooftest.Robots...) {
		rules := f.Agent(robot)
		for _, res := range resources {
			uri := prooftest.Escape(res.Sel)
			if robot == veronica || !rules.Allowed(uri) || prooftest.Decide(res.Path, robot, res.Sel).Denied() {
				continue // Veronica-2 reads Disallow lines alone
			}
			want, got := prooftest.Preferences(res.Path, robot, res.Sel), map[string]string{}
			for _, s := range rules.Usage(uri) {
				got[s.Key] = strings.TrimSuffix(s.Preference.String(), robots.Unstated.String())
			}
			maps.DeleteFunc(got, func(_, value string) bool { return value == "" })
			maps.DeleteFunc(want, func(_, value string) bool { return value == "" })
			if !maps.Equal(got, want) {
				faults = append(faults, fmt.Sprintf("%s at %q: %v, not %v", robot, res.Sel, got, want))
			}
		}
	}
	return faults
}

// TestPreferenceFaults: what is dropped, and what permits more or less, is found, by
// the policy as it is defined and by the proof.
func TestPreferenceFaults(t *testing.T) {
	root := &prooftest.Dir{Files: []string{"x"}, Text: "Content-Usage: train-ai=n\nUser-agent: foo\nContent-Usage: train-ai=y\n", Dirs: []*prooftest.Dir{
		{Name: "a", Files: []string{"x", "y"}, Text: "Content-Usage: /x train-ai=y, search=y\nContent-Usage: /x search=n\nDisallow: /y\n"},
		{Name: "b", Text: "Content-Usage: search=y\n"},
	}}
	c := Compile(Input{Root: drawnTree(root, "/")}, nil)
	right := string(c.File())
	resources := prooftest.Resources(root, []string{"x", "later"})
	if faults := preferenceFaults(c.File(), resources); len(faults) > 0 || slices.ContainsFunc(findingsIn(c, right), isPreference) {
		t.Fatalf("the right file: %q\n%s", faults, right)
	}
	for name, spoilt := range map[string]string{
		"a preference is dropped":               strings.Replace(right, "Content-Usage: train-ai=n\n", "", 1),
		"a path is wider":                       strings.Replace(right, "Content-Usage: /a/x ", "Content-Usage: /a/ ", 1),
		"a path is narrower":                    strings.Replace(right, "Content-Usage: /b/ ", "Content-Usage: /b/x ", 1),
		"what permits more wins":                strings.Replace(right, "search=n", "search=y", 1),
		"one of two with the same path is lost": strings.Replace(right, "search=n, train-ai=y", "search=n", 1),
		"a robot's own are forgotten":           strings.Replace(right, "User-agent: foo", "User-agent: nofoo", 1),
		"one is everybody's":                    strings.Replace(right, "Content-Usage: train-ai=n", "Content-Usage: train-ai=y", 1),
		"one is lost on names to come":          strings.Replace(right, "Content-Usage: /b/ search=y", "Content-Usage: /b/$ search=y", 1),
	} {
		if spoilt == right {
			t.Errorf("%s: nothing is spoilt in\n%s", name, right)
		}
		if len(preferenceFaults([]byte(spoilt), resources)) == 0 {
			t.Errorf("%s, and the policy as it is defined does not differ:\n%s", name, spoilt)
		}
		if !slices.ContainsFunc(findingsIn(c, spoilt), isPreference) {
			t.Errorf("%s, and the proof finds nothing:\n%s", name, spoilt)
		}
	}
}
