// Package limit is about what this process, or this machine, has too little of. It
// tells the errors that say so, no descriptors left or no memory, from those about
// the file that was asked for: they pass, so a caller that meets one tries again
// later and draws no conclusion from it. And it counts the memory of large replies
// ([Held]), so that there is a bound for it.
package limit

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

var passing = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}

// Reached reports whether an error is one of those.
func Reached(err error) bool {
	return slices.ContainsFunc(passing, func(e error) bool { return errors.Is(err, e) })
}

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
