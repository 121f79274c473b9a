package proof

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// A reader lets nobody in whom the policy denies if
//
//  1. each Disallow D of the policy is covered by a Disallow that the reader obeys, and
//  2. for every Allow a that the reader obeys and that meets D: either each line of the
//     meeting of D and a is covered by a Disallow that the reader obeys and that
//     outranks a for every name, or by an Allow of the policy that D does not outrank; or
//     such an Allow of the policy covers a.
//
// For D, the longest rule that matches a name, denies it; something obeyed covers D and
// matches the name. An a that opens it meets D, so a line of their meeting matches the
// name. D outranks every Allow of the policy that matches the name, so no such Allow covers
// the line or a, and something obeyed outranks a.
//
// Where a line equals its rule in the policy, its rank settles 2: only other lines are
// compared in pairs.

// view is what one reader obeys of a file for a robot, beside the robot's policy.
type view struct {
	reader readers.Reader
	policy *policy
	others []*policy        // of the other kinds that the robot is of
	all    *readers.Matcher // as the reader decides
	denies *readers.Matcher
	allows index
	loose  index // the Allows whose rank does not settle 2
	named  index // the Allows that also match names with an escape, by their form
	lines  []line
}

// line is a pattern that the reader obeys.
type line struct {
	readers.MatchRule
	uri readers.Pattern // all that it matches, in URI form
	by  *counted        // the longest Allow of the policy that covers it; nil: none
	cut bool            // a star of it ends within an escape that URI form does not have
}

// stands reports whether a line is the placeholder of an empty group: no request matches it.
func (l *line) stands() bool {
	return isPrefix(&l.Pattern) && l.Pieces[0] == "/.robots"
}

// memory is the slices of a view, for reuse by the next view.
type memory struct {
	lines       []line
	all, denies []readers.MatchRule
}

// newView makes a view, which is valid until the next one reuses its memory.
func newView(p *policy, r readers.Reader, rules []readers.Rule, m *memory) *view {
	if !r.Groups {
		rules = distinct(rules)
	}
	v := &view{reader: r, policy: p, lines: m.lines[:0]}
	all := m.all[:0]
	others := false // than Disallows that a request may match
	for i, rule := range rules {
		for _, q := range r.Patterns(rule) {
			if r.Choice == readers.FirstMatch {
				q.Size = -i
			}
			match := readers.MatchRule{
				Pattern: q,
				Allow:   rule.Allow,
				Ref:     rule.Line,
			}
			all = append(all, match)
			others = others || rule.Allow || isOdd(&q)
			if isOdd(&q) {
				continue
			}
			if isPrefix(&q) && readers.Plain(q.Pieces[0]) { // equal in all forms
				l := line{
					MatchRule: match,
					uri: readers.Pattern{
						Pieces: q.Pieces,
						Size:   len(q.Pieces[0]),
					},
				}
				if rule.Allow {
					l.by = p.opens(&l.uri)
				}
				v.lines = append(v.lines, l)
				continue
			}
			for i, uri := range inURI(r.Forms[0], &q) {
				l := line{
					MatchRule: match,
					uri:       uri,
					cut:       i > 0 && len(q.Pieces) > 1 && len(extra[r.Forms[0]]) > 0,
				}
				if rule.Allow {
					l.by = p.opens(&uri)
				}
				v.lines = append(v.lines, l)
			}
		}
	}
	v.all = r.NewMatcher(all)
	v.denies = v.all
	if others {
		denies := m.denies[:0]
		for _, match := range all {
			if !match.Allow && !isOdd(&match.Pattern) {
				denies = append(denies, match)
			}
		}
		v.denies = exact.NewMatcher(denies)
		m.denies = denies
	}
	m.lines, m.all = v.lines, all

	for i := range v.lines {
		if l := &v.lines[i]; l.Allow {
			v.allows.add(&l.uri, i)
			if v.isLoose(l) {
				v.loose.add(&l.uri, i)
			}
			if r.Forms[0] == readers.High && strings.Contains(strings.Join(l.Pieces, ""), "%") {
				v.named.add(&l.Pattern, i)
			}
		}
	}
	v.allows.sort()
	v.loose.sort()
	v.named.sort()
	return v
}

// distinct returns rules without those that repeat an earlier one, as the groups of a file
// do.
func distinct(rules []readers.Rule) []readers.Rule {
	type key struct {
		allow   bool
		pattern string
	}
	seen := make(map[key]bool, len(rules))
	return slices.DeleteFunc(rules, func(r readers.Rule) bool {
		repeats := seen[key{r.Allow, r.Pattern}]
		seen[key{r.Allow, r.Pattern}] = true
		return repeats
	})
}

// isOdd reports whether a pattern contains a byte that no request can.
func isOdd(p *readers.Pattern) bool {
	return slices.ContainsFunc(p.Pieces, func(piece string) bool {
		return strings.Contains(piece, anyBytes)
	})
}

// isLoose reports whether an Allow of the file may outrank rules that the covering Allow of
// the policy does not.
func (v *view) isLoose(l *line) bool {
	if l.by == nil {
		return true
	}
	switch v.reader.Choice {
	case readers.LongestPattern:
		return l.Size > l.by.Size
	case readers.LongestMatch:
		return !isPrefix(&l.Pattern) || len(l.Pieces[0]) > l.by.Size
	}
	return !isPrefix(&l.uri) || l.uri.Size > l.by.Size
}

// isPrefix reports whether a pattern has no star before its end, and no $.
func isPrefix(p *readers.Pattern) bool { return len(p.Pieces) == 1 && !p.Whole }

// least is the lowest rank that a Disallow has at a name that it matches.
func (v *view) least(d *readers.MatchRule) rank {
	if v.reader.Choice == readers.LongestMatch {
		return rank{len(strings.Join(d.Pieces, "")), d.Ref}
	}
	return rank{d.Size, d.Ref}
}

// higher compares ranks.
func (r rank) higher(o rank) bool { return r.size > o.size || r.size == o.size && r.line < o.line }

// rank is how surely a Disallow decides: by its size, and by its place in the file.
type rank struct{ size, line int }

// outranks reports whether a Disallow of a rank outranks an Allow for every name.
func (v *view) outranks(r rank, a *line) bool {
	most := a.Size
	if v.reader.Choice == readers.LongestMatch {
		if most = len(a.Pieces[0]); len(a.Pieces) > 1 {
			most = math.MaxInt
		}
	}
	isTie := r.size == most
	switch v.reader.Ties {
	case readers.TiesDisallow:
		return r.size > most || isTie
	case readers.TiesFirst:
		return r.size > most || isTie && r.line < a.Ref
	}
	return r.size > most
}

// covered returns the lowest rank of the obeyed Disallows that together cover a pattern; ok
// is false if none do.
func (v *view) covered(p *readers.Pattern) (lowest rank, ok bool) {
	lowest.size = math.MaxInt
	for _, text := range symbols(v.reader.Forms[0], p) {
		best := rank{size: math.MinInt}
		for _, d := range v.denies.Matching(text) {
			if r := v.least(d); r.higher(best) {
				best = r
			}
		}
		if best.size == math.MinInt {
			return rank{}, false
		}
		if lowest.higher(best) {
			lowest = best
		}
	}
	return lowest, true
}

// leak is a Disallow that the reader may not keep, and the Allow that undoes it; nil if
// nothing covers the Disallow.
type leak struct {
	rule *counted
	by   *line
}

// leaks checks each Disallow that decides about some name.
func (v *view) leaks() (list []leak) {
	for _, d := range v.policy.denies {
		by, ok := v.covered(&d.Pattern)
		if !ok {
			list = append(list, leak{d, nil})
			continue
		}
		if allow := v.undoing(d, by); allow != nil {
			list = append(list, leak{d, allow})
		}
	}
	return list
}

// maxMeetings bounds, for one Disallow, the Allows whose meetings with it are compared with
// the Allows of the policy.
const maxMeetings = 32

// undoing returns an Allow that may undo a Disallow of the policy, given the rank of what
// covers it; nil if there is none.
func (v *view) undoing(d *counted, covering rank) (by *line) {
	tried := 0
	undoneBy := func(a *line) bool {
		if a.by != nil && a.by.Size >= d.Size || v.outranks(covering, a) || !d.Meets(&a.uri) {
			return false
		}
		tried++
		lines, ok := d.Meeting(&a.uri)
		for j := range lines {
			covering, covered := v.covered(&lines[j])
			isKept := covered && v.outranks(covering, a)
			if !isKept && tried <= maxMeetings {
				by := v.policy.opens(&lines[j])
				isKept = by != nil && by.Size >= d.Size
			}
			ok = ok && isKept
		}
		if !ok {
			by = a
		}
		return !ok
	}
	undoes := func(i int) bool { return undoneBy(&v.lines[i]) }

	loose := covering.size < d.Size
	switch v.reader.Choice {
	case readers.FirstMatch:
		loose = !isPrefix(&d.Pattern) || d.Size == shutSize
	case readers.LongestMatch:
		loose = loose || !isPrefix(&d.Pattern)
	}
	switch {
	case loose:
		v.allows.each(d.Pieces[0], true, undoes)
	case v.reader.Choice == readers.FirstMatch:
		// Allows that precede it in the file, although they begin as it does.
		if !v.allows.each(d.Pieces[0], false, undoes) {
			v.loose.each(d.Pieces[0], true, undoes)
		}
	default:
		v.loose.each(d.Pieces[0], true, undoes)
	}
	if by == nil { // of names without an escape
		v.named.each(readers.High.Of(selector.Decoded(d.Pieces[0])), true, func(i int) bool {
			a := v.lines[i]
			a.uri = named(&a.Pattern, &d.Pattern)
			a.by = v.policy.opens(&a.uri)
			return undoneBy(&a)
		})
	}
	return by
}

// block is a line that denies the reader more than the policy does, and the Allow of the
// policy that it violates; nil if no Disallow of the policy covers the line.
type block struct {
	line *line
	rule *counted
}

// blocks checks the reverse: each Disallow that the reader obeys is covered by one of the
// policy; and where an Allow A of the policy meets it, an Allow that the reader obeys
// covers A and is not shorter than the line, or a Disallow of the policy that covers the
// line is longer than A.
func (v *view) blocks() (list []block) {
	var allows, loose index
	kept := map[int]int{} // the longest Allow obeyed that covers one of the policy
	var obeyed []readers.MatchRule
	for i := range v.lines {
		if l := &v.lines[i]; l.Allow {
			obeyed = append(obeyed, readers.MatchRule{Pattern: l.uri, Ref: l.Size})
		}
	}
	matcher := exact.NewMatcher(obeyed)
	for i, a := range v.policy.allows {
		for _, m := range matcher.Matching(symbol(&a.Pattern)) {
			kept[i] = max(kept[i], m.Ref)
		}
		allows.add(&a.Pattern, i)
		if kept[i] < a.Size {
			loose.add(&a.Pattern, i)
		}
	}
	allows.sort()
	loose.sort()

	for i := range v.lines {
		l := &v.lines[i]
		if l.Allow || l.stands() {
			continue
		}
		d := v.policy.longest(&l.uri, false)
		if d == nil {
			list = append(list, block{line: l})
			continue
		}
		from := &loose
		if l.Size > d.Size {
			from = &allows
		}
		from.each(l.uri.Pieces[0], true, func(i int) bool {
			a := v.policy.allows[i]
			if d.Size > a.Size || kept[i] >= l.Size || !l.uri.Meets(&a.Pattern) {
				return false
			}
			list = append(list, block{l, a})
			return true
		})
	}
	return list
}

// index finds patterns by their first pieces.
type index struct {
	heads []string
	of    map[string][]int
}

func (x *index) add(p *readers.Pattern, i int) {
	if x.of == nil {
		x.of = map[string][]int{}
	}
	if x.of[p.Pieces[0]] == nil {
		x.heads = append(x.heads, p.Pieces[0])
	}
	x.of[p.Pieces[0]] = append(x.of[p.Pieces[0]], i)
}

func (x *index) sort() { slices.Sort(x.heads) }

// each calls fn for the patterns whose first piece begins a text and, if longer is true,
// for those whose first piece the text begins, until fn returns true.
func (x *index) each(text string, longer bool, fn func(int) bool) bool {
	if len(x.heads) == 0 {
		return false
	}
	for n := range len(text) + 1 {
		if slices.ContainsFunc(x.of[text[:n]], fn) {
			return true
		}
	}
	if !longer {
		return false
	}
	for at := sort.SearchStrings(x.heads, text); at < len(x.heads) &&
		strings.HasPrefix(x.heads[at], text); at++ {
		if x.heads[at] != text && slices.ContainsFunc(x.of[x.heads[at]], fn) {
			return true
		}
	}
	return false
}
