package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// verdicts is a file as each reader interprets it. To readers of RFC 9309 the file is
// exactly the policy, so the policy of a selector is read from it.
type verdicts struct {
	robots []judged
	asked  []asked
}

// judged is the policy for the robots of a class.
type judged struct {
	agent  string // one of them; "*" for all that no annotation names
	rules  *robots.Rules
	denies func(uri string) bool
}

// asked is a file as one kind of reader interprets it.
type asked struct {
	reader   readers.Reader
	matchers func() []*readers.Matcher // one for each class; nil: its robots do not read so
}

// judge prepares the verdicts of the file.
func (c *Compiled) judge() (v verdicts) {
	f := robots.Parse(robots.RFC9309, c.file)
	for _, class := range c.classes {
		rules := f.Agent(class.token)
		denies := func(uri string) bool { return !rules.Allowed(uri) }
		if class.token == veronica && c.veronica != nil { // her group has weak lines
			denies = func(uri string) bool { return !c.veronica().Permits(uri) }
		}
		v.robots = append(v.robots, judged{class.token, rules, denies})
	}
	open := sync.OnceValue(func() *readers.Parsed { return readers.Open(c.file) })
	for _, r := range c.readers {
		v.asked = append(v.asked, asked{r, sync.OnceValue(func() []*readers.Matcher {
			return v.matchers(r, open())
		})})
	}
	return v
}

// matchers returns the rules that one kind of reader obeys, for each class; nil for classes
// whose robots are of another kind.
func (v *verdicts) matchers(r readers.Reader, file *readers.Parsed) (list []*readers.Matcher) {
	reading := r.ReadFile(file)
	isNamed := slices.ContainsFunc(v.robots, func(j judged) bool { return j.agent == r.Agent })
	for i, j := range v.robots {
		isOther := i > 0 && !r.Groups
		if r.Agent != "" {
			isOther = j.agent != r.Agent && (i > 0 || isNamed)
		}
		if isOther {
			list = append(list, nil)
			continue
		}
		list = append(list, reading.Agent(j.agent))
	}
	return list
}

// DeniedToAll reports whether a resource is denied to the robots that no annotation
// names. The name is a path below the root, "." for the root itself; it need not exist.
func (c *Compiled) DeniedToAll(name string, dir bool) bool {
	return c.robots[0].denies(escape(selector.Canonical(name, dir)))
}

// DeniedBy returns the line of an annotation that denies a resource to the robots that no
// annotation names; nil if there is none.
func (c *Compiled) DeniedBy(name string, dir bool) *RuleSource {
	d := c.robots[0].rules.Decide(escape(selector.Canonical(name, dir)))
	if d.Allowed {
		return nil
	}
	return c.Source(d.Rule.Line)
}

// LetIn returns the readers that fetch a resource although its policy denies it to the
// robots that no annotation names, such as one whose name contains an escape.
func (c *Compiled) LetIn(name string, dir bool) (readers []string) {
	sel := selector.Canonical(name, dir)
	if c.DeniedToAll(name, dir) {
		for _, row := range c.asked {
			if m := row.matchers()[0]; m != nil && m.Allowed(sel) {
				readers = append(readers, row.reader.Name)
			}
		}
	}
	return readers
}

// Closed reports whether a spelling of a canonical selector is closed: the server must
// answer it with a pointer to the canonical selector only. A spelling is closed if the
// policy denies a robot the canonical selector, and a reader that keeps it out of that
// would let it into the spelling. No line can deny "/d" of a denied directory if
// "/dirt.txt" is allowed, nor a spelling with escapes. A nil Compiled closes all spellings
// but the canonical and the empty one.
func (c *Compiled) Closed(canonical, spelling string) bool {
	if c == nil {
		return canonical != spelling && spelling != ""
	}
	if canonical == spelling || spelling == "" || canonical == "/"+robotsFile {
		return false
	}
	uri := escape(canonical)
	for i, robot := range c.robots {
		if !robot.denies(uri) {
			continue
		}
		for _, row := range c.asked {
			m := row.matchers()[i]
			asked := row.reader.Asks(spelling)
			if m != nil && asked != canonical && !m.Allowed(canonical) && m.Allowed(asked) {
				return true
			}
		}
	}
	return false
}

// RuleSource is a line of an annotation.
type RuleSource struct {
	File  string `json:"file"`
	Line  int    `json:"line"` // 0: the annotation as a whole
	Allow bool   `json:"allow"`
	Final bool   `json:"final,omitempty"`
	Value string `json:"value"` // the pattern as written; of a denied annotation, why
}

// ReaderAnswer is one reader's decision about a resource.
type ReaderAnswer struct {
	Reader  string `json:"reader"`
	Allowed bool   `json:"allowed"`
}

// UsePreference is the policy's preference for one use of a resource that a robot may
// fetch.
type UsePreference struct {
	Key   string      `json:"key"`
	Value string      `json:"preference"` // y, n or unstated
	By    *RuleSource `json:"by"`         // its value is the dictionary
	Line  int         `json:"line"`       // in the generated file
}

// StruckAllow is an Allow that does not count, since it would open some of what a
// Disallow above it denies.
type StruckAllow struct {
	Allow RuleSource `json:"allow"`
	By    RuleSource `json:"by"`
}

// Explanation explains why a robot may or may not fetch a resource.
type Explanation struct {
	Agent     string         `json:"agent"`
	Selector  string         `json:"selector"` // the canonical one
	Allowed   bool           `json:"allowed"`  // by the policy
	By        *RuleSource    `json:"by"`       // decides; nil if no rule matches
	Overrules *RuleSource    `json:"overrules"`
	Struck    []StruckAllow  `json:"struck,omitempty"` // those that match a denied resource
	Joined    bool           `json:"joined,omitempty"` // By applies to more robots than it names, since the file would be too large
	Line      int            `json:"line"`             // in the generated file; 0 if none
	Text      string         `json:"text"`             // of that line
	Readers   []ReaderAnswer `json:"readers"`

	Usage   []UsePreference `json:"usage,omitempty"`    // what Content-Usage lines state, by key
	NoUsage string          `json:"no_usage,omitempty"` // why it is empty, although annotations state preferences
}

// Explain returns the policy for a resource, the line that states it, and each reader's
// decision. The name is a path below the root, "." for the root; it need not exist.
func (c *Compiled) Explain(agent, name string, dir bool) Explanation {
	sel := selector.Canonical(strings.Trim(name, "/"), dir)
	f := robots.Parse(robots.RFC9309, c.file)
	d := f.Decide(agent, escape(sel))
	e := Explanation{Agent: agent, Selector: sel, Allowed: d.Allowed}
	if by := c.Source(d.Rule.Line); by != nil {
		e.Overrules = c.sourceFor(agent, c.without(f, *by).Decide(agent, escape(sel)).Rule.Line)
	}
	e.By = c.sourceFor(agent, d.Rule.Line)
	isHers := strings.EqualFold(agent, veronica)
	if isHers && c.veronica != nil { // her group has weak lines, with selectors as they are sent
		d = robots.Parse(robots.Gopher, c.file).Decide(agent, sel)
		e.Allowed = true
		e.By = nil
		e.Overrules = nil
		if m := c.veronica().Find(escape(sel)); m != nil {
			e.Allowed, e.By = m.Allow, c.rulesVeronica[m.Ref-1].source()
		}
	}
	class := c.classOf(agent)
	if e.Line = d.Rule.Line; e.Line > 0 {
		e.Text = field(d.Rule.Allow) + d.Rule.Pattern
		e.Joined = class.joined && e.By != nil && c.sources[e.Line-1].of.joined
	}
	for _, s := range class.struck {
		if !e.Allowed && matches(s.allow.uri, escape(sel)) {
			e.Struck = append(e.Struck,
				StruckAllow{*c.ownLine(agent, s.allow), *c.ownLine(agent, s.by)})
		}
	}
	for _, s := range f.Usage(agent, escape(sel)) {
		e.Usage = append(e.Usage,
			UsePreference{s.Key, s.Preference.String(), c.usageSource(agent, s), s.Line})
	}
	if isHers && len(e.Usage) == 0 && len(usesOf(class, c.notes)) > 0 {
		e.NoUsage = "the group for veronica is for readers that know Disallow alone"
	}
	open := readers.Open(c.file)
	for _, r := range c.readers {
		if r.Agent == "" || agent == "*" || strings.EqualFold(r.Agent, agent) { // else it is another robot
			e.Readers = append(e.Readers,
				ReaderAnswer{r.Name, r.ReadFile(open).Allowed(agent, sel)})
		}
	}
	return e
}

// without parses the file again without the lines that come from one line of an
// annotation.
func (c *Compiled) without(f *robots.File, said RuleSource) *robots.File {
	var rest []byte
	for l := range f.Lines() {
		if s := c.Source(l.Number); s != nil && *s == said {
			l.Text = "Disallow:\n" // a group without a rule would join the next one
		}
		rest = append(rest, l.Text...)
	}
	return robots.Parse(robots.RFC9309, rest)
}

func (r *rule) source() *RuleSource {
	return &RuleSource{
		File:  r.file,
		Line:  r.line,
		Allow: r.allow,
		Final: r.final,
		Value: r.value,
	}
}

// Text returns the line in the usual spelling.
func (s RuleSource) Text() string {
	if s.Final {
		return "Final: " + s.Value
	}
	return field(s.Allow) + s.Value
}

// Source returns the line of an annotation that a line of the file comes from, counted
// from 1; nil if no author wrote it.
func (c *Compiled) Source(line int) *RuleSource {
	if line < 1 || line > len(c.sources) || c.sources[line-1].rule == nil ||
		c.sources[line-1].file == "" {
		return nil
	}
	return c.sources[line-1].source()
}

// classOf returns the class of a robot.
func (c *Compiled) classOf(agent string) *class {
	for _, class := range c.classes[1:] {
		if slices.ContainsFunc(class.names, func(name string) bool {
			return strings.EqualFold(name, agent)
		}) {
			return class
		}
	}
	return c.classes[0]
}

// groupsFor returns the groups of the annotations in a file that name a robot.
func (c *Compiled) groupsFor(agent, file string) []*group {
	robot, ok := c.names.of[strings.ToLower(agent)]
	if !ok {
		return nil
	}
	i := slices.IndexFunc(c.notes, func(n *note) bool {
		return slices.ContainsFunc(n.from, func(a Annotation) bool { return a.File == file })
	})
	if i < 0 {
		return nil
	}
	return c.notes[i].groupsOf(robot)
}

// sourceFor is Source for one robot.
func (c *Compiled) sourceFor(agent string, line int) *RuleSource {
	if c.Source(line) == nil {
		return nil
	}
	return c.ownLine(agent, c.sources[line-1].rule)
}

// ownLine returns where an annotation states a rule for a robot. Robots that are treated
// alike share the rules of one of them, but each may have lines of its own.
func (c *Compiled) ownLine(agent string, r *rule) *RuleSource {
	for _, g := range c.groupsFor(agent, r.file) {
		for _, own := range g.rules {
			if own.allow == r.allow &&
				(own.uri == r.uri || r.below != nil && own.value == r.value) {
				return own.source()
			}
		}
	}
	return r.source()
}

// usageSource is the line of an annotation that states a preference of the file.
func (c *Compiled) usageSource(agent string, stated readers.Stated) *RuleSource {
	src := c.Source(stated.Line)
	if src == nil || c.sources[stated.Line-1].use == nil {
		return src
	}
	by := c.sources[stated.Line-1].use.states[stated.Key]
	for _, g := range c.groupsFor(agent, by.file) {
		for _, own := range g.prefs {
			if own.uri == by.uri && own.said.Of(stated.Key) == stated.Preference {
				return own.source()
			}
		}
	}
	return by.source()
}

// An AnnotationRule is an Allow, Disallow or Final line of an annotation.
type AnnotationRule struct {
	RuleSource
	Dir     string // the canonical selector of the annotation's directory
	Literal bool   // the pattern has no wildcard: it is a path, and perhaps a $

	// Path is the pattern up to its first wildcard, below the root of the site, as a
	// Gopher client would send it.
	Path string

	pattern string // in URI form
}

// Matches reports whether the pattern matches a selector.
func (r AnnotationRule) Matches(sel string) bool {
	return matches(r.pattern, escape(sel))
}

// With returns the rule with another pattern in its place; false if no request can
// match it.
func (r AnnotationRule) With(value string) (AnnotationRule, bool) {
	f, ok := patternOf(value, directory(r.Dir))
	r.Value, r.pattern, r.Path = value, f.uri, selector.Decoded(headOf(f.uri))
	return r, ok
}

// Rules returns the rules of an annotation, by its directory and the name of its file.
func (c *Compiled) Rules(dir, file string) (list []AnnotationRule) {
	i, found := slices.BinarySearchFunc(c.notes, dir, func(n *note, dir string) int {
		return strings.Compare(n.sel, dir)
	})
	if !found {
		return nil
	}
	for _, r := range c.notes[i].rules {
		if r.file == file {
			list = append(list, AnnotationRule{*r.source(), dir, strings.IndexByte(r.uri, '*') < 0,
				selector.Decoded(headOf(r.uri)), r.uri})
		}
	}
	return list
}
