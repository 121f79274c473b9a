package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
	"github.com/gophd/gophd/robots/readers"
)

// input is a site of the oracle with a file.
func input(s oracle.Site, file []byte) Input {
	in := Input{Programs: s.Programs, File: file}
	for _, n := range s.Notes {
		in.Notes = append(in.Notes, Note(n))
	}
	return in
}

// policyOf is the policy of a site for a robot.
func policyOf(s oracle.Site, robot string) *policy {
	in := input(s, nil)
	r := &Result{}
	p := newProver(in, r, r)
	return newPolicy(p.list, p.programs, robot, p.struck[robot])
}

// TestAsOracle: the policy is that of the oracle, which states it by brute force.
func TestAsOracle(t *testing.T) {
	sites := []oracle.Site{}
	for _, c := range oracle.Cases {
		sites = append(sites, c.Site)
	}
	sites = append(sites, oracle.Of(map[string]string{"/": "Disallow: b\nUser-agent: researcher\nDisallow: *$\n", "/b/": "Allow: b\n"}),
		oracle.Of(map[string]string{"/i.html/": "Allow: i*$\n"}, "/*.cgi"))
	for seed := range uint64(150) {
		sites = append(sites, oracle.Draw(rand.New(rand.NewPCG(seed, 21))))
	}
	bad := 0
	for i, s := range sites {
		o := oracle.New(s.Notes, s.Programs, nil)
		for _, robot := range slices.Concat([]string{"*", "foo", "veronica"}, oracle.Virtual, o.Robots()) {
			p, want := policyOf(s, robot), o.For(robot)
			for _, sel := range o.Selectors() {
				form := readers.URI.Of(sel)
				by, d := p.decide(form), want.Decide(sel)
				var from source
				if by != nil {
					from = by.source
				}
				if denied := by != nil && !by.allow; denied == d.Allowed || denied && (from.file != d.File || from.line != d.Line) {
					if bad++; bad < 6 {
						t.Errorf("site %d: %q for %s is denied: %v; %+v, by %+v\n%s", i, sel, robot, denied, d, by, dump(s))
					}
				}
				prefers := map[string]string{}
				for key, by := range p.prefers(form) {
					prefers[key] = by.states.Of(key).String()
				}
				if got := o.Preferences(robot, sel); fmt.Sprint(got) != fmt.Sprint(prefers) {
					if bad++; bad < 6 {
						t.Errorf("site %d: %q for %s: %v is preferred, not %v\n%s", i, sel, robot, prefers, got, dump(s))
					}
				}
			}
		}
	}
}

func dump(s oracle.Site) (text string) {
	for _, n := range s.Notes {
		text += fmt.Sprintf("== %s %v\n%s\n", n.Dir, n.Err, n.Data)
	}
	return text + fmt.Sprintln(s.Programs)
}

// TestCommon: two patterns have at most four common texts, each of which both match.
func TestCommon(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"/*a*b", "/*c*d", "[/abcd /acbd /*c*d*a*b* /*c*a*d*b*]"},
		{"/*a", "/ba", "[/ba /baa /ba* /ba*a*]"},
		{"/*a$", "/b", "[/ba /b*a]"},
		{"/a", "/b", "[]"},
	} {
		a, _ := patternBelow("/", c.a)
		b, _ := patternBelow("/", c.b)
		if got := fmt.Sprint(common(&a, &b)); got != c.want {
			t.Errorf("%s and %s: %s, not %s", c.a, c.b, got, c.want)
		}
	}
}
