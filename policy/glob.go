package policy

import (
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// matches reports whether a pattern matches a selector, both in URI form.
func matches(pattern, sel string) bool {
	if isLiteral(pattern) {
		return strings.HasPrefix(sel, pattern)
	}
	p := readers.ParsePattern(pattern)
	return p.Match(sel)
}

// covers reports whether a pattern matches everything that another matches.
func covers(pattern, other string) bool {
	if isLiteral(pattern) {
		return strings.HasPrefix(other, pattern)
	}
	p, o := readers.ParsePattern(pattern), readers.ParsePattern(other)
	return p.Covers(&o)
}

// meets reports whether two patterns match a common selector.
func meets(a, b string) bool {
	if ha, hb := headOf(a), headOf(b); !strings.HasPrefix(ha, hb) && !strings.HasPrefix(hb, ha) {
		return false
	}
	if isLiteral(a) && isLiteral(b) {
		return true
	}
	p, o := readers.ParsePattern(a), readers.ParsePattern(b)
	return p.Meets(&o)
}

// meeting returns patterns for what two patterns both match. ok is false if there are too
// many, or the two are too hard to compare.
func meeting(a, b string) (list []string, ok bool) {
	p, o := readers.ParsePattern(a), readers.ParsePattern(b)
	all, ok := p.Meeting(&o)
	for _, m := range all {
		list = append(list, m.String())
	}
	return list, ok
}
