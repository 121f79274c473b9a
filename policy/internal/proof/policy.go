package proof

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// annotation holds the notes of one directory.
type annotation struct {
	dir    string
	denied bool   // as a whole
	shut   string // the note that this is reported at
	notes  []*noteText
}

// names reports whether the annotation has rules, or preferences, for a robot by name.
func (a *annotation) names(robot string) (rules, states bool) {
	a.each(func(_ *noteText, g *noteGroup) {
		if slices.Contains(g.names, robot) {
			rules, states = rules || g.speaks, states || g.prefers
		}
	})
	return rules, states
}

func (a *annotation) each(f func(*noteText, *noteGroup)) {
	for _, n := range a.notes {
		for i := range n.groups {
			f(n, &n.groups[i])
		}
	}
}

// source is where a rule stands: a line of a note; the line 0 is the note as a whole.
type source struct {
	file, dir string
	line      int
}

// policyRule is a rule that counts for a robot.
type policyRule struct {
	readers.Pattern
	source
	allow   bool
	named   bool // of a group that names the robot
	final   bool
	carried bool     // below an Allow
	program []string // what a line about a program is for
	struck  bool
	states  robots.Statement
}

// shutSize is larger than any pattern.
const shutSize = 1 << 30

// policy holds the rules and preferences of some annotations for one robot.
type policy struct {
	rules   []*policyRule
	opens   map[string][]*policyRule // the Allows of each directory
	states  []*policyRule
	matcher *readers.Matcher
	stated  *readers.Matcher
}

// newPolicy takes annotations from above to below. The Allows in struck do not count.
func newPolicy(list []*annotation, programs []program, robot string, struck map[source]bool) *policy {
	p := &policy{opens: map[string][]*policyRule{}}
	var above []*policyRule // what an Allow further down must not undo
	for _, a := range list {
		here := p.take(a, robot)
		if a.dir == "/" {
			for _, q := range programs {
				p.rules = append(p.rules, &policyRule{Pattern: q.Pattern, program: q.of})
			}
		}
		for _, r := range here {
			if r.allow {
				p.guard(r, above)
				p.opens[a.dir] = append(p.opens[a.dir], r)
			}
		}
		for _, r := range here {
			if !r.allow && (r.final || r.named) {
				above = append(above, r)
			}
		}
	}
	p.guardPrograms()
	for _, r := range p.rules {
		r.struck = r.struck || r.allow && struck[r.source]
	}
	p.ready()
	return p
}

// take adds the rules and statements of an annotation that count for a robot.
func (p *policy) take(a *annotation, robot string) (rules []*policyRule) {
	if a.denied {
		all := readers.Pattern{Pieces: []string{readers.URI.Of(a.dir)}, Size: shutSize}
		p.rules = append(p.rules, &policyRule{Pattern: all, source: source{a.shut, a.dir, 0}})
		return nil
	}
	ownRules, ownStates := a.names(robot)
	a.each(func(n *noteText, g *noteGroup) {
		add := func(list []noteRule, own bool, to *[]*policyRule) {
			if own && !slices.Contains(g.names, robot) || !own && !g.all {
				return
			}
			for _, r := range list {
				*to = append(*to, &policyRule{Pattern: r.Pattern, source: source{n.File, a.dir, r.line}, allow: r.allow, named: own, final: r.final, states: r.states})
			}
		}
		add(g.rules, ownRules, &rules)
		add(g.states, ownStates, &p.states)
	})
	p.rules = append(p.rules, rules...)
	return rules
}

// guard repeats, below an Allow, the Disallows that it must not undo, or strikes it.
func (p *policy) guard(allow *policyRule, above []*policyRule) {
	var carried []*policyRule
	for _, d := range above {
		applies := (d.final || !allow.named) && strings.HasPrefix(allow.dir, d.dir)
		if !applies || d.Size > allow.Size || !mayMeet(&d.Pattern, &allow.Pattern) || p.exempt(d, allow) {
			continue
		}
		rest, all := below(&d.Pattern, &allow.Pattern, false)
		if all {
			allow.struck = true
			return
		}
		for _, q := range rest {
			carried = append(carried, &policyRule{Pattern: q, source: d.source, carried: true})
		}
	}
	p.rules = append(p.rules, carried...)
}

// exempt reports whether an Allow beside a Disallow opens all that another Allow does.
func (p *policy) exempt(d, allow *policyRule) bool {
	return slices.ContainsFunc(p.opens[d.dir], func(r *policyRule) bool {
		return !r.struck && r.Size >= d.Size && covers(&r.Pattern, &allow.Pattern)
	})
}

// guardPrograms drops the lines about programs that an Allow names, and repeats the
// others below the Allows that may undo them.
func (p *policy) guardPrograms() {
	var allows, carried []*policyRule
	for _, r := range p.rules {
		if r.allow && !r.struck {
			allows = append(allows, r)
		}
	}
	for _, d := range p.rules {
		if d.program == nil || d.carried {
			continue
		}
		for _, a := range allows {
			if compatible(a.Pieces[0], d.Pieces[0]) && ofProgram(&a.Pattern, d.program) && covers(&a.Pattern, &d.Pattern) {
				d.struck = true
			}
		}
		for _, a := range allows {
			if d.struck || a.Size < d.Size || ofProgram(&a.Pattern, d.program) || !mayMeet(&d.Pattern, &a.Pattern) {
				continue
			}
			rest, _ := below(&d.Pattern, &a.Pattern, true)
			for _, q := range rest {
				carried = append(carried, &policyRule{Pattern: q, program: d.program, carried: true})
			}
		}
	}
	p.rules = append(p.rules, carried...)
}

// ofProgram reports whether a pattern names a program, one user's program among those of
// all, or ends in its extension.
func ofProgram(p *readers.Pattern, of []string) bool {
	n := len(p.Pieces)
	last := p.Pieces[n-1]
	ends := []string{"", "/", "%3F"}
	if strings.HasSuffix(of[0], "/") && len(of) == 1 {
		ends = ends[:1]
	}
	for _, end := range ends {
		switch {
		case len(of) == 1:
			if n == 1 && last == of[0]+end {
				return true
			}
		case of[0] == "/":
			if strings.HasSuffix(last, of[1]+end) {
				return true
			}
		case n == 2:
			if p.Pieces[0] == of[0] && last == of[1]+end {
				return true
			}
		case n == 1 && strings.HasPrefix(last, of[0]):
			if name, ok := strings.CutSuffix(last[len(of[0]):], of[1]+end); ok && name != "" && !strings.Contains(name, "/") {
				return true
			}
		}
	}
	return false
}

// ready prepares the matchers. Of equally long rules the first one is reported: written
// rules come before carried ones, and programs come last.
func (p *policy) ready() {
	rank := func(r *policyRule) (n int) {
		if r.carried {
			n++
		}
		if r.program != nil {
			n += 2
		}
		return n
	}
	slices.SortStableFunc(p.rules, func(a, b *policyRule) int { return rank(a) - rank(b) })
	var list []readers.MatchRule
	for i, r := range p.rules {
		if !r.struck {
			list = append(list, readers.MatchRule{Pattern: r.Pattern, Allow: r.allow, Ref: i})
		}
	}
	p.matcher, list = exact.NewMatcher(list), nil
	for i, r := range p.states {
		list = append(list, readers.MatchRule{Pattern: r.Pattern, Ref: i})
	}
	p.stated = exact.NewMatcher(list)
}

// exact compares as the policy does: the longest pattern decides, Allow on a tie.
var exact = readers.Reader{Forms: []readers.Form{readers.URI}}

// decide returns the rule that decides about a selector in URI form, nil if none does.
func (p *policy) decide(form string) *policyRule {
	if r := p.matcher.Find(form); r != nil {
		return p.rules[r.Ref]
	}
	return nil
}

// strikes returns the Allows of virtual agents that do not count: a Disallow of another
// agent forbids them, since a robot may be both. They depend on all annotations.
func strikes(list []*annotation, programs []program) map[string]map[source]bool {
	all, denies := map[string]*policy{}, map[string]map[string][]*policyRule{} // by top-level directory
	struck := map[string]map[source]bool{}
	for _, name := range virtual {
		all[name], struck[name], denies[name] = newPolicy(list, programs, name, nil), map[source]bool{}, map[string][]*policyRule{}
		for _, r := range all[name].rules {
			if !r.allow && !r.struck {
				denies[name][topOf(r.dir)] = append(denies[name][topOf(r.dir)], r)
			}
		}
	}
	for again := true; again; {
		again = false
		for _, x := range virtual {
			for _, y := range virtual {
				for _, a := range all[x].rules {
					if x != y && a.allow && !struck[x][a.source] && all[y].forbids(denies[y], a, struck[y]) {
						struck[x][a.source], struck[y][a.source], again = true, true, true
					}
				}
			}
		}
	}
	return struck
}

// forbids reports whether a Disallow may deny what an Allow of another robot opens.
func (p *policy) forbids(denies map[string][]*policyRule, allow *policyRule, struck map[source]bool) bool {
	for top, list := range denies {
		if of := topOf(allow.dir); top != "" && of != "" && top != of {
			continue
		}
		for _, d := range list {
			if d.Size <= allow.Size && mayMeet(&d.Pattern, &allow.Pattern) && !slices.ContainsFunc(p.rules, func(r *policyRule) bool {
				return r.allow && !r.struck && !struck[r.source] && r.Size >= d.Size && covers(&r.Pattern, &allow.Pattern)
			}) {
				return true
			}
		}
	}
	return false
}

// prefers returns the line that states each key for a selector in URI form: the longest
// path, n on a tie. If an annotation above names the robot and states a key, general
// lines below do not count for that key.
func (p *policy) prefers(form string) map[string]*policyRule {
	by := map[string]*policyRule{}
	found := p.stated.Matching(form)
	for _, m := range found {
		r := p.states[m.Ref]
		for _, s := range r.states {
			above := func(m *readers.MatchRule) bool {
				o := p.states[m.Ref]
				return o.named && len(o.dir) < len(r.dir) && o.states.Of(s.Key) != robots.Unstated
			}
			if s.Preference == robots.Unstated || !r.named && slices.ContainsFunc(found, above) {
				continue
			}
			if old := by[s.Key]; old == nil || r.Size > old.Size || r.Size == old.Size && s.Preference == robots.No {
				by[s.Key] = r
			}
		}
	}
	return by
}

// program is a line that denies what a program answers.
type program struct {
	readers.Pattern
	of []string // its selector, its extension, or the two sides of a user's name
}

func programLines(programs []string) (list []program) {
	for _, p := range programs {
		ends := []string{"$", "/", "?"}
		if strings.HasSuffix(p, "/") {
			ends = ends[:1] // the menu of a directory
		}
		var of []string
		for piece := range strings.SplitSeq(p, "*") {
			of = append(of, readers.URI.Of(piece))
		}
		for _, end := range ends {
			q := program{readers.Pattern{Pieces: slices.Clone(of), Whole: end == "$"}, of}
			if end != "$" {
				q.Pieces[len(of)-1] += readers.URI.Of(end)
			}
			q.Size = sizeOf(q.Pattern)
			list = append(list, q)
		}
	}
	return list
}
