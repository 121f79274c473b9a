package policy

import (
	"strings"

	"github.com/gophd/gophd/robots"
)

// RuleSource is a line of an annotation.
type RuleSource struct {
	File  string `json:"file"`
	Line  int    `json:"line"` // 0: the annotation as a whole
	Allow bool   `json:"allow"`
	Value string `json:"value"` // the pattern as written; of a denied annotation, why
}

// Answer is what a reader makes of a resource.
type Answer struct {
	Reader  string `json:"reader"`
	Allowed bool   `json:"allowed"`
}

// Explanation is why a robot may or may not fetch a resource.
type Explanation struct {
	Agent     string      `json:"agent"`
	Selector  string      `json:"selector"` // the canonical one
	Allowed   bool        `json:"allowed"`  // by the policy
	By        *RuleSource `json:"by"`       // decides; nil if no rule matches
	Overrules *RuleSource `json:"overrules"`
	Line      int         `json:"line"` // in the generated file, which decides for RFC 9309; 0 if none
	Text      string      `json:"text"` // of that line
	Readers   []Answer    `json:"readers"`
}

// Explain says what the policy is for a resource, where it was said, and what
// the readers make of it. The name is a path below the root, "." for the root;
// it need not exist.
func (c *Compiled) Explain(agent, name string, dir bool) Explanation {
	name = strings.Trim(name, "/")
	sel := "/"
	if name != "." && name != "" {
		if sel += name; dir {
			sel += "/"
		}
	}
	e := Explanation{Agent: agent, Selector: sel, Allowed: true}
	token := strings.ToLower(agent)
	if sel != "/"+robotsFile { // always allowed (R5)
		by, second := c.deciding(token, sel)
		e.By, e.Overrules = by.source(), second.source()
		e.Allowed = by == nil || by.allow
	}
	d := robots.Parse(robots.RFC9309, c.file).Decide(agent, sel)
	e.Line = d.Rule.Line
	if e.Line > 0 {
		e.Text = fieldOf(d.Rule.Allow) + d.Rule.Pattern
	}
	for _, r := range readings(c.file, agent) {
		e.Readers = append(e.Readers, Answer{r.name, r.allows(sel)})
	}
	return e
}

func (r *rule) source() *RuleSource {
	if r == nil {
		return nil
	}
	return &RuleSource{File: r.file, Line: r.line, Allow: r.allow, Value: r.value}
}

// deciding walks down to a resource and gives the rule that decides, and the
// one that would without it.
func (c *Compiled) deciding(token, sel string) (by, second *rule) {
	size, secondSize := 0, 0
	form := []byte(normal(sel))
	d, at := c.root, "/"
	for d != nil && strings.HasPrefix(sel, at) {
		own, shut := c.index.rules(d, token)
		if shut != nil {
			return shut, by
		}
		base := len(normal(at)) - 1
		for _, r := range own {
			l := live{rule: r, base: base}
			switch n := l.size(); {
			case !l.matches(form):
			case wins(r, n, by, size):
				by, size, second, secondSize = r, n, by, size
			case wins(r, n, second, secondSize):
				second, secondSize = r, n
			}
		}
		name, _, more := strings.Cut(sel[len(at):], "/")
		i, ok := searchDir(d, name)
		if !more || !ok {
			break
		}
		d, at = d.Dirs[i], at+name+"/"
	}
	return by, second
}
