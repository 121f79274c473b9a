package watch

import (
	"sync"
	"time"
)

// An author who changes much must not keep the others' changes waiting. So each
// top-level directory has a budget for handling its events. If a directory exceeds it,
// or has the most watches when the kernel refuses another one, it is not watched for a
// time: rounds find its changes.

// muchToWatch is the logged reason if a directory exceeds its budget.
const muchToWatch = "it changes too much to be watched"

// The budget of a top-level directory: an event costs 1, plus 1 for each name that it
// makes the Watcher watch or forget.
const (
	shareBurst = 30_000 // at once
	shareRate  = 300    // and on average, in a second
)

// For how long a directory is not watched.
const (
	aWhile     = 30 * time.Second // that has used up its share
	aLongWhile = 5 * time.Minute  // that has too many watches
)

// share holds the rest of the budget of a top-level directory.
type share struct {
	left float64
	at   time.Time
}

// budget holds the shares, and the end of the pause of each directory that is not
// watched.
type budget struct {
	mu          sync.Mutex
	shares      map[string]*share
	ignored     map[string]time.Time
	logged      map[string]bool
	burst, rate float64
	now         func() time.Time
}

func newBudget() *budget {
	return &budget{shares: map[string]*share{}, ignored: map[string]time.Time{}, logged: map[string]bool{}, burst: shareBurst, rate: shareRate, now: time.Now}
}

// ignore stops the watching of a top-level directory for a time, and reports whether
// this is the first time.
func (b *budget) ignore(top string, d time.Duration) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ignored[top] = b.now().Add(d)
	first = !b.logged[top]
	b.logged[top] = true
	return first
}

// ignores reports whether a name is in such a directory.
func (b *budget) ignores(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ignored) > 0 && !b.ignored[top(name)].IsZero()
}

// over returns the directories that can be watched again.
func (b *budget) over() (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, until := range b.ignored {
		if b.now().After(until) {
			delete(b.ignored, name)
			names = append(names, name)
		}
	}
	return names
}

// charge takes from the share of a top-level directory, and reports whether it
// has used it up.
func (b *budget) charge(top string, cost int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	s := b.shares[top]
	if s == nil {
		if len(b.shares) >= 10_000 {
			clear(b.shares) // in favour of all
		}
		s = &share{left: b.burst, at: now}
		b.shares[top] = s
	}
	s.left = min(b.burst, s.left+now.Sub(s.at).Seconds()*b.rate) - float64(cost)
	s.at = now
	if s.left >= 0 {
		return false
	}
	delete(b.shares, top)
	return true
}
