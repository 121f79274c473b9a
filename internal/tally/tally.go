// Package tally counts how often each key comes, in bounded memory: the
// keys that come most often are surely among those it keeps, however many others
// there are. It is good for lists of the worst offenders; do not use it where every
// count must be exact.
package tally

// The algorithm is Space-Saving (Metwally, Agrawal, El Abbadi 2005). A kept key is
// counted. If there is no room for a new key, it replaces the key with the lowest count
// and continues that count. So no count is too low, and a key that came more often than
// every dropped count is kept.

import (
	"cmp"
	"slices"
	"sync"
)

// Top keeps the keys that come most often. The zero value is ready to use.
type Top[K comparable] struct {
	// Size is how many keys are kept. If zero, 100.
	Size int

	mu     sync.Mutex
	counts map[K]int64
}

// Count is a key and how often it came, at most.
type Count[K comparable] struct {
	Key   K
	Times int64
}

func (t *Top[K]) size() int {
	if t.Size <= 0 {
		return 100
	}
	return t.Size
}

// Add counts a key.
func (t *Top[K]) Add(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[K]int64{}
	}
	if _, kept := t.counts[key]; !kept && len(t.counts) >= t.size() {
		least := t.least()
		t.counts[key] = least.Times
		delete(t.counts, least.Key)
	}
	t.counts[key]++
}

func (t *Top[K]) least() (least Count[K]) {
	for k, n := range t.counts {
		if least.Times == 0 || n < least.Times {
			least = Count[K]{k, n}
		}
	}
	return least
}

// List returns the keys that came most often, at most n, the most often first.
func (t *Top[K]) List(n int) []Count[K] {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Count[K], 0, len(t.counts))
	for k, times := range t.counts {
		all = append(all, Count[K]{k, times})
	}
	slices.SortFunc(all, func(a, b Count[K]) int { return cmp.Compare(b.Times, a.Times) })
	return all[:min(n, len(all))]
}
