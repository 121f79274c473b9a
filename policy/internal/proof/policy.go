package proof

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/gophd/gophd/robots"
)

// The policy is what RFC 9309 says of all annotations together: their rules, each
// put below its directory, make one set, and the longest that matches decides,
// Allow on a tie. What differs from robot to robot is which of them count.

// policy is the rules of all annotations.
type policy struct {
	set      *set
	rules    []*rule // what ref of an entry means
	finals   bool
	programs bool
	names    []bool // by entry: it speaks of what programs answer
}

// newPolicy puts the rules of annotations together: those that pick takes.
func newPolicy(notes []*annotation, programs []string, pick func(*rule) bool) *policy {
	p := &policy{programs: len(programs) > 0}
	var list []entry
	for _, a := range notes {
		for i := range a.rules {
			r := &a.rules[i]
			if !pick(r) {
				continue
			}
			p.finals = p.finals || r.final
			list = append(list, entry{head: r.pieces[0], rest: after(r.pieces), whole: r.whole, size: r.size(), allow: r.allow, ref: len(p.rules)})
			p.rules = append(p.rules, r)
		}
	}
	p.set = newSet(list)
	for i := range p.set.entries {
		p.names = append(p.names, p.rule(i).names(programs))
	}
	return p
}

func after(pieces []string) []string {
	if len(pieces) == 1 {
		return nil
	}
	return pieces[1:]
}

// rule gives the rule of an entry.
func (p *policy) rule(e int) *rule { return p.rules[p.set.entries[e].ref] }

// class is the robots that are treated alike: by the annotations, and by the file
// as every reader takes it.
type class struct {
	names   []string // sorted; "*" alone: all that nobody names
	policy  *policy
	applies []bool // by entry of the policy
	void    []bool // Allows that do not open what is denied by name
	sums    []uint64
}

// name is the first of the robots.
func (c *class) name() string { return c.names[0] }

// own reports whether a directory has rules for the class by name.
func (c *class) own(a *annotation) bool { return a.speaks[c.name()] }

// speaks reports whether a rule is for the class.
func (c *class) speaks(r *rule) bool {
	own := r.note.speaks
	if r.usage != "" {
		own = r.note.prefer
	}
	if own[c.name()] {
		return r.group.has(c.name())
	}
	return r.group.all
}

// under makes the policy that of the class.
func (c *class) under(p *policy) *class {
	n := len(p.rules)
	next := &class{names: c.names, policy: p, applies: make([]bool, n), void: make([]bool, n), sums: make([]uint64, n+1)}
	for i := range p.set.entries {
		e, r := &p.set.entries[i], p.rule(i)
		next.sums[i+1] = next.sums[i]
		if next.applies[i] = next.speaks(r); next.applies[i] {
			next.sums[i+1] += mix(e.hash, uint64(r.depth), uint64(r.line), boolean(r.final), boolean(r.group.has(c.name())))
		}
	}
	return next
}

func boolean(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// named reports whether a rule speaks of the class by name.
func (c *class) named(r *rule) bool { return c.name() != "*" && r.group.has(c.name()) }

// prune keeps of the rules that cover a directory those that can still decide:
// the one that binds most, and that of the named ones; with Final, and where
// programs answer, each may.
func (c *class) prune(full []int) []int {
	full = slices.DeleteFunc(full, func(e int) bool { return !c.applies[e] || c.void[e] })
	if c.policy.finals || c.policy.programs {
		return full
	}
	best, named := -1, -1
	for _, e := range full {
		if best < 0 || c.policy.set.order(best, e) < 0 {
			best = e
		}
		if c.named(c.policy.rule(e)) && (named < 0 || c.policy.set.order(named, e) < 0) {
			named = e
		}
	}
	full = full[:0]
	for _, e := range []int{best, named} {
		if e >= 0 && !slices.Contains(full, e) {
			full = append(full, e)
		}
	}
	return full
}

// decide gives the rule that decides among those that match, nil if there is none.
// Of what a program answers it is the program's, unless an Allow opens that by name.
func (c *class) decide(found []int) *rule {
	limit := c.final(found)
	best := -1
	program, opened := slices.IndexFunc(found, func(e int) bool { return c.policy.rule(e).program }), false
	for _, e := range found {
		r := c.policy.rule(e)
		if !c.applies[e] || c.void[e] || r.final || r.allow && r.depth > limit || r.program {
			continue
		}
		opened = opened || r.allow && c.policy.names[e]
		if best < 0 || c.policy.set.order(best, e) < 0 {
			best = e
		}
	}
	switch {
	case program >= 0 && !opened:
		return c.policy.rule(found[program])
	case best >= 0:
		return c.policy.rule(best)
	}
	return nil
}

// final gives the depth of the highest annotation that denies finally: no Allow
// below it counts.
func (c *class) final(found []int) int {
	limit := shutSize
	if !c.policy.finals {
		return limit
	}
	for _, f := range found {
		last := c.policy.rule(f)
		if !last.final || !c.applies[f] || last.depth >= limit {
			continue
		}
		best := -1
		for _, e := range found {
			r := c.policy.rule(e)
			if r.note == last.note && !r.final && c.applies[e] && !c.void[e] && (best < 0 || c.policy.set.order(best, e) < 0) {
				best = e
			}
		}
		if best >= 0 && !c.policy.rule(best).allow {
			limit = last.depth
		}
	}
	return limit
}

// enter finds, before the walk goes down into a directory, which Allows of its
// annotation do not count for the class: those that would open what rules above
// deny it by name.
func (c *class) enter(at *cursor, a *annotation) {
	if c.name() == "*" || c.own(a) {
		return
	}
	for i := range a.rules {
		r := &a.rules[i]
		if !r.allow || !r.group.all {
			continue
		}
		head := []byte(r.pieces[0])
		best := -1
		for _, e := range c.policy.set.matches(slices.Clone(at.full), at, head) {
			by := c.policy.rule(e)
			if c.applies[e] && c.named(by) && !by.final && !by.whole && by.depth < r.depth && (best < 0 || c.policy.set.order(best, e) < 0) {
				best = e
			}
		}
		if best >= 0 && !c.policy.rule(best).allow {
			c.voids(r)
		}
	}
}

// voids marks the entry of a rule.
func (c *class) voids(r *rule) {
	s := c.policy.set
	i := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].head >= r.pieces[0] })
	for ; i < len(s.entries) && s.entries[i].head == r.pieces[0]; i++ {
		if c.policy.rule(i) == r {
			c.void[i] = true
		}
	}
}

// classes sorts the robots that annotations or the file name into those that are
// treated alike. The first is all others.
func classes(notes []*annotation, reading *robots.Reading) []*class {
	ways := map[string][]int{}
	groups := map[*group]int{}
	for i, a := range notes {
		if len(a.speaks)+len(a.prefer) == 0 {
			continue // it names nobody
		}
		for j := range a.rules {
			g := a.rules[j].group
			if groups[g] == 0 {
				groups[g] = len(groups) + 1
				for _, name := range g.names {
					ways[name] = append(ways[name], groups[g])
				}
			}
		}
		for _, list := range []map[string]bool{a.speaks, a.prefer} {
			for name := range list { // an empty Disallow is in no rule
				if w := ways[name]; len(w) == 0 || w[len(w)-1] != -i-1 {
					ways[name] = append(w, -i-1)
				}
			}
		}
	}
	for _, name := range reading.Names() {
		ways[name] = append(ways[name], 0)
	}
	list := []*class{{names: []string{"*"}}}
	alike := map[string]*class{}
	names := make([]string, 0, len(ways))
	for name := range ways {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		key := signature(ways[name], reading, name)
		if alike[key] == nil {
			alike[key] = &class{}
			list = append(list, alike[key])
		}
		alike[key].names = append(alike[key].names, name)
	}
	slices.SortStableFunc(list[1:], func(a, b *class) int { return cmp.Compare(a.name(), b.name()) })
	return list
}

// signature tells how a robot is treated. The two with models of their own stand
// for themselves.
func signature(ways []int, reading *robots.Reading, name string) string {
	if slices.ContainsFunc(models, func(m robots.Model) bool { return m.Agent == name }) {
		return name
	}
	return fmt.Sprint(ways, reading.Key(name))
}
