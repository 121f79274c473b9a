package policy

import "slices"

// A directory may have ten thousand rules and as many files. So that not each is
// tried on each, the patterns without a star, which are nearly all, are looked up
// by what they say behind the directory's selector: the longest one that begins
// a name is the one that binds.

// minFinder is how many rules are worth a finder. Tests set it.
var minFinder = 16

// finder finds the rule that decides for the names in one directory.
type finder struct {
	state   *state
	at      int // octets of the directory's selector
	begins  map[string]choice
	wholes  map[string]choice // with a $
	lengths []int             // of begins, the longest first
	stars   []choice          // those that are tried
}

// choice is the rule in state.live[i]; of those that bind equally the first is
// taken.
type choice struct {
	rule    *rule
	size, i int
}

func (c choice) beats(o choice) bool {
	return wins(c.rule, c.size, o.rule, o.size) || c.i < o.i && !wins(o.rule, o.size, c.rule, c.size)
}

// finders makes one for each state that is worth it, nil for the others.
func finders(states []state, norm []byte, names int) []*finder {
	list := make([]*finder, len(states))
	for i := range states {
		if min(len(states[i].live), names) >= minFinder {
			list[i] = newFinder(&states[i], len(norm))
		}
	}
	return list
}

func newFinder(s *state, at int) *finder {
	f := &finder{state: s, at: at, begins: map[string]choice{}, wholes: map[string]choice{}}
	put := func(m map[string]choice, key string, c choice) {
		if old, ok := m[key]; !ok || c.beats(old) {
			m[key] = c
		}
	}
	for i, l := range s.live {
		p, c := &l.rule.pattern, choice{l.rule, l.size(), i}
		switch {
		case len(p.pieces) > 1:
			f.stars = append(f.stars, c)
		case p.anchor:
			put(f.wholes, string(p.pieces[0][at-l.base:]), c)
		default:
			put(f.begins, string(p.pieces[0][at-l.base:]), c)
		}
	}
	for key := range f.begins {
		f.lengths = append(f.lengths, len(key))
	}
	slices.Sort(f.lengths)
	f.lengths = slices.Compact(f.lengths)
	slices.Reverse(f.lengths)
	return f
}

// decide is state.decide for a selector in the directory.
func (f *finder) decide(sel []byte) *rule {
	best, name := choice{f.state.by, f.state.size, -1}, sel[f.at:]
	if c, ok := f.wholes[string(name)]; ok && c.beats(best) {
		best = c
	}
	for _, n := range f.lengths {
		if n > len(name) {
			continue
		}
		if c, ok := f.begins[string(name[:n])]; ok {
			if c.beats(best) {
				best = c
			}
			break
		}
	}
	for _, c := range f.stars {
		if c.beats(best) && f.state.live[c.i].matches(sel) {
			best = c
		}
	}
	return best.rule
}
