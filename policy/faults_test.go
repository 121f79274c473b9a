package policy

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
)

// faultsTree has something for each fault to spoil.
func faultsTree() *Dir {
	note := func(file, text string) []*Annotation { return []*Annotation{{File: file, Data: []byte(text)}} }
	return &Dir{
		Files: []string{"a.txt", "pub", "y.zip"},
		Notes: note(".robots", "Disallow: /drafts/\nDisallow: /soon/\nDisallow: /*.zip$\nDisallow: /pu\nDisallow: /pub\nAllow: /pub\n"+
			"User-agent: GPTBot\nDisallow: /drafts/\nDisallow: /~bob/\n"),
		Dirs: []*Dir{
			{Name: "drafts", Files: []string{"x.txt"}},
			{Name: "sec", Files: []string{"a"}, Notes: note("sec/.robots", "Disallow: /\nUser-agent: *GoodBot*\nAllow: /\n")},
			{Name: "~bob", Files: []string{"x"}, Notes: note("~bob/.robots", "Disallow: /\nAllow: /phlog/\n"),
				Dirs: []*Dir{{Name: "phlog", Files: []string{"1.txt"}}}},
		},
	}
}

// findingsIn returns what the proof finds in a file made of a tree: every leak, and
// what exact readers lose.
func findingsIn(c *Compiled, file string) []proof.Finding {
	var list []proof.Finding
	for _, f := range proof.Check(c.proofInput([]byte(file)), nil).Findings {
		if f.Leak || f.Reader == "rfc9309" || f.Reader == "google" || isPreference(f) {
			f.Count, f.Examples = 0, nil
			list = append(list, f)
		}
	}
	return list
}

func isPreference(f proof.Finding) bool { return f.Reader == proof.Preferences }

// TestFaults spoils what the compiler has written as a fault in it would: the proof
// finds what it does not find in the right file.
func TestFaults(t *testing.T) {
	c := Compile(Input{Root: faultsTree()}, nil)
	right := string(c.File())
	for _, r := range c.Reports() {
		if r.Code == CodeUnnamedLeak {
			t.Fatalf("the right file: %v\n%s", r, right)
		}
	}
	known := findingsIn(c, right)
	groups := strings.Split(right, "\n\n")
	without := func(expr string) string {
		return regexp.MustCompile(`(?m)^(Disa|A)llow: `+expr+`\n`).ReplaceAllString(right, "")
	}
	withoutGroup := func(agent string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return strings.Contains("\n"+g, "\nUser-agent: "+agent+"\n") }), "\n\n")
	}
	for name, file := range map[string]string{
		"a rule that contains draft is dropped":   without(`.*draft.*`),
		"an Allow that wins a tie is dropped":     without(`/?pub`),
		"Allow and Disallow are swapped on a tie": regexp.MustCompile(`(?m)^Allow: (/?pub)$`).ReplaceAllString(right, "Disallow: $1"),
		"Allow wins over a longer Disallow":       strings.Replace(right, "Disallow: /sec/\n", "Disallow: /sec/\nAllow: /sec/\n", 1),
		"the slashless family is forgotten":       without(`[^/\n].*`),
		"the family with a slash is forgotten":    without(`/.*`),
		"a robot's own group is forgotten":        withoutGroup("GPTBot"),
		"a future name is taken as allowed":       without(`/?soon/`),
		"future names of a glob are allowed":      strings.ReplaceAll(right, "*.zip$", "y.zip$"),
		"*x* is taken for *":                      strings.Replace(right, "User-agent: *\n", "User-agent: *\nAllow: /sec/\nAllow: sec/\n", 1),
		"the group veronica is left out":          withoutGroup("veronica"),
		"a group is everybody's":                  strings.Replace(right, "User-agent: GPTBot", "User-agent: zzbot", 1),
		"an Allow below opens a ban by name":      strings.Replace(right, "User-agent: GPTBot\n", "User-agent: GPTBot\nAllow: /~bob/phlog/\n", 1),
		"a rule reaches out of its directory":     strings.Replace(right, "Disallow: /~bob/\n", "Disallow: /\n", 1),
		"a glob loses its end":                    strings.ReplaceAll(right, "*.zip$", "*.zip"),
		"an annotation below is never read":       without(`/?sec/`),
		"what an Allow opens is taken as closed":  without(`/?~bob/phlog/`),
	} {
		if file == right {
			t.Errorf("%s: nothing is spoilt:\n%s", name, right)
			continue
		}
		if !slices.ContainsFunc(findingsIn(c, file), func(f proof.Finding) bool { return !contains(known, f) }) {
			t.Errorf("%s, and nothing is found:\n%s", name, file)
		}
	}
}

func contains(list []proof.Finding, want proof.Finding) bool {
	return slices.ContainsFunc(list, func(f proof.Finding) bool {
		return f.Leak == want.Leak && f.Reader == want.Reader && f.Robot == want.Robot && f.File == want.File && f.Line == want.Line
	})
}
