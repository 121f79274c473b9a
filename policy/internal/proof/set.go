package proof

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/selector"
)

// Patterns are matched while the tree is walked, and what a pattern has matched
// of a directory's selector is carried down. They stand sorted by their heads,
// which is what comes before the first star. Those whose head goes on below a
// directory are a range of the order; those whose head lies above it either cover
// all below (full) or look for their next piece (open). So a directory that no
// pattern reaches costs nothing, whatever the rest of the file holds.

// entry is a pattern as one reader, or several, compare it.
type entry struct {
	head  string
	rest  []string // what stands between and after the stars
	whole bool     // it covers the whole selector, not only its beginning
	size  int      // the larger decides, Allow on a tie
	allow bool
	mask  uint32 // readers, one bit each
	ref   int    // line of the file, or index of the rule
	hash  uint64 // of all but ref
	pairs uint64 // of neighbouring bytes in rest
}

// set holds the patterns of a robots.txt for one robot, or of a policy.
type set struct {
	entries []entry
	up      []int    // for each entry the nearest before it whose head begins its own; -1: none
	sums    []uint64 // of the hashes of the entries before
}

var seed = maphash.MakeSeed()

func newSet(list []entry) *set {
	list = inOrder(list)
	s := &set{entries: list, up: make([]int, len(list)), sums: make([]uint64, len(list)+1)}
	for i := range list {
		e := &list[i]
		up := i - 1
		for up >= 0 && !strings.HasPrefix(e.head, list[up].head) {
			up = s.up[up]
		}
		s.up[i] = up
		e.hash = e.content()
		s.sums[i+1] = s.sums[i] + e.hash
		for _, piece := range e.rest {
			e.pairs |= pairs([]byte(piece))
		}
	}
	return s
}

// inOrder sorts entries by their heads, then by lines. Most lists are in order, and
// entries are large: their numbers are sorted.
func inOrder(list []entry) []entry {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := strings.Compare(list[a].head, list[b].head); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(list[a].ref, list[b].ref), cmp.Compare(a, b))
	})
	if slices.IsSorted(order) {
		return list
	}
	sorted := make([]entry, len(list))
	for i, from := range order {
		sorted[i] = list[from]
	}
	return sorted
}

// pairs is a set of the pairs of neighbouring bytes in a text. What has others
// than a selector does not match it, which spares most questions.
func pairs(text []byte) (set uint64) {
	for i := 1; i < len(text); i++ {
		set |= 1 << ((text[i-1]*37 + text[i]) & 63)
	}
	return set
}

func (e *entry) content() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(e.head)
	for _, piece := range e.rest {
		_ = h.WriteByte('*')
		_, _ = h.WriteString(piece)
	}
	kind := uint64(e.mask)<<2 | 1
	if e.allow {
		kind |= 2
	}
	if e.whole {
		kind |= 1 << 40
	}
	return mix(h.Sum64(), kind, uint64(e.size))
}

// contentOf hashes a text.
func contentOf(s string) uint64 { return maphash.String(seed, s) }

// mix makes one hash of several numbers.
func mix(list ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range list {
		h = (h ^ n) * 0xbf58476d1ce4e5b9
		h ^= h >> 29
	}
	return h
}

// order sorts matches by what binds less.
func (s *set) order(a, b int) int {
	x, y := &s.entries[a], &s.entries[b]
	switch {
	case x.size != y.size:
		return cmp.Compare(x.size, y.size)
	case x.allow == y.allow:
		return cmp.Compare(a, b)
	case y.allow:
		return -1
	}
	return 1
}

// cursor is what the patterns have matched of a directory's selector.
type cursor struct {
	n      int // bytes of it
	lo, hi int // the entries whose heads go on below it
	near   int // where one was looked for last
	open   []search
	full   []int // entries that cover all below
	mask   uint32
}

// search is a pattern whose head is matched. With no piece left it covers the
// directory's own selector, and nothing else.
type search struct {
	entry, piece int
	from         int // where the piece may begin
}

// still reports whether all below the directory is the same to all patterns.
func (c *cursor) still() bool { return c.lo == c.hi && len(c.open) == 0 }

// root is the cursor at a beginning of selectors; prune leaves out those of full
// that no longer matter.
func (s *set) root(prefix string, prune func([]int) []int) *cursor {
	c := &cursor{n: -1, hi: len(s.entries)}
	return s.advance(c, &cursor{}, []byte(prefix), prune)
}

// advance goes down into a directory with the selector sub: to next, or, if
// nothing is in question there, it stays.
func (s *set) advance(c, next *cursor, sub []byte, prune func([]int) []int) *cursor {
	if c.still() {
		return c
	}
	*next = cursor{n: len(sub), full: c.full, mask: c.mask, open: next.open[:0]}
	grown := false
	done := func(e int) {
		if !grown {
			next.full, grown = slices.Clone(c.full), true
		}
		next.full = append(next.full, e)
	}
	for _, o := range c.open {
		s.step(o, sub, next, done)
	}
	if c.lo < c.hi {
		span := s.below(c, sub)
		next.lo, next.hi = span.lo, span.hi
		s.heads(c, next.lo, sub, func(i int) {
			if e := &s.entries[i]; e.rest != nil || e.whole {
				s.step(search{i, 0, len(e.head)}, sub, next, done)
			} else {
				done(i)
			}
		})
	}
	if grown {
		next.full = prune(next.full)
	}
	return next
}

// after gives the first entry of the cursor's range whose head comes after sub.
// Names are asked in their order, so it is looked for near the last one.
func (s *set) after(c *cursor, sub []byte) int {
	c.near = near(c.lo, c.hi, c.near, func(i int) bool { return s.entries[i].head > string(sub) })
	return c.near
}

// below gives the entries of the cursor's range whose heads go on below sub.
func (s *set) below(c *cursor, sub []byte) span {
	lo := s.after(c, sub)
	return span{lo, near(lo, c.hi, lo, func(i int) bool { return !strings.HasPrefix(s.entries[i].head, string(sub)) })}
}

// near gives the first number from lo to hi for which is holds, hi if there is
// none, in a time that grows with the logarithm of its distance from at.
func near(lo, hi, at int, is func(int) bool) int {
	at = min(max(at, lo), hi)
	for step := 1; lo < at; step *= 2 {
		if i := max(lo, at-step); is(i) {
			at, hi = i, i
		} else {
			lo = i + 1
			break
		}
	}
	for step := 1; at == lo && lo < hi; step *= 2 {
		i := min(hi, lo+step) - 1
		if is(i) {
			hi = i
			break
		}
		at, lo = i+1, i+1
	}
	return lo + sort.Search(hi-lo, func(i int) bool { return is(lo + i) })
}

// heads yields the entries of the cursor's range whose heads begin sub; end is
// the first after it.
func (s *set) heads(c *cursor, end int, sub []byte, yield func(int)) {
	for i := end - 1; i >= c.lo; i = s.up[i] {
		if bytes.HasPrefix(sub, []byte(s.entries[i].head)) {
			yield(i)
		}
	}
}

// step looks for as many pieces as sub holds.
func (s *set) step(o search, sub []byte, next *cursor, done func(int)) {
	e := &s.entries[o.entry]
	if o.piece == len(e.rest) {
		if len(sub) == len(e.head) {
			next.open = append(next.open, o)
		}
		return
	}
	for ; o.piece < len(e.rest); o.piece++ {
		if e.whole && o.piece == len(e.rest)-1 {
			next.open = append(next.open, o)
			return
		}
		at := bytes.Index(sub[o.from:], []byte(e.rest[o.piece]))
		if at < 0 {
			o.from = max(o.from, len(sub)-len(e.rest[o.piece])+1)
			next.open = append(next.open, o)
			return
		}
		o.from += at + len(e.rest[o.piece])
	}
	done(o.entry)
}

// matches appends the entries that match sub, which lies below the cursor's
// directory, or is its selector; those of full are left out.
func (s *set) matches(found []int, c *cursor, sub []byte) []int {
	if c.lo < c.hi {
		s.heads(c, s.after(c, sub), sub, func(i int) {
			if s.ends(search{i, 0, len(s.entries[i].head)}, sub) {
				found = append(found, i)
			}
		})
	}
	have := ^uint64(0)
	if len(c.open) > 8 {
		have = pairs(sub)
	}
	for _, o := range c.open {
		if s.entries[o.entry].pairs&^have == 0 && s.ends(o, sub) {
			found = append(found, o.entry)
		}
	}
	return found
}

// ends reports whether what is left of a pattern matches the rest of sub.
func (s *set) ends(o search, sub []byte) bool {
	e := &s.entries[o.entry]
	rest := sub[o.from:]
	if o.piece == len(e.rest) {
		return !e.whole || len(rest) == 0
	}
	last := len(e.rest) - 1
	if e.whole && !bytes.HasSuffix(rest, []byte(e.rest[last])) {
		return false
	}
	for i := o.piece; i <= last; i++ {
		piece := []byte(e.rest[i])
		if e.whole && i == last {
			return len(rest) >= len(piece)
		}
		at := bytes.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	return true
}

// matchesWhole reports whether the entry matches sub if an escape is one letter.
func (e *entry) matchesWhole(sub []byte) bool {
	letters := func(s string) string {
		var b []byte
		for i := 0; i < len(s); i++ {
			c, n := selector.DecodePercent(s[i:])
			if n == 0 {
				b = append(b, s[i])
				continue
			}
			b, i = utf8.AppendRune(b, 0x100+rune(c)), i+2
		}
		return string(b)
	}
	p := robots.Pattern{Pieces: []string{letters(e.head)}, Whole: e.whole}
	for _, piece := range e.rest {
		p.Pieces = append(p.Pieces, letters(piece))
	}
	return p.Match(letters(string(sub)))
}

// state hashes all that the answers below the cursor depend on.
func (s *set) state(c *cursor) uint64 {
	h := s.sums[c.hi] - s.sums[c.lo]
	for _, o := range c.open {
		h += mix(s.entries[o.entry].hash, uint64(o.piece), uint64(c.n-o.from))
	}
	for _, e := range c.full {
		h = mix(h, s.entries[e].hash)
	}
	return h
}
