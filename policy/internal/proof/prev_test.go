package proof_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/policy/internal/prooftest"
	"pgregory.net/rapid"
)

// TestPrev changes a tree and its file here and there: what is taken over from
// before must not be seen in the result.
func TestPrev(t *testing.T) {
	defer proof.SetMinNode(1)()
	for name, names := range map[string][]string{"plain": prooftest.Plain, "vile": prooftest.Vile} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				root, few := prooftest.DrawHost(t, names)
				parts := []string{prooftest.DrawRules(t, few, false), prooftest.DrawRules(t, few, false), prooftest.DrawRules(t, few, false)}
				results := []*proof.Result[*prooftest.Dir]{nil}
				for range rapid.IntRange(2, 5).Draw(t, "changes") {
					file := "User-agent: *\nAllow: /no/dir/\nDisallow: /no/dir/\n" + parts[0] + parts[1] + parts[2]
					prev := check(root, file, rapid.SampledFrom(results).Draw(t, "prev"))
					results = append(results, prev)
					if fresh := check(root, file, nil); !reflect.DeepEqual(prev.Rows, fresh.Rows) || !reflect.DeepEqual(prev.Findings, fresh.Findings) {
						t.Fatalf("with prev:\n%+v\nwithout:\n%+v\n%s\n%s", differ(prev.Findings, fresh.Findings), differ(fresh.Findings, prev.Findings), dumpTree(root, "/"), file)
					}
					i := rapid.IntRange(0, 2).Draw(t, "part")
					switch rapid.IntRange(0, 4).Draw(t, "change") {
					case 0:
						root = prooftest.Change(t, root, few)
					case 1:
						parts[i] = prooftest.DrawRules(t, few, false)
					case 2:
						parts[i] = withoutOne(t, parts[i])
					default:
						piece := rapid.SampledFrom(few)
						parts[i] += rapid.SampledFrom([]string{"Allow: /", "Disallow: /", "Disallow: "}).Draw(t, "field") + piece.Draw(t, "top") + "/" + piece.Draw(t, "name") + "\n"
					}
				}
			})
		})
	}
}

// withoutOne takes one line away.
func withoutOne(t *rapid.T, text string) string {
	lines := strings.SplitAfter(text, "\n")
	i := rapid.IntRange(0, len(lines)-1).Draw(t, "i")
	return strings.Join(slices.Delete(lines, i, i+1), "")
}

// differ returns what is in one list alone.
func differ(list, other []proof.Finding) []proof.Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f proof.Finding) bool {
		return slices.ContainsFunc(other, func(o proof.Finding) bool { return reflect.DeepEqual(f, o) })
	})
}
