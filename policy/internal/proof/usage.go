package proof

import (
	"slices"

	"github.com/gophd/gophd/robots"
)

// Preferences are held against the file like denials: of all Content-Usage lines
// whose paths match, those with the longest path count, and of those that differ
// the more restrictive value.

// usage is the preferences of one side for a class.
type usage struct {
	set    *set
	values []map[string]bool // by ref of an entry: key, and whether it is y
	rules  []*rule           // of the policy; nil for the file
}

// preferred gives the preferences that annotations state for a class.
func preferred(p *policy, c *class) *usage {
	u := &usage{}
	var list []entry
	for _, r := range p.rules {
		if c.speaks(r) {
			list = append(list, entry{head: r.pieces[0], rest: after(r.pieces), whole: r.whole, size: r.size(), ref: len(u.rules), mask: uint32(r.line)})
			values, _ := dictionary(r.usage)
			u.values, u.rules = append(u.values, values), append(u.rules, r)
		}
	}
	return u.sort(list)
}

// stated gives those that the file states.
func stated(reading *robots.Reading, c *class) *usage {
	u := &usage{}
	var list []entry
	for _, line := range reading.Usages(c.name()) {
		values, ok := dictionary(line.Value)
		if !ok {
			continue
		}
		e := entry{ref: len(u.values)} // no path: all
		if line.Pattern != "" {
			p := models[exactModel].Patterns(robots.Rule{Pattern: line.Pattern})[0]
			e.head, e.rest, e.whole, e.size = p.Pieces[0], after(p.Pieces), p.Whole, p.Size
		}
		list, u.values = append(list, e), append(u.values, values)
	}
	return u.sort(list)
}

// sort makes the set. To its hashes belongs what is said, not only where.
func (u *usage) sort(list []entry) *usage {
	u.set = newSet(list)
	for i := range list {
		e := &u.set.entries[i]
		for key, yes := range u.values[e.ref] {
			e.hash += mix(contentOf(key), boolean(yes))
		}
		u.set.sums[i+1] = u.set.sums[i] + e.hash
	}
	return u
}

// exactModel is the reader of RFC 9309, firstModel the one of CPython.
var (
	exactModel = slices.IndexFunc(models, func(m robots.Model) bool { return m.Name == "rfc9309" })
	firstModel = slices.IndexFunc(models, robots.Model.First)
)

// dictionary reads preferences. Values but y and n say nothing.
func dictionary(value string) (m map[string]bool, ok bool) {
	stated, err := robots.ParseUsage(value)
	if err != nil {
		return nil, false
	}
	m = map[string]bool{}
	for _, s := range stated {
		if s.Preference != robots.Unstated {
			m[s.Key] = s.Preference == robots.Yes
		}
	}
	return m, true
}

// prune keeps of the entries that cover a directory those with the longest path.
func (u *usage) prune(full []int) []int {
	most := 0
	for _, e := range full {
		most = max(most, u.set.entries[e].size)
	}
	return slices.DeleteFunc(full, func(e int) bool { return u.set.entries[e].size < most })
}

// of gives the preferences for a selector, and the rule that states them.
func (u *usage) of(c *cursor, sub []byte) (values map[string]bool, by *rule) {
	found := u.prune(u.set.matches(slices.Clone(c.full), c, sub))
	values = map[string]bool{}
	for _, e := range found {
		ref := u.set.entries[e].ref
		for key, yes := range u.values[ref] {
			if old, ok := values[key]; !ok || old {
				values[key] = yes
			}
		}
		if u.rules != nil {
			by = u.rules[ref]
		}
	}
	return values, by
}

// compare reports whether the file permits more than the policy (leak) or states
// something else.
func compare(policy, file map[string]bool) (leak, other bool) {
	for key, yes := range policy {
		got, ok := file[key]
		if ok && got == yes {
			continue
		}
		other = true
		leak = leak || !yes
	}
	for key, yes := range file {
		if _, ok := policy[key]; !ok {
			other = true
			leak = leak || yes
		}
	}
	return leak, other
}

// preferences compares what both sides say of n selectors, of which sel is one.
func (p *prover[D]) preferences(at *place, sel string, n int, exists bool, t *tally) {
	if len(p.wanted.values)+len(p.stated.values) == 0 || p.file.readers>>exactModel&1 == 0 {
		return
	}
	sub := uri(sel, at.plain && robots.Plain(sel[len(at.dir):]))
	want, by := p.wanted.of(at.use[0], sub)
	got, _ := p.stated.of(at.use[1], sub)
	if leak, other := compare(want, got); other {
		t.note(cause{leak, len(models), by.source()}, n, sel, exists)
	}
}
