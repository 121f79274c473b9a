package policy

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
	"github.com/gophd/gophd/robots/readers"
)

var questions = flag.String("questions", "", "a file to write questions about compiled files to, for make kit-trees")

// question is one to a program that reads robots.txt files, with the policy's answer.
type question struct {
	Robots []byte   `json:"robots"`
	Agent  string   `json:"agent"`
	Path   string   `json:"path"`
	Allow  bool     `json:"allow"`
	Named  []string `json:"named"` // the rows that a report names at the rule that decides
}

// TestQuestions writes questions about compiled files, for programs that are not written
// in Go.
func TestQuestions(t *testing.T) {
	if *questions == "" {
		t.Skip("make kit-trees")
	}
	f, err := os.Create(*questions)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for seed := *first; seed < *first+*sites; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 5))
		s := oracle.Draw(rnd)
		c := Compile(input(s), nil)
		p := oracle.New(s.Notes, s.Programs, c.shut)
		named := map[string][]string{}
		for _, r := range c.Reports() {
			at := fmt.Sprint(r.File, r.Line)
			if r.Code == CodeIndex || r.Code == CodeName && isAllow(c, r) { // an Allow that is wider than it is meant
				at = ""
			}
			named[at] = append(named[at], r.Readers...)
		}
		others := slices.DeleteFunc(p.Robots(), func(robot string) bool {
			return slices.ContainsFunc(readers.All(), func(r readers.Reader) bool { return r.Agent == robot })
		})
		for _, robot := range append(others, "*", "gopher-mcp") {
			rules, agent := p.For(robot), robot
			if robot == "*" {
				agent = "zz"
			}
			sels := p.Selectors()
			rnd.Shuffle(len(sels), func(i, j int) { sels[i], sels[j] = sels[j], sels[i] })
			for _, sel := range sels[:min(len(sels), 12)] {
				v := rules.Decide(sel)
				q := question{c.File(), agent, oracle.Escape(sel), v.Allowed, slices.Concat(named[""], named[fmt.Sprint(v.File, v.Line)])}
				if err := json.NewEncoder(w).Encode(q); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
