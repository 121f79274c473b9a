package tally

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTop(t *testing.T) {
	var top Top[int]
	for _, k := range []int{1, 1, 1, 1, 2, 2} {
		top.Add(k)
	}
	for k := range 2*size - 1 { // the last ones continue the count of dropped keys
		top.Add(1000 + k)
	}
	top.Add(3)
	top.Add(3)
	got := top.List(2)
	want := []Count[int]{{1, 4}, {3, 3}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if all := top.List(9 * size); len(all) != size {
		t.Errorf("%d are listed", len(all))
	}
}

// TestHeavyAreKept: a key that is more than 1/size of all is there, and no count
// is too low, whatever else comes in between.
func TestHeavyAreKept(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var top Top[int]
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
		for _, c := range top.List(size) {
			kept[c.Key] = c.Times
			if c.Times < exact[c.Key] {
				t.Errorf("seed %d: %d is counted %d times, came %d", seed, c.Key,
					c.Times, exact[c.Key])
			}
		}
		for key, n := range exact {
			if n > all/size && kept[key] == 0 {
				t.Errorf("seed %d: %d came %d of %d times and is not kept", seed, key, n, all)
			}
		}
		if len(top.counts) > 2*size {
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
