package policy

import (
	"cmp"
	"slices"
	"strings"
)

// line is a rule of the generated file.
type line struct {
	allow   bool
	pattern string
	size    int   // octets in normal form: what readers after RFC 9309 go by
	by      *rule // the annotation it comes from
}

// octets is how much room the line takes.
func (l line) octets() int { return len(fieldOf(l.allow)) + len(l.pattern) + len("\n") }

// lineSet collects the lines of one group, each once.
type lineSet struct {
	lines  []line
	seen   map[string]bool
	octets int
}

func (s *lineSet) add(allow bool, pattern string, by *rule) {
	if s.has(allow, pattern) {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[fieldOf(allow)+pattern] = true
	l := line{allow, pattern, writtenSize(pattern), by}
	s.lines = append(s.lines, l)
	s.octets += l.octets()
}

func (s *lineSet) has(allow bool, pattern string) bool { return s.seen[fieldOf(allow)+pattern] }

// writtenSize is the length of a pattern in normal form, stars and a final
// dollar as one octet each.
func writtenSize(p string) int {
	p, anchored := strings.CutSuffix(p, "$")
	stars := strings.Count(p, "*")
	n := len(normal(p)) - 2*stars // a star is %2A in normal form
	if anchored {
		n++
	}
	return n
}

// sorted gives the lines with the longest pattern first and Allow before
// Disallow: readers that take the first rule that matches then agree with those
// that take the longest.
func (s *lineSet) sorted() []line {
	slices.SortFunc(s.lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(rank(a), rank(b)), strings.Compare(a.pattern, b.pattern))
	})
	return s.lines
}

func rank(l line) int {
	if l.allow {
		return 0
	}
	return 1
}
