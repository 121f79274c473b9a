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
//
// What a pattern asks of a selector is written once, as its forms (match.go); the
// index files them, and a question that is asked only once tries them one by one.

import (
	"cmp"
	"slices"
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

// glob is a form with a wildcard before its end.
type glob struct {
	text       string
	precedence uint32
	ref        ref
	pairs      pairs
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
	if !s.isRule(rec.kind(), p) {
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
	precedence := x.match(r).precedence
	s.forms(p, func(f form) {
		r := r
		if f.whole {
			r |= refExact
		}
		if f.glob {
			x.globs = append(x.globs, glob{f.text, precedence, r, pairsOf(f.text)})
			return
		}
		if len(f.text) < len(p) {
			r |= refTrim
		}
		x.refs = append(x.refs, r)
	})
}

func (x *index) normalize(record uint32, p string) string {
	if isNormalPattern(p) {
		return p
	}
	if x.changed == nil {
		x.changed = map[uint32]string{}
	}
	x.changed[record] = NormalPattern(p)
	return x.changed[record]
}

// finish makes the table and sorts the globs.
func (x *index) finish() {
	x.literal.build(x.refs, x.text, x.same)
	x.refs = nil
	slices.SortFunc(x.globs, func(a, b glob) int {
		return cmp.Or(cmp.Compare(b.precedence, a.precedence), cmp.Compare(a.text, b.text), cmp.Compare(a.ref, b.ref))
	})
	x.globs = slices.Clone(slices.CompactFunc(x.globs, func(a, b glob) bool { return x.same(a.ref, b.ref) && a.text == b.text }))
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
		if have.includes(g.pairs) && globMatch(g.text, selector, g.ref&refExact != 0) {
			found.offer(x.match(g.ref))
		}
	}
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
