package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// siblings are the entries of a directory, sorted by what begins with what.
type siblings struct {
	sel    string
	denied []entry  // by name
	rivals []entry  // those with something allowed in them, by name
	forms  []string // of the rivals, in normal form, sorted; only if some name has a percent sign
	named  map[string]entry
}

func newSiblings(v *verdict, sel string) *siblings {
	s := &siblings{sel: sel}
	tricky := false
	for _, n := range v.names() {
		if !n.dir && skipped(sel, n.name) {
			continue
		}
		tricky = tricky || strings.Contains(n.name, "%")
		if v.kindOf(n) == denied {
			s.denied = append(s.denied, n)
		} else {
			s.rivals = append(s.rivals, n)
		}
	}
	byName := func(a, b entry) int { return strings.Compare(a.name, b.name) }
	slices.SortFunc(s.denied, byName)
	slices.SortFunc(s.rivals, byName)
	if tricky {
		s.normalize()
	}
	return s
}

// normalize makes the table of normal forms: with percent signs in the names one
// may begin another in normal form only, or as it is written only.
func (s *siblings) normalize() {
	s.named = map[string]entry{}
	for _, n := range s.rivals {
		form := normal(n.name)
		s.forms = append(s.forms, form)
		s.named[form] = n
	}
	slices.Sort(s.forms)
}

func (s *siblings) tricky() bool { return s.named != nil }

// over says which readers take a rival for one of the names that begin with a
// denied one.
type over uint8

const (
	overRaw    over = 1 << iota // those that compare octets
	overNormal                  // those that compare normal forms
	overAll    = overRaw | overNormal
)

// pure reports whether nothing allowed begins with the prefix of a name.
func (s *siblings) pure(prefix string) bool { return len(s.begun(prefix)) == 0 }

// begun gives the rivals whose names begin with the prefix, to some readers.
func (s *siblings) begun(prefix string) map[string]over {
	var found map[string]over
	mark := func(name string, o over) {
		if found == nil {
			found = map[string]over{}
		}
		found[name] |= o
	}
	both := overAll
	if s.tricky() {
		both = overRaw
		form := normal(prefix)
		i, _ := slices.BinarySearch(s.forms, form)
		for ; i < len(s.forms) && strings.HasPrefix(s.forms[i], form); i++ {
			mark(s.named[s.forms[i]].name, overNormal)
		}
	}
	for i := s.search(prefix); i < len(s.rivals) && strings.HasPrefix(s.rivals[i].name, prefix); i++ {
		mark(s.rivals[i].name, both)
	}
	return found
}

// search gives the place of the first rival not before name.
func (s *siblings) search(name string) int {
	i, _ := slices.BinarySearchFunc(s.rivals, name, func(n entry, name string) int { return strings.Compare(n.name, name) })
	return i
}

// rival finds a name.
func (s *siblings) rival(name string) (entry, bool) {
	if i := s.search(name); i < len(s.rivals) && s.rivals[i].name == name {
		return s.rivals[i], true
	}
	return entry{}, false
}

// maxListed is how many denied names of a directory are written in full. Of more
// the shortest beginnings are that nothing allowed has.
const maxListed = 256

// shorten gives the beginning of a denied name that tells it from all rivals, if
// there are too many names to list.
func (s *siblings) shorten(name string) string {
	if len(s.denied) <= maxListed || s.tricky() || !isPlain(name) {
		return name
	}
	i := s.search(name)
	n := 0
	for _, at := range []int{i - 1, i} {
		if at >= 0 && at < len(s.rivals) {
			n = max(n, common(name, s.rivals[at].name))
		}
	}
	for n++; n < len(name) && !utf8.RuneStart(name[n]); n++ {
	}
	return name[:min(n, len(name))]
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
