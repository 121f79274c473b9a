package robots

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

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// literals is the table.
type literals struct {
	lengths []int // ascending
	filter  []uint64
	slots   []slot // open addressing, three in four are taken
}

// slot is a place in the table. The tag, a part of the hash, saves looking at
// most patterns that happen to be in the way.
type slot struct {
	ref ref
	tag uint32 // 0: empty
}

const (
	filterBits = 10 // for each literal: three in a hundred pass in vain
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
type prefixHash struct {
	text  string
	done  int // bytes in state, a multiple of 8
	state uint64
}

// next gives the hash of the first n bytes.
func (p *prefixHash) next(n int) uint64 {
	for ; p.done+8 <= n; p.done += 8 {
		p.state = mix(p.state ^ load(p.text[p.done:]))
	}
	return mix(p.state ^ p.tail(n-p.done) ^ uint64(n)*hashSeed)
}

// tail gives the n bytes behind state, n < 8.
func (p *prefixHash) tail(n int) (word uint64) {
	rest := p.text[p.done:]
	if len(rest) >= 8 {
		return load(rest) & (1<<(8*n) - 1)
	}
	for i := range n {
		word |= uint64(rest[i]) << (8 * i)
	}
	return word
}

func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// build makes the table of what text gives for each ref. Of those that say the
// same the first is kept.
func (l *literals) build(refs []ref, text func(ref) string, same func(a, b ref) bool) {
	if len(refs) == 0 {
		return
	}
	l.slots = make([]slot, len(refs)*4/3+1)
	l.filter = make([]uint64, len(refs)*filterBits/64+1)
	for _, r := range refs {
		t := text(r)
		if i, found := slices.BinarySearch(l.lengths, len(t)); !found {
			l.lengths = slices.Insert(l.lengths, i, len(t))
		}
		p := prefixHash{text: t, state: hashSeed}
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
	l.slots[at] = slot{r, tag}
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
// selector; fn has to compare.
func (l *literals) prefixes(selector string, fn func(r ref, n int)) {
	p := prefixHash{text: selector, state: hashSeed}
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
