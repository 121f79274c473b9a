package readers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gophd/gophd/selector"
)

// Matcher is a set of rules, indexed for fast decisions. It never changes. Rules are sorted by the
// first pieces of their patterns. A lookup visits the first pieces that begin the form,
// from the longest to the shortest.
//
// A pattern with a star is compared only if every pair of neighboring bytes in it may
// occur in the form: a bloom filter of 128 bits rejects nearly all others.
type Matcher struct {
	reader Reader
	rules  []MatchRule
	heads  []firstPiece
	pairs  []bytePairs // of each rule, behind its first piece; nil if no pattern has a star
}

// MatchRule is a pattern that allows or denies. In a file, Ref is the line number.
type MatchRule struct {
	Pattern
	Allow bool
	Ref   int
}

// firstPiece is the range of the rules that begin with a text.
type firstPiece struct {
	text     string
	from, to int32
	shorter  int32 // the longest first piece that is a proper beginning of this one; -1 if there is none
}

// bytePairs is a bloom filter of the pairs of neighboring bytes in a text.
type bytePairs [2]uint64

func (p *bytePairs) add(text string) {
	for i := 1; i < len(text); i++ {
		bit := text[i-1]*37 + text[i]
		p[bit>>6&1] |= 1 << (bit & 63)
	}
}

func (p *bytePairs) includes(q *bytePairs) bool {
	return q[0]&^p[0]|q[1]&^p[1] == 0
}

// Matcher prepares the rules of a file for decisions. Of equal rules it keeps the first.
func (r Reader) Matcher(rules []Rule) *Matcher {
	list := make([]MatchRule, 0, len(rules))
	var patterns []Pattern
	for i, rule := range rules {
		patterns = r.appendPatterns(patterns[:0], rule)
		for _, p := range patterns {
			if r.Choice == FirstMatch {
				p.Size = -i
			}
			list = append(list, MatchRule{p, rule.Allow, rule.Line})
		}
	}
	sortRules(list)
	distinct := slices.CompactFunc(list, func(a, b MatchRule) bool { return a.repeats(&b) })
	if len(distinct) < len(rules) {
		distinct = slices.Clone(distinct) // which takes no more memory than it needs
	}
	return r.matcher(distinct)
}

// NewMatcher prepares patterns for decisions. It keeps and sorts the list.
func (r Reader) NewMatcher(list []MatchRule) *Matcher {
	sortRules(list)
	return r.matcher(list)
}

// sortRules sorts by first pieces, then the larger patterns first. Equal rules are adjacent.
func sortRules(list []MatchRule) {
	slices.SortFunc(list, func(a, b MatchRule) int {
		if c := strings.Compare(a.Pieces[0], b.Pieces[0]); c != 0 {
			return c
		}
		if c := cmp.Compare(b.Size, a.Size); c != 0 {
			return c
		}
		return cmp.Or(slices.Compare(a.Pieces, b.Pieces), compareBools(a.Whole, b.Whole),
			compareBools(a.Allow, b.Allow), cmp.Compare(a.Ref, b.Ref))
	})
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// repeats reports whether both rules are equal but for their lines.
func (rule *MatchRule) repeats(o *MatchRule) bool {
	return rule.Allow == o.Allow && rule.Size == o.Size && rule.Whole == o.Whole &&
		slices.Equal(rule.Pieces, o.Pieces)
}

func (r Reader) matcher(list []MatchRule) *Matcher {
	m := &Matcher{
		reader: r,
		rules:  list,
		heads:  make([]firstPiece, 0, len(list)),
	}
	for i := range m.rules {
		rule := &m.rules[i]
		if len(rule.Pieces) > 1 && m.pairs == nil {
			m.pairs = make([]bytePairs, len(m.rules))
		}
		for _, piece := range rule.Pieces[1:] {
			m.pairs[i].add(piece)
		}

		text := rule.Pieces[0]
		up := int32(len(m.heads) - 1)
		if up >= 0 && m.heads[up].text == text {
			m.heads[up].to++
			continue
		}
		for up >= 0 && !strings.HasPrefix(text, m.heads[up].text) {
			up = m.heads[up].shorter
		}
		m.heads = append(m.heads, firstPiece{text, int32(i), int32(i) + 1, up})
	}
	if len(m.heads) < cap(m.heads)*3/4 {
		m.heads = slices.Clone(m.heads) // which takes no more memory than it needs
	}
	return m
}

// ranking is the best two rules that match a form.
type ranking struct {
	reader       *Reader
	best, second *MatchRule
	size, next   int // by which they were chosen
}

// offer takes a rule that matches, with the size by which it is chosen. Among equal rules
// the smallest Ref is the best.
func (t *ranking) offer(rule *MatchRule, size int) {
	switch {
	case t.before(rule, size, t.best, t.size):
		if t.best != nil && t.best.Ref != rule.Ref && !t.best.repeats(rule) {
			t.second, t.next = t.best, t.size
		}
		t.best, t.size = rule, size
	case rule.Ref != t.best.Ref && !rule.repeats(t.best) && t.before(rule, size, t.second, t.next):
		t.second, t.next = rule, size
	}
}

func (t *ranking) before(rule *MatchRule, size int, other *MatchRule, than int) bool {
	switch {
	case other == nil:
		return true
	case size != than:
		return size > than
	case rule.Allow != other.Allow && t.reader.Ties != TiesFirst:
		return rule.Allow == (t.reader.Ties == TiesAllow)
	}
	return rule.Ref < other.Ref
}

// Find returns the rule that decides about a form of a selector, or nil if none
// matches. Among equal rules the smallest Ref wins.
func (m *Matcher) Find(form string) (best *MatchRule) {
	best, _ = m.rank(form, false)
	return best
}

// Rank returns the rule that decides about a form of a selector, and the one that would
// decide without it and without what only repeats it; nil if there is none.
func (m *Matcher) Rank(form string) (best, second *MatchRule) {
	return m.rank(form, true)
}

func (m *Matcher) rank(form string, both bool) (best, second *MatchRule) {
	t := ranking{reader: &m.reader}
	bySize := m.reader.Choice != LongestMatch
	have := m.pairsOf(form)
	for at := m.lastBefore(form); at >= 0; at = m.heads[at].shorter {
		head := &m.heads[at]
		if !strings.HasPrefix(form, head.text) {
			continue
		}
		for i := head.from; i < head.to; i++ {
			rule := &m.rules[i]

			// The rules of a head are sorted by size.
			least, size := t.best, t.size
			if both {
				least, size = t.second, t.next
			}
			if bySize && least != nil && rule.Size < size {
				break
			}

			n := -1
			if m.pairs == nil || have.includes(&m.pairs[i]) {
				n = rule.covers(form)
			}
			switch {
			case n < 0:
			case bySize:
				t.offer(rule, rule.Size)
			default:
				t.offer(rule, n)
			}
		}
	}
	return t.best, t.second
}

// Matching returns all rules that match a form of a selector.
func (m *Matcher) Matching(form string) (list []*MatchRule) {
	have := m.pairsOf(form)
	for at := m.lastBefore(form); at >= 0; at = m.heads[at].shorter {
		head := &m.heads[at]
		if !strings.HasPrefix(form, head.text) {
			continue
		}
		for i := head.from; i < head.to; i++ {
			if (m.pairs == nil || have.includes(&m.pairs[i])) && m.rules[i].Match(form) {
				list = append(list, &m.rules[i])
			}
		}
	}
	return list
}

// lastBefore returns the last first piece, in their order, that is not greater than a
// form: all that begin the form are reached from it. It is -1 if there is none.
func (m *Matcher) lastBefore(form string) int32 {
	from, to := 0, len(m.heads)
	for from < to {
		mid := int(uint(from+to) >> 1)
		if m.heads[mid].text <= form {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return int32(from) - 1
}

func (m *Matcher) pairsOf(form string) (have bytePairs) {
	if m.pairs != nil {
		have.add(form)
	}
	return have
}

// Rank is [Matcher.Rank] for one question about the rules of groups: to make a Matcher
// takes longer. Some patterns compare another form: formFor returns it.
func (r Reader) Rank(f *Grouped, groups []int, form string,
	formFor func(pattern string) string) (best, second *MatchRule) {
	t := ranking{reader: &r}
	var patterns []Pattern
	for _, g := range groups {
		for i, rec := range f.Members(g) {
			if rec.Kind != KindDisallow && (rec.Kind != KindAllow || !r.Allow) {
				continue
			}
			if !r.mayMatch(rec.Value, form) {
				continue
			}
			form := formFor(rec.Value)
			rule := Rule{
				Allow:   rec.Kind == KindAllow,
				Pattern: rec.Value,
				Line:    int(rec.Line),
				version: f.Groups[g].Version,
			}
			patterns = r.appendPatterns(patterns[:0], rule)
			for _, p := range patterns {
				n := p.covers(form)
				switch {
				case n < 0:
					continue
				case r.Choice == FirstMatch:
					n = -i
				case r.Choice == LongestPattern:
					n = p.Size
				}
				t.offer(&MatchRule{p, rule.Allow, rule.Line}, n)
			}
		}
	}
	return t.best, t.second
}

// mayMatch reports whether a pattern as written may match a form. It compares the bytes
// up to the first star, and looks for those up to the next.
func (r *Reader) mayMatch(p, form string) bool {
	if r.Escapes != AsWritten && r.Escapes != Letter || r.Below || r.Regexp {
		return true
	}
	i := 0
	for i < len(p) && r.stands(p[i]) {
		if i == len(form) || p[i] != form[i] {
			return false
		}
		i++
	}
	if i == len(p) || p[i] != '*' {
		return true
	}
	rest := p[i+1:]
	n := 0
	for n < len(rest) && r.stands(rest[n]) {
		n++
	}
	return strings.Contains(form[i:], rest[:n])
}

// stands reports whether a byte of a pattern matches only itself.
func (r *Reader) stands(c byte) bool {
	return c != '*' && c != '$' && (r.Escapes == AsWritten || selector.IsNormalByte(c))
}

// Permits reports whether a form of a selector is allowed.
func (m *Matcher) Permits(form string) bool {
	rule := m.Find(form)
	return rule == nil || rule.Allow
}

// Allowed is [Reading.Allowed].
func (m *Matcher) Allowed(selector string) bool {
	if selector == "" || strings.HasSuffix(selector, "/") {
		return m.AllowedAs('1', selector)
	}
	return m.AllowedAs('0', selector)
}

// AllowedAs is Allowed for a caller that knows the item type.
func (m *Matcher) AllowedAs(typ byte, selector string) bool {
	var buf [6]string
	forms, always := m.reader.Compared(buf[:0], typ, selector)
	return always || !slices.ContainsFunc(forms, func(form string) bool { return !m.Permits(form) })
}

// Compared appends the forms that the reader compares for a selector. always is true if
// the reader always allows it.
func (r Reader) Compared(forms []string, typ byte, selector string) (_ []string, always bool) {
	if r.Web {
		if selector = PathOf(selector); selector == "/robots.txt" {
			return nil, true
		}
	}
	if !r.Typed {
		return append(forms, r.Forms[0].Of(selector)), false
	}
	selector = "/" + strings.TrimPrefix(selector, "/")
	for _, f := range r.Forms {
		for _, s := range []string{selector, "/" + string(typ) + selector, string(typ) + selector} {
			forms = append(forms, f.Of(s))
		}
	}
	return forms, false
}

// Of returns a selector in the form.
func (f Form) Of(sel string) string {
	if f == Raw || f == Normal && selector.IsNormal(sel) || f != Normal && Plain(sel) {
		return sel
	}
	return string(f.Append(make([]byte, 0, len(sel)+32), sel))
}
