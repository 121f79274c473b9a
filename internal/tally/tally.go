// Package tally counts how often each key comes, in bounded memory: the
// keys that come most often are surely among those it keeps, however many others
// there are. It is good for lists of the worst offenders; do not use it where every
// count must be exact.
package tally

// The algorithm is Space-Saving (Metwally, Agrawal, El Abbadi 2005), with twice the room, so that
// low counts are dropped many at a time. A kept key is counted. If there is no room for a new
// key, the half with the lowest counts is dropped; new keys then continue the highest of these.
// So no count is too low, and a key that came more often than every dropped count is kept.

import (
	"cmp"
	"slices"
	"sync"
)

// size is how many keys are kept.
const size = 100

// Top keeps the keys that come most often. The zero value is ready to use.
type Top[K comparable] struct {
	mu     sync.Mutex
	counts map[K]int64
	base   int64 // the highest count of a dropped key
}

// Count is a key and how often it came, at most.
type Count[K comparable] struct {
	Key   K
	Times int64
}

// Add counts a key.
func (t *Top[K]) Add(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[K]int64{}
	}
	if _, kept := t.counts[key]; !kept {
		if len(t.counts) >= 2*size {
			dropped := t.sorted()[size:]
			t.base = dropped[0].Times
			for _, c := range dropped {
				delete(t.counts, c.Key)
			}
		}
		t.counts[key] = t.base
	}
	t.counts[key]++
}

// sorted returns all keys, in descending order of their counts.
func (t *Top[K]) sorted() []Count[K] {
	all := make([]Count[K], 0, len(t.counts))
	for k, times := range t.counts {
		all = append(all, Count[K]{k, times})
	}
	slices.SortFunc(all, func(a, b Count[K]) int { return cmp.Compare(b.Times, a.Times) })
	return all
}

// List returns the keys that came most often, at most n, the most often first.
func (t *Top[K]) List(n int) []Count[K] {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.sorted()
	return all[:min(n, size, len(all))]
}
