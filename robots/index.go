package robots

// The index finds the longest pattern that matches, in a time that does not
// depend on how many there are.
//
// Literal patterns stand in a table (literal.go). Those with a final "$" or "*"
// are literals, too: only what they ask of the rest of the selector differs.
//
// Patterns with an inner "*" are tried one by one, most binding first, but only
// if every pair of neighbouring bytes in the pattern may occur in the selector:
// a bloom filter of 128 bits says no to nearly all of them.

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/gophd/gophd/selector"
)

type index struct {
	file    *File
	percent bool              // compare in normal form
	changed map[uint32]string // the patterns that are not in normal form as written
	refs    []ref             // literals, until the table is made
	literal literals
	globs   []glob // most binding first
}

// ref is an entry of the index: a record, how much is cut off the end of its
// pattern, and whether the rest must be the end of the selector, too.
type ref uint32

const (
	refExact ref = 1 << iota
	refTrim
	refFirst // of the style "first match": precedence is the place in the file
	refShift = iota
)

func (r ref) record() uint32 { return uint32(r) >> refShift }

// glob is a pattern with a wildcard before its end.
type glob struct {
	ref        ref
	precedence uint32
	pairs      pairs
}

// match is a rule that covers the selector. The higher precedence binds.
type match struct {
	precedence uint32 // 0: no rule
	record     uint32
	allow      bool
}

func (m match) found() bool   { return m.precedence > 0 }
func (m match) allowed() bool { return m.precedence == 0 || m.allow }

// compare orders by what binds more: precedence, then Allow, then the earlier.
func (m match) compare(o match) int {
	if m.precedence != o.precedence {
		return cmp.Compare(m.precedence, o.precedence)
	}
	if m.allow != o.allow {
		if m.allow {
			return 1
		}
		return -1
	}
	return cmp.Compare(o.record, m.record)
}

// pattern gives the pattern of a record as it is compared.
func (x *index) pattern(record uint32) string {
	if p, ok := x.changed[record]; ok {
		return p
	}
	return x.file.value(x.file.records[record])
}

// text gives what an entry compares.
func (x *index) text(r ref) string {
	p := x.pattern(r.record())
	if r&refTrim != 0 {
		return p[:len(p)-1]
	}
	return p
}

func (x *index) match(r ref) match {
	rec := r.record()
	m := match{uint32(len(x.pattern(rec))), rec, x.file.records[rec].kind() == KindAllow}
	if r&refFirst != 0 {
		m.precedence = ^rec
	}
	return m
}

// add puts a rule into the index, as the style reads its pattern.
func (x *index) add(s style, record uint32) {
	rec := x.file.records[record]
	p := x.file.value(rec)
	if p == "" || rec.kind() == KindAllow && !s.Allow {
		return
	}
	if s.Escapes {
		x.percent = true
		p = x.normalize(record, p)
	}
	r := ref(record << refShift)
	if s.first {
		r |= refFirst
	}
	if s.trimStar && p[len(p)-1] == '*' {
		p, r = p[:len(p)-1], r|refTrim
		if p == "" {
			return
		}
	}
	if s.trimStar && strings.IndexByte(p, '*') >= 0 {
		return
	}
	x.addPattern(s, p, r)
}

func (x *index) normalize(record uint32, p string) string {
	if isNormalPattern(p) {
		return p
	}
	if x.changed == nil {
		x.changed = map[uint32]string{}
	}
	x.changed[record] = normalPattern(p)
	return x.changed[record]
}

// addPattern decides what kind of entry the pattern is.
func (x *index) addPattern(s style, p string, r ref) {
	last := len(p) - 1
	star := -1
	if s.Glob {
		star = strings.IndexByte(p, '*')
	}
	switch {
	case s.Whole && star == -1:
		x.refs = append(x.refs, r|refExact)
	case s.Whole:
		x.addGlob(p, r|refExact)
	case s.Anchor && p[last] == '$' && star == -1:
		x.refs = append(x.refs, r|refExact|refTrim)
	case s.Anchor && p[last] == '$':
		x.addGlob(p[:last], r|refExact|refTrim)
	case star == last && star >= 0:
		x.refs = append(x.refs, r|refTrim)
	case star >= 0:
		x.addGlob(p, r)
	default:
		x.refs = append(x.refs, r)
	}
	if s.slash && last > 0 && p[last] == '/' && p[last-1] != '*' {
		if star >= 0 {
			x.addGlob(p[:last], r|refExact|refTrim)
		} else {
			x.refs = append(x.refs, r|refExact|refTrim)
		}
	}
}

func (x *index) addGlob(text string, r ref) {
	x.globs = append(x.globs, glob{r, x.match(r).precedence, pairsOf(text)})
}

// finish makes the table and sorts the globs.
func (x *index) finish() {
	x.literal.build(x.refs, x.text, x.same)
	x.refs = nil
	slices.SortFunc(x.globs, func(a, b glob) int {
		return cmp.Or(cmp.Compare(b.precedence, a.precedence), cmp.Compare(x.text(a.ref), x.text(b.ref)), cmp.Compare(a.ref, b.ref))
	})
	x.globs = slices.CompactFunc(x.globs, func(a, b glob) bool { return x.same(a.ref, b.ref) && x.text(a.ref) == x.text(b.ref) })
}

// same reports whether two entries with the same text say the same.
func (x *index) same(a, b ref) bool {
	const kind = refExact | refTrim
	return a&kind == b&kind && x.match(a).allow == x.match(b).allow
}

// find gives the two rules that bind most of those that match.
func (x *index) find(sel string) (best, second match) {
	if x.percent && !selector.IsNormal(sel) {
		return x.findEncoded(sel)
	}
	return x.search(sel)
}

// findEncoded brings the selector into normal form first.
func (x *index) findEncoded(sel string) (best, second match) {
	var buf [2048]byte
	b := selector.AppendNormal(buf[:0], sel)
	// A view, not a copy: nothing below keeps it.
	return x.search(unsafe.String(unsafe.SliceData(b), len(b)))
}

func (x *index) search(selector string) (best, second match) {
	var found top
	x.literal.prefixes(selector, func(r ref, n int) {
		if (r&refExact == 0 || n == len(selector)) && x.text(r) == selector[:n] {
			found.offer(x.match(r))
		}
	})
	if len(x.globs) > 0 {
		x.tryGlobs(selector, &found)
	}
	return found.best, found.second
}

func (x *index) tryGlobs(selector string, found *top) {
	have := pairsOf(selector)
	for i := range x.globs {
		g := &x.globs[i]
		if g.precedence < found.second.precedence {
			return
		}
		if have.includes(g.pairs) && globMatch(x.text(g.ref), selector, g.ref&refExact != 0) {
			found.offer(x.match(g.ref))
		}
	}
}

// top keeps the two best matches.
type top struct{ best, second match }

func (t *top) offer(m match) {
	switch {
	case m.compare(t.best) > 0:
		t.best, t.second = m, t.best
	case m.record != t.best.record && m.compare(t.second) > 0:
		t.second = m
	}
}

// globMatch reports whether the pattern, in which * stands for any run of
// bytes (G7), matches from the first byte of the selector; whole asks that it
// ends with it.
//
// What stands between two stars is looked for as far left as it can be: if that
// fails, no other choice helps. So nothing is tried twice. Whether the last piece
// is there is asked first, since most that do not match fail there.
func globMatch(pattern, selector string, whole bool) bool {
	star := strings.IndexByte(pattern, '*')
	if star < 0 {
		return selector == pattern || !whole && strings.HasPrefix(selector, pattern)
	}
	if !strings.HasPrefix(selector, pattern[:star]) {
		return false
	}
	selector, pattern = selector[star:], pattern[star+1:]
	last := strings.LastIndexByte(pattern, '*') + 1
	if !whole {
		return strings.Contains(selector, pattern[last:]) && inOrder(selector, pattern)
	}
	rest, ends := strings.CutSuffix(selector, pattern[last:])
	return ends && inOrder(rest, pattern[:last])
}

// inOrder looks for the pieces between stars, one after the other.
func inOrder(selector, pieces string) bool {
	for pieces != "" {
		piece, rest, _ := strings.Cut(pieces, "*")
		at := strings.Index(selector, piece)
		if at < 0 {
			return false
		}
		selector, pieces = selector[at+len(piece):], rest
	}
	return true
}

// pairs is a bloom filter of the pairs of neighbouring bytes in a text.
type pairs [2]uint64

// pairsOf leaves out the pairs with a star; a selector just has fewer then.
func pairsOf(text string) (p pairs) {
	for i := 1; i < len(text); i++ {
		a, b := text[i-1], text[i]
		if a != '*' && b != '*' {
			bit := a*37 + b
			p[bit>>6&1] |= 1 << (bit & 63)
		}
	}
	return p
}

func (p pairs) includes(q pairs) bool {
	return q[0]&^p[0] == 0 && q[1]&^p[1] == 0
}
