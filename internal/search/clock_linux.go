package search

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock returns a function that returns the processor time that the calling thread has
// used since. Any thread may call the function.
func threadClock() func() time.Duration {
	id := int32(^unix.Gettid()<<3 | 6) // clock_getcpuclockid(3) for a thread
	now := func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(id, &t)
		return time.Duration(t.Nano())
	}
	start := now()
	return func() time.Duration { return now() - start }
}
