package policy

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/sites"
)

var questions = flag.String("questions", "", "a file to write questions about compiled files to, for make kit-trees")

// TestQuestions writes questions about compiled files for programs that are not written in
// Go, with the policy's answers and the rows that a report names at the rule that decides.
func TestQuestions(t *testing.T) {
	if *questions == "" {
		t.Skip("make kit-trees")
	}
	f, err := os.Create(*questions)
	if err != nil {
		t.Fatal(err)
	}
	w := json.NewEncoder(f)
	for seed := *first; seed < *first+*drawn; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 5))
		s := sites.Draw(rnd)
		c := Compile(input(s))
		policies := policiesOf(s)
		named := map[string][]string{}
		for _, r := range c.Reports() {
			at := fmt.Sprint(r.File, r.Line)
			switch {
			case r.Code == CodeIndex, r.Code == CodeName && r.Severity == diag.Notice: // at an Allow that opens more
				at = ""
			case r.Code == CodeMatchedLength && len(s.Programs) > 0: // at the Allow that opens what a program answers
				at = ""
			}
			named[at] = append(named[at], r.Readers...)
		}
		robots := slices.DeleteFunc(policies.Robots(), func(robot string) bool {
			return slices.ContainsFunc(readers.All(), func(r readers.Reader) bool { return r.Agent == robot })
		})
		for _, robot := range append(robots, "*", "gopher-mcp") {
			agent := robot
			if robot == "*" {
				agent = "zz"
			}
			sels := sites.Selectors(policies.Patterns())
			rnd.Shuffle(len(sels), func(i, j int) { sels[i], sels[j] = sels[j], sels[i] })
			for _, sel := range sels[:min(len(sels), 12)] {
				v := policies.For(robot).Decide(sel)
				by := fmt.Sprint(v.File, v.Line)
				if v.File == "" { // of a program
					if src := c.Explain(robot, sel[1:], strings.HasSuffix(sel, "/")).By; src != nil {
						by = fmt.Sprint(src.File, src.Line)
					}
				}
				err := w.Encode(map[string]any{"robots": c.File(), "agent": agent, "path": readers.URI.Of(sel),
					"allow": v.Allowed, "named": slices.Concat(named[""], named[by])})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
