package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// The policy is what RFC 9309 says of all annotations together: their rules, each
// put below its directory, make one set, and the longest that matches decides,
// Allow on a tie. What differs from robot to robot is which of them count.

// class is the robots that are treated alike: by the annotations, and by the file
// as every reader takes it.
type class struct {
	names   []string // sorted; "*" alone: all that nobody names
	readers uint32   // those that they may be

	policy *set               // with the preferences of both sides
	file   *set               // as all readers take it but the strict one
	rules  []*rule            // by ref of entries of the policy
	stated []robots.Statement // by ref of entries of the file's preferences
	about  []*rule            // those that speak of what programs answer by name
	finals bool
	prefer bool // somebody states a preference

	lanes []lane // the first is the policy's
	uri   int    // the lane of selectors escaped as a URI, or the one nearest to it
	exact uint32 // the readers that use it
}

// name is the first of the robots.
func (c *class) name() string { return c.names[0] }

// take makes the policy of the rules that count, and of the preferences that the
// file states. Each annotation contributes its own rules for a robot, or else those
// for all, and preferences likewise. The annotations come from above to below.
func (c *class) take(notes []*annotation, reading *reading, programs []string) {
	list := c.state(reading)
	var above []*annotation // those that speak of the class by name
	for _, a := range notes {
		for len(above) > 0 && !strings.HasPrefix(a.dir, above[len(above)-1].dir) {
			above = above[:len(above)-1]
		}
		own, prefers := a.own(c.name())
		for i := range a.rules {
			r := &a.rules[i]
			counts := r.group.all
			if own && r.states == nil || prefers && r.states != nil {
				counts = r.group.has(c.name())
			}
			if !counts || r.allow && !own && c.banned(above, r.Pieces[0]) {
				continue
			}
			e := entry{Pattern: r.Pattern, allow: r.allow, ref: len(c.rules), sides: policySide}
			if r.states != nil {
				e.sides, c.prefer = wantedSide, true
			} else if r.names(programs) {
				c.about = append(c.about, r)
			}
			e.from = mix(hashOf(r.file), hashOf([2]int{r.line, r.depth}), hashOf([2]bool{r.final, r.program}), hashOf(r.states.String()))
			list, c.rules, c.finals = append(list, e), append(c.rules, r), c.finals || r.final
		}
		if own {
			above = append(above, a)
		}
	}
	all := wantedSide | statedSide
	if c.finals || len(programs) > 0 {
		all |= policySide
	}
	c.policy = newSet(list, all)
}

// banned reports whether annotations above deny by name what an Allow for all
// would open, which is told by its head: then it does not count.
func (c *class) banned(above []*annotation, head string) bool {
	var by *rule
	for _, a := range above {
		for i := range a.rules {
			r := &a.rules[i]
			counts := r.group.has(c.name()) && r.states == nil && !r.final && !r.Whole
			if counts && (by == nil || r.Size > by.Size || r.Size == by.Size && r.allow) && r.Match(head) {
				by = r
			}
		}
	}
	return by != nil && !by.allow
}

// decide returns the rule that decides among entries that match, nil if there is none.
// Below an annotation that denies finally no Allow counts. Of what a program answers
// it is the program's, unless an Allow opens that by name.
func (c *class) decide(found []int) *rule {
	limit := shutSize
	var program *rule
	for _, i := range found {
		r := c.rule(i)
		if r != nil && r.program {
			program = r
		}
		if !c.finals || r == nil || !r.final || r.depth >= limit {
			continue
		}
		if own := c.largest(found, func(o *rule) bool { return o.note == r.note }); own != nil && !own.allow {
			limit = r.depth
		}
	}
	counts := func(r *rule) bool { return !r.allow || r.depth <= limit }
	if program != nil && c.largest(found, func(r *rule) bool { return r.allow && counts(r) && slices.Contains(c.about, r) }) == nil {
		return program
	}
	return c.largest(found, counts)
}

// rule returns the rule of an entry, nil if it is none of the policy.
func (c *class) rule(i int) *rule {
	if e := &c.policy.entries[i]; e.sides == policySide {
		return c.rules[e.ref]
	}
	return nil
}

// largest returns the rule that binds most of those that count.
func (c *class) largest(found []int, counts func(*rule) bool) *rule {
	best := -1
	for _, i := range found {
		if r := c.rule(i); r != nil && !r.final && !r.program && counts(r) && (best < 0 || c.policy.order(best, i) < 0) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return c.rule(best)
}

// classes sorts the robots that annotations or the file name into those that are
// treated alike. The first is all others.
func classes(notes []*annotation, reading *reading) []*class {
	ways := map[string]uint64{}
	for _, a := range notes {
		for _, g := range a.groups {
			for _, name := range g.names {
				if g.said != 0 {
					ways[name] += g.said
				}
			}
		}
	}
	for _, name := range reading.Names() {
		ways[name] += 0 // it is named
	}
	list := []*class{{names: []string{"*"}}}
	alike := map[string]*class{}
	for name, way := range ways {
		key := fmt.Sprint(way, reading.Key(name))
		if slices.ContainsFunc(models, func(m readers.Reader) bool { return m.Agent == name }) {
			key = name // the two with models of their own stand for themselves
		}
		if alike[key] == nil {
			alike[key] = &class{}
			list = append(list, alike[key])
		}
		alike[key].names = append(alike[key].names, name)
	}
	for _, c := range list {
		slices.Sort(c.names)
	}
	slices.SortFunc(list[1:], func(a, b *class) int { return cmp.Compare(a.name(), b.name()) })
	for i, m := range models {
		of := list
		if own := alike[m.Agent]; own != nil {
			of = []*class{own}
		} else if m.Agent != "" {
			of = list[:1]
		}
		for _, c := range of {
			if m.Agent == veronica || c.name() != veronica {
				c.readers |= 1 << i
			}
		}
	}
	return list
}
