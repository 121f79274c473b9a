package proof_test

import (
	"reflect"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/policy/internal/prooftest"
	"pgregory.net/rapid"
)

// TestPrev changes a tree and its file here and there: what is taken over from
// before must not be seen in the result.
func TestPrev(t *testing.T) {
	defer proof.SetMinNode(1)()
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfNDistinct(rapid.SampledFrom(prooftest.Vile), 3, 8, rapid.ID[string]).Draw(t, "few")
		root := prooftest.DrawDir(t, "", 0, few)
		parts := []string{prooftest.DrawRules(t, few, false), prooftest.DrawRules(t, few, false), prooftest.DrawRules(t, few, false)}
		var prev *proof.Result[*prooftest.Dir]
		for range rapid.IntRange(2, 4).Draw(t, "changes") {
			file := "User-agent: *\n" + parts[0] + parts[1] + parts[2]
			prev = check(root, file, prev)
			if fresh := check(root, file, nil); !reflect.DeepEqual(prev.Rows, fresh.Rows) || !reflect.DeepEqual(prev.Findings, fresh.Findings) {
				t.Fatalf("with prev:\n%+v\n%+v\nwithout:\n%+v\n%+v\n%s", prev.Rows, prev.Findings, fresh.Rows, fresh.Findings, file)
			}
			if rapid.Bool().Draw(t, "tree") {
				root = prooftest.Change(t, root, few)
			} else {
				parts[rapid.IntRange(0, 2).Draw(t, "part")] = prooftest.DrawRules(t, few, false)
			}
		}
	})
}
