package search

import (
	"bytes"
	"hash/maphash"
)

// term is one word that some text holds.
type term struct {
	word  uint32 // where it is, in chars
	long  uint8  // bytes of it
	times uint8  // in the text that is being added
	in    uint32 // that text's number, plus one
	texts list
}

// terms are all terms, numbered from 0, and a hash table of their numbers: a map
// with strings took two and a half times as much memory. Nothing in it has a
// pointer that the garbage collector would follow, and nothing is copied when it
// grows but the table.
type terms struct {
	seed   maphash.Seed
	table  []uint32 // numbers plus one, at the place of their hash or after it
	blocks [][]term
	n      int
	chars  arena
}

// blockBits and blockSize are how many terms lie together.
const (
	blockBits = 12
	blockSize = 1 << blockBits
)

func (t *terms) len() int { return t.n }

// size is what the terms take, in bytes.
func (t *terms) size() int64 {
	const one = 40
	return int64(4*len(t.table)) + int64(len(t.blocks))*blockSize*one + t.chars.size()
}

// at returns a term by its number.
func (t *terms) at(i uint32) *term { return &t.blocks[i>>blockBits][i&(blockSize-1)] }

func (t *terms) word(i uint32) []byte {
	e := t.at(i)
	return t.chars.at(e.word)[:e.long]
}

// find returns the term of a word, nil if there is none. If add is set it makes
// one.
func (t *terms) find(word []byte, add bool) *term {
	if add && 4*t.n >= 3*len(t.table) {
		t.grow()
	}
	if t.n == 0 && !add {
		return nil
	}
	mask := uint64(len(t.table) - 1)
	for at := maphash.Bytes(t.seed, word) & mask; ; at = (at + 1) & mask {
		i := t.table[at]
		switch {
		case i == 0 && add:
			t.table[at] = uint32(t.n) + 1
			return t.add(word)
		case i == 0:
			return nil
		case bytes.Equal(t.word(i-1), word):
			return t.at(i - 1)
		}
	}
}

func (t *terms) add(word []byte) *term {
	if t.n&(blockSize-1) == 0 {
		t.blocks = append(t.blocks, make([]term, blockSize))
	}
	at := t.chars.slice(uint32(len(word)))
	copy(t.chars.at(at), word)
	t.n++
	e := t.at(uint32(t.n - 1))
	e.word, e.long = at, uint8(len(word))
	return e
}

func (t *terms) grow() {
	if t.n == 0 {
		t.seed = maphash.MakeSeed()
	}
	t.table = make([]uint32, max(1<<10, 2*len(t.table)))
	mask := uint64(len(t.table) - 1)
	for i := range uint32(t.n) {
		at := maphash.Bytes(t.seed, t.word(i)) & mask
		for t.table[at] != 0 {
			at = (at + 1) & mask
		}
		t.table[at] = i + 1
	}
}
