//go:build !linux

package search

import "time"

// threadClock returns a function that reports the time since: other systems do not tell
// what a thread has taken.
func threadClock() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
