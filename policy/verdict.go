package policy

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Since the file says the policy exactly to readers of RFC 9309, what the policy
// is of a selector is read from it.

// read lets readers of RFC 9309 read the file.
func (c *Compiled) read() {
	f := robots.Parse(robots.RFC9309, c.file)
	c.readers, c.veronica = nil, nil
	for _, agent := range c.agents {
		if rules := f.Agent(agent); agent == veronica {
			c.veronica = rules
		} else {
			c.readers = append(c.readers, rules)
		}
	}
}

// Denied reports whether any robot is denied a resource. The name is a path
// below the root, "." for the root itself; it need not exist.
func (c *Compiled) Denied(name string, dir bool) bool {
	uri := escape(selector.Canonical(name, dir))
	return slices.ContainsFunc(c.readers, func(r *robots.Rules) bool { return !r.Allowed(uri) })
}

// DeniedToAll reports whether a resource is denied to the robots that no
// annotation names: what is denied to a few by name is not.
func (c *Compiled) DeniedToAll(name string, dir bool) bool {
	return !c.readers[0].Allowed(escape(selector.Canonical(name, dir)))
}

// Closed reports whether a selector is a closed spelling of something denied:
// one that the server answers with a pointer to the canonical selector only,
// because no line of robots.txt can deny it without denying something else. Such
// are "/d" of a denied directory, where "/dirt.txt" is allowed, "x/tmp/a" where
// "/*/tmp/" is denied, what begins with a blank, # or *, and everything that is
// spelt with escapes.
func (c *Compiled) Closed(sel string) (canonical string, ok bool) {
	name := strings.Trim(sel, "/")
	canonical = selector.Canonical(name, c.in.Root.find(name) != nil)
	if canonical == sel || name == robotsFile {
		return "", false
	}
	return canonical, c.closes(canonical, sel)
}

// closes reports whether a spelling of a canonical selector is closed.
func (c *Compiled) closes(canonical, spelling string) bool {
	if canonical == spelling || spelling == "" {
		return false
	}
	always := strings.HasSuffix(canonical, "/") && !strings.HasSuffix(spelling, "/") ||
		strings.Trim(canonical, "/") != strings.Trim(spelling, "/") || strings.IndexByte(" #*", spelling[0]) >= 0
	closed := func(r *robots.Rules, denied, other string) bool {
		d := r.Decide(denied)
		return !d.Allowed && (always || isSlashed(d.Rule.Pattern) && spelling[0] != '/' || r.Allowed(other))
	}
	isClosed := func(r *robots.Rules) bool { return closed(r, escape(canonical), escape(spelling)) }
	// Veronica's lines may be in weak forms, which are not escaped.
	return slices.ContainsFunc(c.readers, isClosed) || isClosed(c.veronica) || closed(c.veronica, canonical, spelling)
}

// RuleSource is a line of an annotation.
type RuleSource struct {
	File  string `json:"file"`
	Line  int    `json:"line"` // 0: the annotation as a whole
	Allow bool   `json:"allow"`
	Value string `json:"value"` // the pattern as written; of a denied annotation, why
}

// ReaderAnswer is what a reader makes of a resource.
type ReaderAnswer struct {
	Reader  string `json:"reader"`
	Allowed bool   `json:"allowed"`
}

// UsePreference is what the policy prefers for one use of a resource that a robot may
// fetch.
type UsePreference struct {
	Key   string      `json:"key"`
	Value string      `json:"preference"` // y, n or unstated
	By    *RuleSource `json:"by"`         // its value is the dictionary
	Line  int         `json:"line"`       // in the generated file
}

// Explanation is why a robot may or may not fetch a resource.
type Explanation struct {
	Agent     string         `json:"agent"`
	Selector  string         `json:"selector"` // the canonical one
	Allowed   bool           `json:"allowed"`  // by the policy
	By        *RuleSource    `json:"by"`       // decides; nil if no rule matches
	Overrules *RuleSource    `json:"overrules"`
	Line      int            `json:"line"` // in the generated file; 0 if none
	Text      string         `json:"text"` // of that line
	Readers   []ReaderAnswer `json:"readers"`

	Usage []UsePreference `json:"usage,omitempty"` // what Content-Usage lines state, by key
}

// Explain returns what the policy is for a resource, where it was said, and what
// the readers make of it. The name is a path below the root, "." for the root;
// it need not exist.
func (c *Compiled) Explain(agent, name string, dir bool) Explanation {
	sel := selector.Canonical(strings.Trim(name, "/"), dir)
	f := robots.Parse(robots.RFC9309, c.file)
	d := f.Decide(agent, escape(sel))
	e := Explanation{Agent: agent, Selector: sel, Allowed: d.Allowed}
	if e.By = c.Source(d.Rule.Line); e.By != nil {
		e.Overrules = c.Source(c.without(f, *e.By).Decide(agent, escape(sel)).Rule.Line)
	}
	if e.Line = d.Rule.Line; e.Line > 0 {
		e.Text = (&rule{allow: d.Rule.Allow}).field() + d.Rule.Pattern
	}
	for _, s := range f.Usage(agent, escape(sel)) {
		e.Usage = append(e.Usage, UsePreference{s.Key, s.Preference.String(), c.usageSource(s), s.Line})
	}
	for _, r := range readers.All() {
		if r.Agent == "" || agent == "*" || strings.EqualFold(r.Agent, agent) { // else it is another robot
			e.Readers = append(e.Readers, ReaderAnswer{r.Name, r.Read(c.file).Allowed(agent, sel)})
		}
	}
	return e
}

// without reads the file again without what a line of an annotation has become there,
// which may be several lines.
func (c *Compiled) without(f *robots.File, said RuleSource) *robots.File {
	var rest []byte
	for l := range f.Lines() {
		if s := c.Source(l.Number); s != nil && *s == said {
			l.Text = "\n"
		}
		rest = append(rest, l.Text...)
	}
	return robots.Parse(robots.RFC9309, rest)
}

func (r *rule) source() *RuleSource {
	return &RuleSource{File: r.file, Line: r.line, Allow: r.allow, Value: r.value}
}

// Source returns which line of which annotation a line of the file comes from,
// counted from 1; nil if it is none.
func (c *Compiled) Source(line int) *RuleSource {
	if line < 1 || line > len(c.sources) || c.sources[line-1] == nil || c.sources[line-1].file == "" {
		return nil
	}
	return c.sources[line-1].source()
}

// usageSource is the line of an annotation that states a preference: of those that
// were put together, the first that says what holds.
func (c *Compiled) usageSource(stated robots.Stated) *RuleSource {
	src := c.Source(stated.Line)
	if src == nil {
		return nil
	}
	for _, r := range c.sources[stated.Line-1].with {
		said, _ := robots.ParseUsage(r.value)
		for _, s := range said {
			if s.Key == stated.Key && s.Preference == stated.Preference {
				return r.source()
			}
		}
	}
	return src
}
