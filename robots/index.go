package robots

// The index finds the longest pattern that matches, in a time that does not
// depend on how many there are.
//
// Literal patterns stand in a table (below). Those with a final "$" or "*"
// are literals, too: they differ only in how the selector may go on.
//
// Patterns with an inner "*" are tried one by one, most binding first, but only
// if every pair of neighbouring bytes in the pattern may occur in the selector:
// a bloom filter of 128 bits says no to nearly all of them.
//
// The forms of a pattern (match.go) define which selectors it matches. The index
// stores the forms; without an index, a single question tries them one by one.

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// index holds a robot's rules for fast lookup. The second question makes it.
type index struct {
	file    *File
	agents  []Agent           // the User-agent lines of their groups
	percent bool              // compare in normal form
	kept    bool              // some glob compares the kept form
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
	refShift = iota
)

func (r ref) record() uint32 { return uint32(r) >> refShift }

// glob is a form with a wildcard before its end.
type glob struct {
	text       string
	precedence uint32
	ref        ref
	kept       bool
	pairs      pairs
}

// pattern returns the pattern of a record as it is compared.
func (x *index) pattern(record uint32) string {
	if p, ok := x.changed[record]; ok {
		return p
	}
	return x.file.pattern(x.file.records[record])
}

// text returns what an entry compares.
func (x *index) text(r ref) string {
	p := x.pattern(r.record())
	if r&refTrim != 0 {
		return p[:len(p)-1]
	}
	return p
}

func (x *index) match(r ref) match {
	rec := r.record()
	return match{uint32(len(x.pattern(rec))), rec, x.file.records[rec].kind() == readers.KindAllow}
}

// add puts a line into the index, as the syntax reads its pattern, which must not be
// empty.
func (x *index) add(s syntax, record uint32) {
	p := x.file.pattern(x.file.records[record])
	if s.Escapes {
		x.percent = true
		p = x.normalize(record, p)
	}
	r := ref(record << refShift)
	precedence := x.match(r).precedence
	s.forms(p, func(f matchForm) {
		r := r
		if f.whole {
			r |= refExact
		}
		if f.glob {
			x.globs = append(x.globs, glob{f.text, precedence, r, f.kept, pairsOf(f.text)})
			x.kept = x.kept || f.kept
			return
		}
		if len(f.text) < len(p) {
			r |= refTrim
		}
		x.refs = append(x.refs, r)
	})
}

func (x *index) normalize(record uint32, p string) string {
	if readers.IsNormalPattern(p) {
		return p
	}
	normal := readers.NormalPattern(p)
	if normal == p {
		return p
	}
	if x.changed == nil {
		x.changed = map[uint32]string{}
	}
	x.changed[record] = normal
	return normal
}

// finish makes the table and sorts the globs.
func (x *index) finish() {
	x.literal.build(x.refs, x.text, x.same)
	x.refs = nil
	slices.SortFunc(x.globs, x.compare)
	x.globs = slices.Clone(slices.CompactFunc(x.globs, func(a, b glob) bool {
		return a.text == b.text && x.same(a.ref, b.ref) && x.pattern(a.ref.record()) == x.pattern(b.ref.record())
	}))
}

// compare orders globs, most binding first. Equal globs follow each other.
func (x *index) compare(a, b glob) int {
	if c := cmp.Or(cmp.Compare(b.precedence, a.precedence), cmp.Compare(a.text, b.text)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(x.pattern(a.ref.record()), x.pattern(b.ref.record())), x.match(b.ref).compare(x.match(a.ref)))
}

// same reports whether two literals with the same text, or globs with the same
// pattern, too, say the same.
func (x *index) same(a, b ref) bool {
	const kind = refExact | refTrim
	return a&kind == b&kind && x.match(a).allow == x.match(b).allow
}

// find offers every rule that matches to found, unless found needs no more. It
// writes the normal form of a selector into a buffer of bytes: a string would be an
// allocation.
func (x *index) find(sel string, found *top) {
	if x.percent && !selector.IsNormal(sel) {
		var buf, keptBuf [2048]byte
		normal := selector.AppendNormal(buf[:0], sel)
		kept := normal
		if x.kept {
			kept = appendKept(keptBuf[:0], sel)
		}
		search(x, normal, kept, found)
		return
	}
	search(x, sel, sel, found)
}

func search[T text](x *index, selector, kept T, found *top) {
	prefixes(&x.literal, selector, func(r ref, n int) {
		if (r&refExact == 0 || n == len(selector)) && x.text(r) == string(selector[:n]) {
			found.offer(x.match(r))
		}
	})
	if len(x.globs) > 0 {
		tryGlobs(x, selector, kept, found)
	}
}

func tryGlobs[T text](x *index, selector, kept T, found *top) {
	have, keptHave := pairsOf(selector), pairsOf(kept)
	for i := range x.globs {
		g := &x.globs[i]
		if g.precedence < found.floor() {
			return
		}
		sel, pairs := selector, have
		if g.kept {
			sel, pairs = kept, keptHave
		}
		if pairs.includes(g.pairs) && globMatch(g.text, sel, g.ref&refExact != 0) {
			found.offer(x.match(g.ref))
		}
	}
}

// pairs is a bloom filter of the pairs of neighbouring bytes in a text.
type pairs [2]uint64

// pairsOf leaves out the pairs with a star; a selector just has fewer then.
func pairsOf[T text](text T) (p pairs) {
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

// A literal pattern matches a selector if it equals the selector's beginning of
// the same length. So the literals of a file stand in a hash table, and for each
// length that one of them has, the beginning of that length is looked up. Files
// have few lengths, and no more of them count than the selector has bytes: the
// number of rules does not matter. One pass over the selector gives the hashes
// of all its beginnings.
//
// Most beginnings are no pattern. A bloom filter says so from one word, in a
// branch that the processor guesses right; the table alone would miss its guess
// at every second slot.

// literals is the table.
type literals struct {
	lengths []int // ascending
	filter  []uint64
	slots   []tableSlot // open addressing, three in four are taken
}

// tableSlot is a place in the table. The tag, a part of the hash, saves looking at
// most patterns that happen to be in the way.
type tableSlot struct {
	ref ref
	tag uint32 // 0: empty
}

const (
	filterBits = 10 // for each literal: three in a hundred pass though they do not match
	hashFactor = 0x9e3779b97f4a7c15
)

// hashSeed keeps files from being made to collide.
var hashSeed = rand.Uint64()

func mix(h uint64) uint64 {
	hi, lo := bits.Mul64(h, hashFactor)
	return hi ^ lo
}

// scale maps a hash to 0 up to n-1.
func scale(h uint64, n int) int {
	hi, _ := bits.Mul64(h, uint64(n))
	return int(hi)
}

// prefixHash hashes the beginnings of a text, in ascending order of length.
type prefixHash[T text] struct {
	text  T
	done  int // bytes in state, a multiple of 8
	state uint64
}

// next returns the hash of the first n bytes.
func (p *prefixHash[T]) next(n int) uint64 {
	for ; p.done+8 <= n; p.done += 8 {
		p.state = mix(p.state ^ load(p.text[p.done:]))
	}
	return mix(p.state ^ p.tail(n-p.done) ^ uint64(n)*hashSeed)
}

// tail returns the n bytes behind state, n < 8.
func (p *prefixHash[T]) tail(n int) (word uint64) {
	rest := p.text[p.done:]
	if len(rest) >= 8 {
		return load(rest) & (1<<(8*n) - 1)
	}
	for i := range n {
		word |= uint64(rest[i]) << (8 * i)
	}
	return word
}

func load[T text](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// build makes the table from the text of each ref. If refs are the same, it keeps
// the first.
func (l *literals) build(refs []ref, text func(ref) string, same func(a, b ref) bool) {
	if len(refs) == 0 {
		return
	}
	l.slots = make([]tableSlot, len(refs)*4/3+1)
	l.filter = make([]uint64, len(refs)*filterBits/64+1)
	for _, r := range refs {
		t := text(r)
		if i, found := slices.BinarySearch(l.lengths, len(t)); !found {
			l.lengths = slices.Insert(l.lengths, i, len(t))
		}
		p := prefixHash[string]{text: t, state: hashSeed}
		l.insert(r, p.next(len(t)), func(other ref) bool { return same(other, r) && text(other) == t })
	}
}

func (l *literals) insert(r ref, hash uint64, known func(ref) bool) {
	tag := uint32(hash) | 1
	at := scale(hash, len(l.slots))
	for ; l.slots[at].tag != 0; at = l.after(at) {
		if l.slots[at].tag == tag && known(l.slots[at].ref) {
			return
		}
	}
	l.slots[at] = tableSlot{r, tag}
	word, mask := l.filterAt(hash)
	l.filter[word] |= mask
}

func (l *literals) filterAt(hash uint64) (word int, mask uint64) {
	return scale(hash, len(l.filter)), 1<<(hash&63) | 1<<(hash>>6&63) | 1<<(hash>>12&63)
}

func (l *literals) after(at int) int {
	if at++; at < len(l.slots) {
		return at
	}
	return 0
}

// prefixes calls fn for every ref whose text may be the first n bytes of the
// selector; fn must compare them.
func prefixes[T text](l *literals, selector T, fn func(r ref, n int)) {
	p := prefixHash[T]{text: selector, state: hashSeed}
	for _, n := range l.lengths {
		if n > len(selector) {
			return
		}
		hash := p.next(n)
		if word, mask := l.filterAt(hash); l.filter[word]&mask != mask {
			continue
		}
		tag := uint32(hash) | 1
		for at := scale(hash, len(l.slots)); l.slots[at].tag != 0; at = l.after(at) {
			if l.slots[at].tag == tag {
				fn(l.slots[at].ref, n)
			}
		}
	}
}
