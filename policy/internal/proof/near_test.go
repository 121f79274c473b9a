package proof

import (
	"sort"
	"testing"
)

func TestNear(t *testing.T) {
	asked := 0
	if got := near(0, 1<<40, 0, func(i int) bool { asked++; return i >= 1000 }); got != 1000 || asked > 30 {
		t.Errorf("%d, after %d questions", got, asked)
	}
	for hi := range 40 {
		for lo := range hi + 1 {
			for first := lo; first <= hi; first++ {
				is := func(i int) bool {
					if i < lo || i >= hi {
						t.Fatalf("asked for %d of %d to %d", i, lo, hi)
					}
					return i >= first
				}
				for at := range hi + 3 {
					if got, want := near(lo, hi, at, is), lo+sort.Search(hi-lo, func(i int) bool { return is(lo + i) }); got != want {
						t.Fatalf("near(%d, %d, %d): %d, not %d", lo, hi, at, got, want)
					}
				}
			}
		}
	}
}
