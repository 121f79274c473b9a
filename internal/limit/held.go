package limit

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Held counts the bytes of replies that are in memory, however many clients are
// sent one, and however slowly they read. The zero value is ready to use.
type Held struct{ bytes atomic.Int64 }

// Add counts a body that is not empty, and all of whose memory is its own, until
// nobody has it any more.
func (h *Held) Add(body []byte) {
	h.bytes.Add(int64(cap(body)))
	runtime.AddCleanup(&body[0], func(n int) { h.bytes.Add(int64(-n)) }, cap(body))
}

// Reached reports whether so many bytes are held. That something is not held any
// more is known when it was collected, and a little later.
func (h *Held) Reached(most int64) bool {
	if h.bytes.Load() < most {
		return false
	}
	runtime.GC()
	for range 100 {
		if h.bytes.Load() < most {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}
