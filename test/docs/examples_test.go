package docs

import (
	"fmt"
	"github.com/gophd/gophd/internal/treetest"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy"
)

// claims are what the pages say of the annotations that they show, by the line above
// each: who may fetch what, what may be done with it, and lines of the file. An annotation of which the
// page does not say where it lies is that of /d/.
var claims = map[string]struct {
	root bool              // the page says before that it is that of the root
	with map[string]string // annotations beside it
	say  []string
}{
	"like a *robots.txt* whose */* is that directory:": {false, nil, []string{
		"deny * /phlog/drafts/", "deny * /phlog/drafts/later.txt",
		"allow * /phlog/drafts/about.txt", "allow * /phlog/1.txt", "allow * /drafts/"}},
	"No robot may fetch anything from this directory:": {false, nil, []string{
		"deny * /d/", "deny foo /d/x", "deny foo /d/e/x", "allow foo /e"}},
	"No archive except the one for robots:": {false, nil, []string{
		"deny * /d/x.zip", "deny * /d/e/x.zip", "allow * /d/all-texts.zip", "allow * /d/x.txt",
		"allow * /x.zip"}},
	"Only Veronica:": {false, nil, []string{
		"deny * /d/x", "deny foo /d/", "allow veronica /d/x"}},
	"One robot may fetch the texts only:": {false, nil, []string{
		"deny imagebot /d/x.gif", "allow imagebot /d/x.txt", "allow * /d/x.gif"}},

	"1. Keep robots out of a part": {false, nil, []string{
		"deny * /phlog/drafts/", "deny foo /phlog/drafts/x", "allow * /phlog/drafts/about.txt",
		"allow * /phlog/x"}},
	"The shortest useful annotation is the single line": {false, nil, []string{
		"deny * /d/drafts/", "deny foo /d/drafts/x", "allow * /d/draft"}},
	"2. A name, and what begins with it": {false, nil, []string{
		"deny * /attic/thermometer", "allow * /attic/log-book.txt", "deny * /attic/draft/x",
		"allow * /attic/drafty.txt"}},
	"\"$\" at the end of a pattern matches the end of the name:": {false, nil, []string{
		"deny * /d/x.bak", "deny * /d/e/x.bak", "allow * /d/x.bak.gz"}},
	"3. No robot, except": {false, map[string]string{"phlog/": "Disallow: /drafts/\n"}, []string{
		"deny * /tables/x", "deny foo /tables/", "allow veronica /tables/x",
		"deny veronica /phlog/drafts/", "allow veronica /phlog/x"}},
	"4. The whole site: the annotation of the root": {true, nil, []string{
		"line Crawl-delay: 5", "line Index: allow", "line Cooldown: 86400",
		"line Comment: Texts for people. Fetch them slowly, and once."}},
	"With Final no annotation below undoes it, whatever robot it names:": {false,
		map[string]string{"~bob/": "Allow: /\nUser-agent: foo\nAllow: /private/\n"}, []string{
			"deny * /~bob/private/x", "deny foo /~bob/private/", "allow foo /~bob/x"}},
	"What your texts may be used for": {false, nil, []string{
		"use * /d/x search=y, train-ai=n", "use foo /d/ search=y, train-ai=n", "use * /x ",
		"allow * /d/x"}},
	"for their own directory. Final cannot:": {true,
		map[string]string{"~ann/": "Allow: /\nUser-agent: foo\nAllow: /private/\n"}, []string{
			"deny * /~ann/private/x", "deny foo /~ann/private/", "allow foo /~ann/x"}},
}

// example is an annotation that a page shows.
type example struct{ above, dir, text string }

// examples lists what is indented in a page and holds nothing but lines of an
// annotation, after a line that says whose it is.
func examples(page string) (list []example) {
	field := regexp.MustCompile(`^(#.*|(User-agent|Disallow|Allow|Final|Content-Usage|Crawl-delay|Comment|Index|Cooldown): .*)?$`)
	where := regexp.MustCompile(`\A#? ?([a-z~/]*)\.robots( in the root)?\n(-+\n)?`)
	above := ""
	for _, part := range regexp.MustCompile(`(?m)(^    .*\n|^\n)+|^\S.*\n`).FindAllString(page, -1) {
		if part[0] != ' ' && part[0] != '\n' {
			above = strings.TrimSpace(part)
			continue
		}
		e := example{above: above, dir: "d/",
			text: strings.ReplaceAll("\n"+strings.Trim(part, "\n"), "\n    ", "\n")[1:] + "\n"}
		if m := where.FindStringSubmatch(e.text); m != nil {
			e.dir, e.text = m[1], e.text[len(m[0]):]
		}
		lines := strings.Split(strings.TrimSpace(e.text), "\n")
		made := strings.HasPrefix(lines[0], "# robots.txt made by gophd")
		if lines[0] != "" && !made && !slices.ContainsFunc(lines, func(l string) bool {
			return !field.MatchString(l)
		}) {
			list = append(list, e)
		}
	}
	return list
}

// TestExamplesOfAnnotations compiles each annotation that robots(5) and the manual
// show, and asks for what they say of it. The tests of package policy do so with the
// examples of reports; commands are typed by TestManualShowsWhatIsPrinted.
func TestExamplesOfAnnotations(t *testing.T) {
	pages, err := filepath.Glob(top + "content/manual/*.txt")
	treetest.Must(t, err)
	seen := map[string]bool{}
	for _, page := range append(pages, top+"doc/robots.5.md") {
		for _, e := range examples(read(t, strings.TrimPrefix(filepath.ToSlash(page), top))) {
			claim, ok := claims[e.above]
			if seen[e.above] = true; !ok || len(claim.say) == 0 {
				t.Errorf("%s shows an example of which no test knows what it says, after %q:\n%s",
					page, e.above, e.text)
			}
			if claim.root {
				e.dir = ""
			}
			notes := map[string]string{e.dir: e.text}
			maps.Copy(notes, claim.with)
			c := policy.Compile(inputOf(notes))
			for _, r := range c.Reports() {
				if r.Severity == "error" {
					t.Errorf("%s, %q: %v", page, e.above, r)
				}
			}
			for _, say := range claim.say {
				if got := said(c, say); got != say {
					t.Errorf("%s, %q: %s, not %s\n%s", page, e.above, got, say, c.File())
				}
			}
		}
	}
	for above := range claims {
		if !seen[above] {
			t.Errorf("no page has an example after %q", above)
		}
	}
}

// said asks the policy for what a claim is about.
func said(c *policy.Compiled, claim string) string {
	words := strings.SplitN(claim, " ", 4)
	if words[0] == "line" {
		if strings.Contains(string(c.File()), "\n"+claim[len("line "):]+"\n") {
			return claim
		}
		return "no " + claim
	}
	name, isDir := strings.Trim(words[2], "/"), strings.HasSuffix("/"+words[2], "/")
	if name == "" {
		name = "."
	}
	e := c.Explain(words[1], name, isDir)
	var uses []string
	for _, u := range e.Usage {
		uses = append(uses, u.Key+"="+u.Value)
	}
	switch {
	case words[0] == "use":
		return fmt.Sprintf("use %s %s %s", words[1], words[2], strings.Join(uses, ", "))
	case e.Allowed:
		return fmt.Sprintf("allow %s %s", words[1], words[2])
	}
	return fmt.Sprintf("deny %s %s", words[1], words[2])
}

// inputOf makes annotations of texts, by the names of their directories.
func inputOf(notes map[string]string) (in policy.Input) {
	for dir, text := range notes {
		in.Annotations = append(in.Annotations,
			policy.Annotation{Dir: "/" + dir, File: dir + ".robots", Data: []byte(text)})
	}
	return in
}
