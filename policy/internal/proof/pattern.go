package proof

import (
	"cmp"
	"hash/maphash"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Patterns are matched while the walk goes down the tree, and what a pattern has
// matched of a directory's selector is carried down. They stand sorted by their heads,
// which is what comes before the first star. Those whose head goes on below a
// directory are a range of the order; those whose head lies above it either cover
// all below (full) or look for their next piece (open). So a directory that no
// pattern reaches costs nothing, whatever the rest of the file holds.

// entry is a pattern as some sides take it.
type entry struct {
	readers.Pattern
	allow bool
	sides uint32 // one bit each
	ref   int    // line of the file, or index of what the side knows of it
	from  uint64 // hash of what else a side tells of it
	hash  uint64 // of all but ref
	pairs uint64 // of neighbouring bytes in the pieces behind the head
}

func (e *entry) head() string { return e.Pieces[0] }

// same reports whether two entries are one pattern.
func (e *entry) same(o *entry) bool {
	return e.Whole == o.Whole && e.allow == o.allow && e.Size == o.Size && slices.Equal(e.Pieces, o.Pieces)
}

var seed = maphash.MakeSeed()

func hashOf[T comparable](v T) uint64 { return maphash.Comparable(seed, v) }

func (e *entry) content() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, piece := range e.Pieces {
		_, _ = h.WriteString(piece)
		_ = h.WriteByte('*')
	}
	maphash.WriteComparable(&h, [2]bool{e.Whole, e.allow})
	return mix(h.Sum64(), uint64(e.sides), uint64(e.Size), e.from)
}

// mix makes one hash of several numbers.
func mix(list ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range list {
		h = (h ^ n) * 0xbf58476d1ce4e5b9
		h ^= h >> 29
	}
	return h
}

// pairs is a set of the pairs of neighbouring bytes in a text. What has others than a
// selector does not match it: a thousand globs that an author puts beside many names
// cost a third.
func pairs(text string) (set uint64) {
	for i := 1; i < len(text); i++ {
		set |= 1 << ((text[i-1]*37 + text[i]) & 63)
	}
	return set
}

// set holds the patterns that some readers use, or the policy.
type set struct {
	entries []entry
	up      []int    // for each entry the nearest before it whose head begins its own; -1: none
	sums    []uint64 // of the hashes of the entries before
	all     uint32   // sides for which every pattern counts that matches, not the largest alone
}

func newSet(list []entry, all uint32) *set {
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Or(strings.Compare(a.head(), b.head()), a.ref-b.ref) })
	s := &set{entries: list, up: make([]int, len(list)), sums: make([]uint64, len(list)+1), all: all}
	for i := range list {
		e := &list[i]
		up := i - 1
		for up >= 0 && !strings.HasPrefix(e.head(), list[up].head()) {
			up = s.up[up]
		}
		s.up[i] = up
		e.hash = e.content()
		s.sums[i+1] = s.sums[i] + e.hash
		for _, piece := range e.Pieces[1:] {
			e.pairs |= pairs(piece)
		}
	}
	return s
}

// has reports whether a side has the pattern of an entry, which may be of another set.
func (s *set) has(e *entry, side uint32) bool {
	i := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].head() >= e.head() })
	for ; i < len(s.entries) && s.entries[i].head() == e.head(); i++ {
		if o := &s.entries[i]; o.sides == side && o.Whole == e.Whole && slices.Equal(o.Pieces, e.Pieces) {
			return true
		}
	}
	return false
}

// order sorts matches by what binds less. Of two that say the same the first binds.
func (s *set) order(a, b int) int {
	x, y := &s.entries[a], &s.entries[b]
	switch {
	case x.Size != y.Size:
		return cmp.Compare(x.Size, y.Size)
	case x.allow == y.allow:
		return cmp.Compare(y.ref, x.ref)
	case y.allow:
		return -1
	}
	return 1
}

// cursor is what the patterns have matched of a directory's selector.
type cursor struct {
	span       // the entries whose heads go on below it
	n      int // bytes of it
	open   []search
	full   []int  // entries that cover all below, what binds least first
	denied uint32 // the sides that take what only these cover as denied
	sum    uint64 // hash of open and full
}

// span is a range of entries.
type span struct{ lo, hi int }

// search is a pattern whose head is matched. With no piece left it covers the
// directory's own selector, and nothing else.
type search struct {
	entry, piece int // of its pieces the one that comes next
	from         int // where the piece may begin
}

// still reports whether all below the directory is the same to all patterns.
func (c *cursor) still() bool { return c.lo == c.hi && len(c.open) == 0 }

// root is the cursor at a beginning of selectors.
func (s *set) root(prefix string) *cursor {
	c := &cursor{span: span{0, len(s.entries)}}
	c, _ = s.advance(c, &cursor{}, prefix)
	return c
}

// advance goes down into a directory with the selector sub: to next, or, if
// nothing is in question there, it stays. The key is a hash of all that the answers
// for the directory and for all below it depend on.
func (s *set) advance(c, next *cursor, sub string) (at *cursor, key uint64) {
	if c.still() {
		return c, c.sum
	}
	*next = cursor{n: len(sub), full: c.full[:len(c.full):len(c.full)], open: next.open[:0]}
	for _, o := range c.open {
		s.step(o, sub, next)
	}
	next.span = s.below(c, sub)
	key = mix(c.sum, s.sums[next.hi]-s.sums[next.lo])
	s.heads(c, next.lo, sub, func(i int) {
		key += s.entries[i].hash
		s.step(search{i, 1, len(s.entries[i].head())}, sub, next)
	})
	s.settle(next)
	return next, key
}

// after returns the first entry of the cursor's range whose head comes after sub.
func (s *set) after(c *cursor, sub string) int {
	return c.lo + sort.Search(c.hi-c.lo, func(i int) bool { return s.entries[c.lo+i].head() > sub })
}

// below returns the entries of the cursor's range whose heads go on below sub.
func (s *set) below(c *cursor, sub string) span {
	lo := s.after(c, sub)
	return span{lo, lo + sort.Search(c.hi-lo, func(i int) bool { return !strings.HasPrefix(s.entries[lo+i].head(), sub) })}
}

// heads yields the entries of the cursor's range whose heads begin sub; end is
// the first after it.
func (s *set) heads(c *cursor, end int, sub string, yield func(int)) {
	for i := end - 1; i >= c.lo; i = s.up[i] {
		if strings.HasPrefix(sub, s.entries[i].head()) {
			yield(i)
		}
	}
}

// left yields the entries of the cursor that none of the spans has, and those
// that only begin to look for their pieces here.
func (s *set) left(c *cursor, taken []span, yield func(*entry)) {
	taken = slices.DeleteFunc(taken, func(t span) bool { return t.lo == t.hi })
	slices.SortFunc(taken, func(a, b span) int { return a.lo - b.lo })
	i := c.lo
	for _, t := range append(taken, span{c.hi, c.hi}) {
		for ; i < t.lo; i++ {
			yield(&s.entries[i])
		}
		i = max(i, t.hi)
	}
	for _, o := range c.open {
		if e := &s.entries[o.entry]; len(e.head()) == c.n {
			yield(e)
		}
	}
}

// settle finds out what the entries that cover all below say. It leaves out those
// that cannot decide: larger ones are there for all their sides.
func (s *set) settle(c *cursor) {
	slices.SortFunc(c.full, s.order)
	var seen uint32
	keep := len(c.full)
	kept := make([]int, keep)
	c.denied, c.sum = 0, 0
	for i := keep - 1; i >= 0; i-- {
		e := &s.entries[c.full[i]]
		if e.sides&^seen != 0 {
			if len(e.Pieces) == 1 || e.sides != policySide { // see byDigits
				seen |= e.sides &^ s.all
			}
			keep--
			kept[keep] = c.full[i]
			c.sum = mix(c.sum, e.hash)
		}
	}
	c.full = kept[keep:]
	c.denied = s.fold(c.full)
	for _, o := range c.open {
		c.sum += mix(s.entries[o.entry].hash, uint64(o.piece), uint64(c.n-o.from))
	}
}

// fold returns the sides that deny what the entries cover, which are in order.
func (s *set) fold(found []int) (denied uint32) {
	for _, i := range found {
		if e := &s.entries[i]; e.allow {
			denied &^= e.sides
		} else {
			denied |= e.sides
		}
	}
	return denied
}

// step looks for as many pieces as sub holds.
func (s *set) step(o search, sub string, next *cursor) {
	e := &s.entries[o.entry]
	for ; o.piece < len(e.Pieces); o.piece++ {
		at, piece := -1, e.Pieces[o.piece]
		if last := e.Whole && o.piece == len(e.Pieces)-1; !last {
			if at = strings.Index(sub[o.from:], piece); at < 0 {
				o.from = max(o.from, len(sub)-len(piece)+1)
			}
		}
		if at < 0 {
			next.open = append(next.open, o)
			return
		}
		o.from += at + len(piece)
	}
	switch {
	case !e.Whole:
		next.full = append(next.full, o.entry)
	case sub == e.head():
		next.open = append(next.open, o)
	}
}

// matches appends the entries that match sub, which lies below the cursor's
// directory, or is its selector; those of full are left out.
func (s *set) matches(found []int, c *cursor, sub string) []int {
	s.heads(c, s.after(c, sub), sub, func(i int) {
		if s.entries[i].Match(sub) {
			found = append(found, i)
		}
	})
	have := ^uint64(0)
	if len(c.open) > 8 {
		have = pairs(sub)
	}
	for _, o := range c.open {
		if e := &s.entries[o.entry]; e.pairs&^have == 0 && e.Match(sub) {
			found = append(found, o.entry)
		}
	}
	return found
}

// denies returns the sides that take sub as denied.
func (s *set) denies(c *cursor, sub string) uint32 {
	var buf [32]int
	found := s.matches(append(buf[:0], c.full...), c, sub)
	if len(found) == len(c.full) {
		return c.denied
	}
	slices.SortFunc(found, s.order)
	return s.fold(found)
}

var escape = regexp.MustCompile(`%[0-9A-F]{2}`)

// matchesWhole reports whether the entry matches sub if an escape is one letter.
func (e *entry) matchesWhole(sub string) bool {
	letters := func(s string) string {
		return escape.ReplaceAllStringFunc(s, func(s string) string {
			c, _ := selector.DecodePercent(s)
			return string('Ā' + rune(c))
		})
	}
	p := readers.Pattern{Whole: e.Whole}
	for _, piece := range e.Pieces {
		p.Pieces = append(p.Pieces, letters(piece))
	}
	return p.Match(letters(sub))
}
