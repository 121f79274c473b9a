package proof

import (
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// Preferences are compared with the file like denials: of all Content-Usage lines
// whose paths match, those with the longest path count, and of those that differ
// the more restrictive value.

// state makes entries of the preferences that the file states.
func (c *class) state(reading *reading) (list []entry) {
	for _, line := range reading.Usages(c.name()) {
		states, err := robots.ParseUsage(line.Value)
		if err != nil {
			continue
		}
		p := readers.Pattern{Pieces: []string{""}} // no path: all
		if line.Pattern != "" {
			p = models[exactModel].Patterns(robots.Rule{Pattern: line.Pattern})[0]
		}
		e := entry{Pattern: p, sides: statedSide, ref: len(c.stated), from: hashOf(states.String())}
		list, c.stated, c.prefer = append(list, e), append(c.stated, states), true
	}
	return list
}

// prefers returns what one side prefers of what the entries match, and the rule that
// says so, if that is the policy's.
func (c *class) prefers(found []int, side uint32) (states robots.Statement, by *rule) {
	longest := -1
	for _, i := range found {
		e := &c.policy.entries[i]
		if e.sides != side || e.Size < longest {
			continue
		}
		if e.Size > longest {
			longest, states = e.Size, nil
		}
		if side == statedSide {
			states = states.Combine(c.stated[e.ref])
		} else {
			by = c.rules[e.ref]
			states = states.Combine(by.states)
		}
	}
	return states, by
}

// compare reports whether the file permits more than the policy (leak) or states
// something else.
func compare(policy, file robots.Statement) (leak, other bool) {
	for _, s := range policy.Combine(file) {
		want, got := policy.Of(s.Key), file.Of(s.Key)
		if want != got {
			other = true
			leak = leak || want == robots.No || want == robots.Unstated && got == robots.Yes
		}
	}
	return leak, other
}

// preferences compares what both sides say of n selectors, of which sel is one.
func (p *prover[D]) preferences(at *place, sel string, n int, exists bool, t *tally) {
	c := p.class
	if !c.prefer || c.readers>>exactModel&1 == 0 {
		return
	}
	found := c.matches(at, sel)
	want, by := c.prefers(found, wantedSide)
	got, _ := c.prefers(found, statedSide)
	if leak, other := compare(want, got); other {
		t.note(cause{leak, len(models), by.source()}, n, sel, exists)
	}
}
