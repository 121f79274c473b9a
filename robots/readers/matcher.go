package readers

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// Matcher holds rules for fast decisions. It never changes. Rules are sorted by the
// first pieces of their patterns. A lookup visits the first pieces that begin the form,
// from the longest to the shortest.
type Matcher struct {
	reader Reader
	rules  []MatchRule
	heads  []firstPiece
}

// MatchRule is a pattern that allows or denies. In a file, Ref is the line number.
type MatchRule struct {
	Pattern
	Allow bool
	Ref   int
}

// firstPiece is the range of the rules that begin with text.
type firstPiece struct {
	text     string
	from, to int
	shorter  int // the longest first piece that is a proper beginning of this one; -1 if there is none
}

// Matcher prepares rules of a file for decisions.
func (r Reader) Matcher(rules []Rule) *Matcher {
	list := make([]MatchRule, 0, len(rules))
	for i, rule := range rules {
		for _, p := range r.Patterns(rule) {
			if r.Choice == FirstMatch {
				p.Size = -i
			}
			list = append(list, MatchRule{p, rule.Allow, rule.Line})
		}
	}
	return r.NewMatcher(list)
}

// NewMatcher prepares patterns for decisions. It keeps and sorts the list.
func (r Reader) NewMatcher(list []MatchRule) *Matcher {
	m := &Matcher{reader: r, rules: list}
	slices.SortStableFunc(m.rules, func(a, b MatchRule) int {
		return cmp.Or(strings.Compare(a.Pieces[0], b.Pieces[0]), cmp.Compare(b.Size, a.Size))
	})
	for i := range m.rules {
		text := m.rules[i].Pieces[0]
		if n := len(m.heads); n > 0 && m.heads[n-1].text == text {
			m.heads[n-1].to = i + 1
			continue
		}
		up := len(m.heads) - 1
		for up >= 0 && !strings.HasPrefix(text, m.heads[up].text) {
			up = m.heads[up].shorter
		}
		m.heads = append(m.heads, firstPiece{text, i, i + 1, up})
	}
	return m
}

// Find returns the rule that decides about a form of a selector, or nil if none
// matches. Among equal rules the smallest Ref wins.
func (m *Matcher) Find(form string) (best *MatchRule) {
	size := 0
	m.each(form, func(rule *MatchRule, n int) {
		if m.reader.Choice != LongestMatch {
			n = rule.Size
		}
		switch {
		case best != nil && n < size:
		case best == nil || n > size:
			best, size = rule, n
		case rule.Allow == best.Allow && rule.Ref < best.Ref || rule.Allow != best.Allow && rule.Allow == (m.reader.Ties == TiesAllow):
			best = rule
		}
	})
	return best
}

// Matching returns all rules that match a form of a selector.
func (m *Matcher) Matching(form string) (list []*MatchRule) {
	m.each(form, func(rule *MatchRule, _ int) { list = append(list, rule) })
	return list
}

// each calls fn for the rules that match a form, with how many bytes of it they cover.
func (m *Matcher) each(form string, fn func(rule *MatchRule, n int)) {
	at, found := slices.BinarySearchFunc(m.heads, form, func(h firstPiece, form string) int { return strings.Compare(h.text, form) })
	if !found {
		at--
	}
	for at >= 0 {
		h := &m.heads[at]
		if at = h.shorter; !strings.HasPrefix(form, h.text) {
			continue
		}
		for i := h.from; i < h.to; i++ {
			if n := m.rules[i].covers(form); n >= 0 {
				fn(&m.rules[i], n)
			}
		}
	}
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

// AllowedAs is [Reading.AllowedAs].
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
	if Plain(sel) {
		return sel
	}
	return string(f.Append(nil, sel))
}

// Key is equal for matchers that answer alike for every form. If no rule allows,
// neither order nor size of the rules matters.
func (m *Matcher) Key() uint64 {
	keys := make([]string, 0, len(m.rules))
	ordered := slices.ContainsFunc(m.rules, func(rule MatchRule) bool { return rule.Allow })
	for i := range m.rules {
		rule := &m.rules[i]
		key := strings.Join(rule.Pieces, "\x01")
		if rule.Whole {
			key += "\x02"
		}
		if ordered {
			key += fmt.Sprint(" ", rule.Allow, rule.Size)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if keys = slices.Compact(keys); ordered {
		keys = append(keys, fmt.Sprint(m.reader.Choice, m.reader.Ties))
	}
	var h maphash.Hash
	h.SetSeed(keySeed)
	for _, key := range keys {
		_, _ = h.WriteString(key)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

var keySeed = maphash.MakeSeed()
