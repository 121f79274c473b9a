package policy

// rule is an Allow or Disallow line of an annotation.
type rule struct {
	allow   bool
	pattern pattern
	file    string // of the annotation
	line    int    // counted from 1; 0: the annotation as a whole
	value   string // as written
}

// state is the policy for one robot at one place of the tree: the longest of the
// rules that hold for all below, and those that may still match something.
type state struct {
	by   *rule // nil: no rule, allowed
	size int
	live []live
}

func (s *state) denies() bool { return s.by != nil && !s.by.allow }

// wins reports whether a rule of that size beats the one that decides so far:
// the longest pattern wins, Allow on a tie (R5).
func wins(r *rule, size int, by *rule, bySize int) bool {
	return by == nil || size > bySize || size == bySize && r.allow && !by.allow
}

// below is the state in the directory sel, given that of the one above and the
// rules of the directory's own annotation. The selector ends in a slash.
func (s *state) below(sel []byte, own []*rule) state {
	next := state{by: s.by, size: s.size}
	if n := len(s.live) + len(own); n > 0 {
		next.live = make([]live, 0, n)
	}
	for _, l := range s.live {
		next.take(l, sel)
	}
	for _, r := range own {
		next.take(live{rule: r, base: len(sel) - 1}, sel)
	}
	next.prune()
	return next
}

func (s *state) take(l live, sel []byte) {
	switch l.advance(sel) {
	case open:
		s.live = append(s.live, l)
	case full:
		if wins(l.rule, l.size(), s.by, s.size) {
			s.by, s.size = l.rule, l.size()
		}
	}
}

// prune drops the rules that can no longer decide anything.
func (s *state) prune() {
	kept := s.live[:0]
	for _, l := range s.live {
		if wins(l.rule, l.size(), s.by, s.size) {
			kept = append(kept, l)
		}
	}
	s.live = kept
}

// decide gives the rule that decides for the selector sel, nil if none does.
func (s *state) decide(sel []byte) *rule {
	by, size := s.by, s.size
	for _, l := range s.live {
		if wins(l.rule, l.size(), by, size) && l.matches(sel) {
			by, size = l.rule, l.size()
		}
	}
	return by
}
