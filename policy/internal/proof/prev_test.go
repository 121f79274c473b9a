package proof_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"pgregory.net/rapid"
)

// TestPrev changes a tree and its file here and there: what is taken over from
// before must not be seen in the result.
func TestPrev(t *testing.T) {
	defer proof.SetMinNode(1)()
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfNDistinct(rapid.SampledFrom(vile), 3, 8, rapid.ID[string]).Draw(t, "few")
		root := drawDir(t, "", 0, few)
		parts := []string{drawRules(t, few, false), drawRules(t, few, false), drawRules(t, few, false)}
		var prev *proof.Result[*dir]
		for range rapid.IntRange(2, 4).Draw(t, "changes") {
			file := "User-agent: *\n" + parts[0] + parts[1] + parts[2]
			prev = check(root, file, prev)
			if fresh := check(root, file, nil); !reflect.DeepEqual(prev.Rows, fresh.Rows) || !reflect.DeepEqual(prev.Findings, fresh.Findings) {
				t.Fatalf("with prev:\n%+v\n%+v\nwithout:\n%+v\n%+v\n%s", prev.Rows, prev.Findings, fresh.Rows, fresh.Findings, file)
			}
			if rapid.Bool().Draw(t, "tree") {
				root = changed(t, root, few)
			} else {
				parts[rapid.IntRange(0, 2).Draw(t, "part")] = drawRules(t, few, false)
			}
		}
	})
}

// changed makes a directory of the tree again and shares the others.
func changed(t *rapid.T, d *dir, few []string) *dir {
	if len(d.dirs) > 0 && rapid.IntRange(0, 2).Draw(t, "below") > 0 {
		i := rapid.IntRange(0, len(d.dirs)-1).Draw(t, "i")
		next := *d
		next.dirs = slices.Clone(d.dirs)
		next.dirs[i] = changed(t, d.dirs[i], few)
		return &next
	}
	return drawDir(t, d.name, 2, few)
}
