package stall

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// That a goroutine which comes back from a system call has to wait for others of
// this process is no fault of a file system either.
func TestBusyProcessIsNoStall(t *testing.T) {
	var stop atomic.Bool
	var all sync.WaitGroup
	for range 40 * runtime.GOMAXPROCS(0) { // each runs for 10 ms at a time
		all.Go(func() {
			for !stop.Load() {
				continue
			}
		})
	}
	g := &Guard{Timeout: 200 * time.Millisecond}
	var ops sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		ops.Go(func() {
			_, err := Do(g, name, func() (int, error) {
				long := unix.NsecToTimespec(int64(30 * time.Millisecond)) // so that others get its processor
				_ = unix.Nanosleep(&long, nil)
				return 0, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	ops.Wait()
	stop.Store(true)
	all.Wait()
}
