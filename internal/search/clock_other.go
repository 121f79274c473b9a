//go:build !linux

package search

import "time"

// threadClock returns a function that returns the time passed since, because only Linux reports
// the processor time of another thread.
func threadClock() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
