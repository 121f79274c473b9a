package tally

import (
	"math/rand/v2"
	"testing"
)

func TestTop(t *testing.T) {
	top := Top[string]{Size: 2}
	for _, k := range []string{"a", "a", "a", "a", "b", "c", "d", "e", "e"} { // e continues the count of a dropped key
		top.Add(k)
	}
	got := top.List(9)
	if len(got) != 2 || got[0] != (Count[string]{"a", 4}) || got[1] != (Count[string]{"e", 3}) {
		t.Errorf("got %v", got)
	}
	if got := top.List(1); len(got) != 1 {
		t.Errorf("List(1) has %v", got)
	}
}

// TestHeavyAreKept: a key that is more than 1/Size of all is there, and no count
// is too low, whatever else comes in between.
func TestHeavyAreKept(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var top Top[int]
		top.Size = 10
		exact := map[int]int64{}
		const all = 5000
		for i := range all {
			key := 1000 + i // comes once
			if r.IntN(3) == 0 {
				key = r.IntN(2)
			}
			exact[key]++
			top.Add(key)
		}
		kept := map[int]int64{}
		for _, c := range top.List(10) {
			kept[c.Key] = c.Times
			if c.Times < exact[c.Key] {
				t.Errorf("seed %d: %d is counted %d times, came %d", seed, c.Key,
					c.Times, exact[c.Key])
			}
		}
		for key, n := range exact {
			if n > all/10 && kept[key] == 0 {
				t.Errorf("seed %d: %d came %d of %d times and is not kept", seed, key, n, all)
			}
		}
		if len(top.counts) > 2*top.Size {
			t.Errorf("seed %d: %d are kept", seed, len(top.counts))
		}
	}
}

func BenchmarkAddStrangers(b *testing.B) {
	var top Top[int]
	for i := 0; b.Loop(); i++ {
		top.Add(i)
	}
}
