package status

import "sync/atomic"

// What is counted for each minute of the last hour.
const (
	asked   = iota // requests
	failed         // requests that were not answered as they were meant
	fetched        // of robots.txt
	counted
)

// hour counts by minutes, in a ring: a slot belongs to the minute that it was last
// written in. Two that begin a minute at once may lose a count. The zero value is
// ready to use.
type hour [60]struct {
	minute atomic.Int64 // since 1970
	counts [counted]atomic.Int64
}

// add counts one in a minute.
func (h *hour) add(minute int64, what int) {
	slot := &h[minute%int64(len(h))]
	if then := slot.minute.Load(); then != minute && slot.minute.CompareAndSwap(then, minute) {
		for i := range slot.counts {
			slot.counts[i].Store(0)
		}
	}
	slot.counts[what].Add(1)
}

// list returns the counts of the hour that ends with a minute, the oldest first.
func (h *hour) list(minute int64, what int) (counts [60]int64) {
	for i := range counts {
		m := minute - int64(len(counts)-1-i)
		if slot := &h[m%int64(len(h))]; slot.minute.Load() == m {
			counts[i] = slot.counts[what].Load()
		}
	}
	return counts
}
