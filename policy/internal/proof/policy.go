package proof

import (
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// annotation is the groups of one directory.
type annotation struct {
	dir    string
	file   string
	denied bool // as a whole, with all below it
	joined bool // it is in a joined directory
	groups []*group
	all    []*group // those for everybody
}

// counted is a rule that counts for a robot.
type counted struct {
	*rule
	named bool  // its group names the robot
	below *rule // the Allow below which it is carried
}

// shutSize is larger than any pattern.
const shutSize = 1 << 30

// policy is the rules that count for one robot.
type policy struct {
	rules   []counted
	states  []stated
	matcher *readers.Matcher    // of rules, by their places
	paths   *readers.Matcher    // of states
	opening map[string]*counted // the longest Allow that covers a pattern, by its text
	denies  []*counted          // the Disallows that decide about some name
	allows  []*counted
	holes   []*counted // Allows within a Disallow
}

type stated struct {
	*statement
	named bool
}

// exact compares as the policy does: the longest pattern decides, Allow on a tie.
var exact = readers.Reader{Forms: []readers.Form{readers.URI}}

// policyOf returns the policy for a robot; "*" is any robot that nobody names.
func (c *checker) policyOf(robot string) *policy {
	p := &policy{opening: map[string]*counted{}}
	isJoined := c.joined[robot]
	p.rules, p.states = c.count(c.list, robot, isJoined)
	if isJoined {
		union := c.union()
		p.rules = append(p.rules, union.rules...)
		p.states = append(p.states, union.states...)
	}

	var list []readers.MatchRule
	for i, r := range p.rules {
		list = append(list, readers.MatchRule{
			Pattern: r.Pattern,
			Allow:   r.allow,
			Ref:     i,
		})
	}
	p.matcher, list = exact.NewMatcher(list), nil
	for i, s := range p.states {
		list = append(list, readers.MatchRule{Pattern: s.path, Ref: i})
	}
	p.paths = exact.NewMatcher(list)

	// A rule that a longer one covers never decides.
	for i := range p.rules {
		r := &p.rules[i]
		switch {
		case p.decide(symbol(&r.Pattern)) != r:
		case !r.allow:
			p.denies = append(p.denies, r)
		default:
			p.allows = append(p.allows, r)
			if p.longest(&r.Pattern, false) != nil {
				p.holes = append(p.holes, r)
			}
		}
	}
	return p
}

// count returns the rules and statements of annotations that count for a robot, from the
// root down. It leaves out those of joined directories if without is true.
func (c *checker) count(notes []*annotation, robot string, without bool) (rules []counted,
	states []stated) {
	var above [][]counted // by annotation on the way down
	for _, a := range notes {
		if a.denied {
			all := readers.Pattern{Pieces: []string{readers.URI.Of(a.dir)}, Size: shutSize}
			rules = append(rules, counted{rule: &rule{
				Pattern: all,
				source:  source{a.file, a.dir, 0},
				base:    a.dir,
			}})
			continue
		}
		if without && a.joined {
			continue
		}
		for len(above) > 0 && !strings.HasPrefix(a.dir, above[len(above)-1][0].dir) {
			above = above[:len(above)-1]
		}

		own := c.own(a, robot)
		here := a.rulesFor(own)
		var kept []counted
		for _, r := range here {
			if r.allow {
				carried, struck := c.carry(r, above)
				if struck {
					continue
				}
				rules = append(rules, carried...)
			}
			kept = append(kept, r)
		}
		rules = append(rules, kept...)
		states = append(states, a.statesFor(own)...)
		if len(kept) > 0 {
			above = append(above, kept)
		}
	}
	for _, of := range c.programs {
		rules = append(rules, counted{rule: of})
	}
	return rules, states
}

// own returns the groups of an annotation that name a robot.
func (c *checker) own(a *annotation, robot string) []*group {
	list := c.named[robot]
	if len(list) == 0 || len(a.groups) == 0 {
		return nil
	}
	place := func(g *group, number int) int { return g.number - number }
	from, _ := slices.BinarySearchFunc(list, a.groups[0].number, place)
	to, _ := slices.BinarySearchFunc(list, a.groups[len(a.groups)-1].number+1, place)
	return list[from:to]
}

// rulesFor returns the rules of an annotation for a robot: those of its own groups if there
// are any, and each Final for everybody, or those for everybody.
func (a *annotation) rulesFor(own []*group) (list []counted) {
	speaks := slices.ContainsFunc(own, func(g *group) bool { return g.speaks })
	if speaks {
		for _, g := range own {
			for _, r := range g.rules {
				list = append(list, counted{rule: r, named: true})
			}
		}
	}

	for _, g := range a.all {
		for _, r := range g.rules {
			if !speaks || r.final && !slices.Contains(own, g) {
				list = append(list, counted{rule: r})
			}
		}
	}
	return list
}

// statesFor returns the statements by name, and those for everybody.
func (a *annotation) statesFor(own []*group) (list []stated) {
	for _, g := range own {
		for _, s := range g.states {
			list = append(list, stated{s, true})
		}
	}
	for _, g := range a.all {
		for _, s := range g.states {
			if !slices.Contains(own, g) {
				list = append(list, stated{s, false})
			}
		}
	}
	return list
}

// carry returns, below an Allow, the Disallows that it must not undo. struck is true if
// they cannot be written there.
func (c *checker) carry(allow counted, above [][]counted) (list []counted, struck bool) {
	add := func(d *rule) {
		m := c.meetingOf(d, allow.rule)
		struck = struck || !m.ok
		for _, r := range m.lines {
			list = append(list, counted{rule: r, below: allow.rule})
		}
	}

	for _, d := range c.programs {
		if d.Size <= allow.Size && !allow.opens(d) && d.Meets(&allow.Pattern) {
			add(d)
		}
	}
	for _, rules := range above {
		for _, d := range rules {
			applies := d.dir != allow.dir && !d.allow && (d.final || d.named && !allow.named)
			if !applies || d.Size > allow.Size || !d.Meets(&allow.Pattern) {
				continue
			}
			// An Allow beside the Disallow may except what it covers.
			excepted := slices.ContainsFunc(rules, func(r counted) bool {
				return r.allow && r.named == d.named && r.Size >= d.Size && r.Covers(&allow.Pattern)
			})
			if !excepted {
				add(d.rule)
			}
		}
	}
	return list, struck
}

// meeting is what a Disallow and an Allow both match, as lines.
type meeting struct {
	lines []*rule
	ok    bool // they can be written
}

func (c *checker) meetingOf(d, allow *rule) *meeting {
	key := [2]*rule{d, allow}
	m := c.meetings[key]
	if m != nil {
		return m
	}

	m = &meeting{}
	c.meetings[key] = m
	var list []readers.Pattern
	list, m.ok = d.Meeting(&allow.Pattern)
	for _, p := range list {
		m.ok = m.ok && p.Size > allow.Size
		m.lines = append(m.lines, &rule{
			Pattern: p,
			source:  d.source,
			base:    allow.base,
			of:      d.of,
		})
	}
	return m
}

// opens reports whether an Allow names a program: the program answers its path, without a
// final /, ?, * or $.
func (r *rule) opens(line *rule) bool {
	text := r.String()
	for _, end := range []string{"/", "%3F", "*", "$"} {
		if cut, ok := strings.CutSuffix(text, end); ok {
			text = cut
			break
		}
	}
	p := readers.ParsePattern(text + "$")
	return line.of.Covers(&p)
}

// programLines returns the lines that deny what programs answer.
func programLines(programs []string) (list []*rule) {
	for _, name := range programs {
		var of readers.Pattern
		for piece := range strings.SplitSeq(name, "*") {
			of.Pieces = append(of.Pieces, readers.URI.Of(piece))
		}
		of.Whole = true

		text := strings.Join(of.Pieces, "*")
		ends := []string{"$", "/", "%3F"}
		if strings.HasSuffix(name, "/") {
			ends = ends[:1] // the menu of a directory
		}
		for _, end := range ends {
			list = append(list, &rule{
				Pattern: readers.ParsePattern(text + end),
				base:    "/",
				of:      &of,
			})
		}
	}
	return list
}

// union returns what joined directories state: all that they deny to any robot but
// veronica, and what is carried below their Allows.
func (c *checker) union() *policy {
	if c.shared != nil {
		return c.shared
	}
	u := &policy{}
	c.shared = u
	for _, a := range c.list {
		for _, g := range a.groups {
			if !a.joined || !g.all && slices.Equal(g.names, []string{veronica}) {
				continue
			}
			for _, r := range g.rules {
				if !r.allow {
					u.rules = append(u.rules, counted{rule: r, named: true})
				}
			}
			for _, s := range g.states {
				u.states = append(u.states, stated{s.forbidding(), true})
			}
		}
	}

	u.rules = append(u.rules, c.carried()...)
	return u
}

// carried returns what is carried below the Allows of joined directories for the robots
// that such directories name, each line once. What is carried below an Allow depends on the
// annotations of its own top-level directory and on the root's, so each directory is
// counted with these alone, and once for all robots that they treat alike.
func (c *checker) carried() (list []counted) {
	var root *annotation
	var tops []string
	of := map[string][]*annotation{}
	for _, a := range c.list {
		top := topOf(a.dir)
		switch {
		case a.denied:
		case a.dir == "/":
			root = a
		case c.tops[top]:
			if of[top] == nil {
				tops = append(tops, top)
			}
			of[top] = append(of[top], a)
		}
	}

	seen := map[[2]*rule]bool{}
	for _, top := range tops {
		notes := of[top]
		if !slices.ContainsFunc(notes, (*annotation).allows) {
			continue
		}
		if root != nil {
			notes = append([]*annotation{root}, notes...)
		}
		for _, robot := range c.kinds(notes) {
			rules, _ := c.count(notes, robot, false)
			for _, r := range rules {
				key := [2]*rule{r.rule, r.below}
				if r.below != nil && r.below.dir != "/" && !seen[key] {
					seen[key] = true
					list = append(list, r)
				}
			}
		}
	}
	return list
}

// allows reports whether an annotation has an Allow.
func (a *annotation) allows() bool {
	return slices.ContainsFunc(a.groups, func(g *group) bool {
		return slices.ContainsFunc(g.rules, func(r *rule) bool { return r.allow })
	})
}

// kinds returns one of each set of the robots of joined directories that some annotations
// treat alike; "" represents those that none of them names, if there are any.
func (c *checker) kinds(notes []*annotation) (robots []string) {
	ways := map[string]uint64{}
	for _, a := range notes {
		for _, g := range a.groups {
			for _, name := range g.names {
				if c.joined[name] && g.counts() {
					ways[name] = mixed(ways[name], g.number)
				}
			}
		}
	}
	seen := map[uint64]bool{}
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		if !seen[ways[name]] {
			robots = append(robots, name)
		}
		seen[ways[name]] = true
	}
	for name, joined := range c.joined {
		if joined && ways[name] == 0 {
			return append(robots, "")
		}
	}
	return robots
}

// forbidding returns a statement without what it permits.
func (s *statement) forbidding() *statement {
	only := *s
	only.states = map[string]readers.Preference{}
	for key, p := range s.states {
		if p == readers.No {
			only.states[key] = p
		}
	}
	return &only
}

// decide returns the rule that decides about a selector in URI form, or about everything
// that a pattern matches, given its symbol; nil if none does.
func (p *policy) decide(form string) *counted {
	if r := p.matcher.Find(form); r != nil {
		return &p.rules[r.Ref]
	}
	return nil
}

// opens returns the longest Allow that covers a pattern; nil if none does.
func (p *policy) opens(q *readers.Pattern) *counted {
	text := symbol(q)
	best, ok := p.opening[text]
	if !ok {
		best = p.longest(q, true)
		p.opening[text] = best
	}
	return best
}

// allowOf returns the Allow with a pattern; nil if there is none.
func (p *policy) allowOf(q *readers.Pattern) *counted {
	for _, m := range p.matcher.Matching(symbol(q)) {
		if r := &p.rules[m.Ref]; r.allow && r.String() == q.String() {
			return r
		}
	}
	return nil
}

// longest returns the longest Allow, or Disallow, that covers a pattern; nil if none does.
func (p *policy) longest(q *readers.Pattern, allow bool) (best *counted) {
	for _, m := range p.matcher.Matching(symbol(q)) {
		if r := &p.rules[m.Ref]; r.allow == allow && (best == nil || r.Size > best.Size) {
			best = r
		}
	}
	return best
}

// prefers returns the statement that counts for each key at a path in URI form.
func (p *policy) prefers(path string) map[string]stated {
	// Of each annotation those by name count, or else those for everybody.
	byKey := map[string][]stated{}
	for _, m := range p.paths.Matching(path) {
		s := p.states[m.Ref]
		for key := range s.states {
			byKey[key] = append(byKey[key], s)
		}
	}

	result := map[string]stated{}
	for key, list := range byKey {
		for _, s := range list {
			value := s.states[key]
			idle := !s.named && slices.ContainsFunc(list, func(o stated) bool {
				above := len(o.dir) < len(s.dir) && o.states[key] == readers.No &&
					value == readers.Yes
				return o.named && (o.dir == s.dir || above)
			})
			best, ok := result[key]
			if !idle && (!ok || s.path.Size > best.path.Size ||
				s.path.Size == best.path.Size && value == readers.No) {
				result[key] = s
			}
		}
	}
	return result
}
