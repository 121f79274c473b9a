package watch

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSettle: silence ends the wait, and without silence the time that the last batch
// took, within bounds.
func TestSettle(t *testing.T) {
	for _, test := range []struct{ every, took, want time.Duration }{
		{time.Second, 0, quiet},
		{time.Second, time.Second, quiet},
		{quiet / 2, 0, shortest},
		{quiet / 2, 120 * time.Millisecond, 120 * time.Millisecond},
		{quiet / 2, time.Second, longest},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPending()
			done := make(chan struct{})
			go func() {
				for {
					select {
					case <-done:
						return
					case <-time.After(test.every):
						p.dir("d")
					}
				}
			}()
			start := time.Now()
			p.settle(t.Context(), test.took)
			if got := time.Since(start); got != test.want {
				t.Errorf("changes every %v, %v for the last batch: waited %v, not %v", test.every, test.took, got, test.want)
			}
			close(done)
		})
	}
}
