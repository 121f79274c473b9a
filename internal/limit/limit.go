// Package limit handles resources that run out: descriptors and memory. [Reached]
// recognises errors that mean a lack of them, as opposed to errors about a file. They are
// temporary: a caller must try again later and draw no conclusion about the file. [Held]
// counts the memory of large replies, so that it can be bounded.
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

// Add counts a body until it is garbage. The body must not be empty, and must not share
// its memory.
func (h *Held) Add(body []byte) {
	h.bytes.Add(int64(cap(body)))
	runtime.AddCleanup(&body[0], func(n int) { h.bytes.Add(int64(-n)) }, cap(body))
}

// Reached reports whether at least most bytes are held. If so, it first waits a little for
// replies to be sent, and collects garbage.
func (h *Held) Reached(most int64) bool {
	if h.bytes.Load() < most {
		return false
	}
	for wait := range 500 {
		if wait%100 == 0 {
			runtime.GC()
		}
		if h.bytes.Load() < most {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}
