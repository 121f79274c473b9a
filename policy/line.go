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

// said is what a line says.
type said struct {
	allow   bool
	pattern string
}

// lineSet collects the lines of one group, each once.
type lineSet struct {
	lines  []line
	seen   map[said]bool
	octets int
}

func (s *lineSet) add(allow bool, pattern string, by *rule) {
	if s.has(allow, pattern) {
		return
	}
	if s.seen == nil {
		s.seen = map[said]bool{}
	}
	s.seen[said{allow, pattern}] = true
	l := line{allow, pattern, writtenSize(pattern), by}
	s.lines = append(s.lines, l)
	s.octets += l.octets()
}

func (s *lineSet) has(allow bool, pattern string) bool { return s.seen[said{allow, pattern}] }

// writtenSize is the length of a pattern in normal form, stars and a final
// dollar as one octet each.
func writtenSize(p string) int {
	p, anchored := strings.CutSuffix(p, "$")
	var room [128]byte
	n := len(appendNormal(room[:0], p)) - 2*strings.Count(p, "*") // a star is %2A in normal form
	if anchored {
		n++
	}
	return n
}

// prefixFree drops each Disallow line that a shorter one covers: a reader in use
// looks only for the nearest pattern in the order of the alphabet. To readers
// that know Allow the longer line says nothing new either, unless an Allow lies
// between the two.
func (s *lineSet) prefixFree() {
	type written struct {
		line
		form string // in normal form; of an Allow what it begins with
	}
	list := make([]written, len(s.lines))
	for i, l := range s.lines {
		list[i] = written{l, normal(l.pattern)}
		if l.allow {
			list[i].form = normal(strings.TrimSuffix(l.pattern, "$"))
		}
	}
	slices.SortFunc(list, func(a, b written) int {
		return cmp.Or(strings.Compare(a.form, b.form), cmp.Compare(rank(b.line), rank(a.line)))
	})
	var above []written // the lines that each begin the next, and this one
	s.lines = s.lines[:0]
	for _, w := range list {
		for len(above) > 0 && !strings.HasPrefix(w.form, above[len(above)-1].form) {
			above = above[:len(above)-1]
		}
		nearest := len(above) - 1
		for nearest >= 0 && !above[nearest].allow && !above[nearest].covers(w.line) {
			nearest--
		}
		if !w.allow && nearest >= 0 && !above[nearest].allow {
			s.octets -= w.octets()
			continue
		}
		s.lines, above = append(s.lines, w.line), append(above, w)
	}
}

// covers reports whether a Disallow line bars all that another one does, to
// readers of every kind.
func (l line) covers(o line) bool {
	return strings.HasPrefix(o.pattern, l.pattern) && !strings.Contains(l.pattern, "*") && !strings.HasSuffix(l.pattern, "$")
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
