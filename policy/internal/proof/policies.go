package proof

import (
	"maps"
	"slices"

	"github.com/gophd/gophd/robots/readers"
)

// Policies are the policies of all robots, for tests of the compiler.
type Policies struct{ c *checker }

// Policy is what the annotations allow and prefer for one robot.
type Policy struct{ p *policy }

// Verdict is the decision about a selector, and the rule that decides. The file is "" if
// no rule does, or that of a program.
type Verdict struct {
	Allowed   bool
	File, Dir string
	Line      int
	Pattern   string // in URI form
}

// Read reads the annotations of in, and neither its file nor its readers.
func Read(in Input) Policies {
	c := newChecker(in)
	c.readNotes()
	return Policies{c}
}

// Robots lists the robots that annotations name, in lower case.
func (of Policies) Robots() []string {
	return slices.Sorted(maps.Keys(of.c.named))
}

// For returns the policy for a robot, or with "*" for robots that nobody names.
func (of Policies) For(robot string) Policy {
	return Policy{of.c.policyOf(robot)}
}

// Patterns lists the patterns of all rules and preferences, in URI form.
func (of Policies) Patterns() []string {
	list := map[string]bool{}
	for _, robot := range append(of.Robots(), "*") {
		p := of.c.policyOf(robot)
		for _, r := range p.rules {
			list[r.String()] = true
		}
		for _, s := range p.states {
			list[s.path.String()] = true
		}
	}
	for _, a := range of.c.list {
		for _, g := range a.groups {
			for _, r := range g.rules {
				list[r.String()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(list))
}

// Decide decides about a canonical selector.
func (p Policy) Decide(selector string) Verdict {
	r := p.p.decide(readers.URI.Of(selector))
	if r == nil {
		return Verdict{Allowed: true}
	}
	return Verdict{r.allow, r.file, r.dir, r.line, r.String()}
}

// Prefers returns the value of each key, y or n, at a canonical selector.
func (p Policy) Prefers(selector string) map[string]string {
	values := map[string]string{}
	for key, by := range p.p.prefers(readers.URI.Of(selector)) {
		values[key] = by.states[key].String()
	}
	return values
}
