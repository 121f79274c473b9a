package policy

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/sites"
)

var questions = flag.String("questions", "",
	"a file to write questions about compiled files to, for make kit-trees")

// TestQuestions writes questions about compiled files for programs that are not written in
// Go, with the policy's answers, and the rows that by the proof do not keep the rule that
// decides, and that a report names at its line or at the Allow's that opens it.
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
		named := namedIn(c)
		robots := slices.DeleteFunc(policies.Robots(), func(robot string) bool {
			return slices.ContainsFunc(readers.All(), func(r readers.Reader) bool {
				return r.Agent == robot
			})
		})
		for _, robot := range append(robots, "*", "gopher-mcp") {
			agent := robot
			if robot == "*" {
				agent = "zz"
			}
			sels := sites.Selectors(policies.Patterns())
			rnd.Shuffle(len(sels), func(i, j int) { sels[i], sels[j] = sels[j], sels[i] })
			for _, sel := range sels[:min(len(sels), 12)] {
				p := policies.For(robot)
				var rows []string
				for _, v := range p.Deciding(sel) {
					rows = append(rows, named[place{v.File, v.Pattern, v.Line}]...)
				}
				err := w.Encode(map[string]any{"robots": c.File(), "agent": agent,
					"path":  readers.URI.Of(sel),
					"allow": p.Decide(sel).Allowed, "named": rows})
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
