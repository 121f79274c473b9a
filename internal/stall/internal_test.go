package stall

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestLateTicks: an operation is taken as hanging after so many ticks, however late they come.
func TestLateTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Guard
		op, err := g.Enter("d/x")
		hangs := func() bool {
			op, err := g.Enter("d/x")
			op.Leave()
			return err != nil
		}
		if op.timer.Stop(); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= ticks; n++ {
			if hangs() {
				t.Fatalf("unanswered after %d ticks, for what the machine was busy with", n)
			}
			time.Sleep(3 * DefaultTimeout) // nobody gets his turn
			op.tick()
			op.timer.Stop()
		}
		if !hangs() {
			t.Error("not unanswered, though it does not answer")
		}
	})
}
