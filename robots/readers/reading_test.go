package readers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestManyNames compares what binds a robot with what binds it among all groups, in
// files of so many names that groups are looked up.
func TestManyNames(t *testing.T) {
	parts := []string{"a", "b", "ab", "ba", "bot", "aab", "foo", "foobot", "A", "B/1.0", "a b", "*",
		"%61", "", "x, y", "*a*"}
	bound := 0
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 60))
		one := func() string { return parts[rnd.IntN(len(parts))] + parts[rnd.IntN(len(parts))] }
		var b strings.Builder
		for i := range 2 * manyNames {
			for range 1 + rnd.IntN(3) {
				fmt.Fprintf(&b, "User-agent: %s\n", one())
			}
			fmt.Fprintf(&b, "User-agent: bot%d\nDisallow: /%d\n", i, i)
			b.WriteString([]string{"", "\n"}[rnd.IntN(2)])
		}
		file := Open([]byte(b.String()))
		for _, r := range All() {
			all := r.Group(b.String())
			for range 30 {
				robot := one() + parts[rnd.IntN(5)]
				if r.Agent != "" {
					robot = r.Agent
				}
				groups, _ := r.Choose(all, robot)
				want := r.RulesOf(all, groups)
				if got := r.Rules(file, robot); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %s, %q: %v, not %v", seed, r.Name, robot, got, want)
				}
				if len(want) > 0 && len(want) < len(all.Groups)/2 {
					bound++
				}
			}
		}
	}
	if bound < 1000 {
		t.Errorf("%d robots are bound by some groups", bound)
	}
}
