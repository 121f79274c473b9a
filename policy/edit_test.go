package policy

import (
	"reflect"
	"testing"

	"github.com/gophd/gophd/policy/internal/prooftest"
	"pgregory.net/rapid"
)

// TestEdits: what is taken over from the policy of an older tree is not seen in the
// file, in the reports or in the proof.
func TestEdits(t *testing.T) {
	for name, names := range map[string][]string{"plain": prooftest.Plain, "vile": prooftest.Vile} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				drawn, few := prooftest.DrawHost(t, names)
				made := map[*prooftest.Dir]*Dir{}
				prev := Compile(Input{Root: sharedTree(drawn, "/", made)}, nil)
				for range rapid.IntRange(1, 4).Draw(t, "edits") {
					drawn = prooftest.Change(t, drawn, few)
					root := sharedTree(drawn, "/", made)
					prev = Compile(Input{Root: root}, prev)
					fresh := Compile(Input{Root: root}, nil)
					if string(prev.File()) != string(fresh.File()) || !reflect.DeepEqual(prev.Reports(), fresh.Reports()) || !reflect.DeepEqual(prev.Proof(), fresh.Proof()) {
						t.Fatalf("after an edit:\n%sfrom the beginning:\n%s", dump(drawn, prev), dump(drawn, fresh))
					}
				}
			})
		})
	}
}

// sharedTree is drawnTree that makes each directory once.
func sharedTree(d *prooftest.Dir, sel string, made map[*prooftest.Dir]*Dir) *Dir {
	if made[d] != nil {
		return made[d]
	}
	dir := drawnTree(&prooftest.Dir{Name: d.Name, Files: d.Files, Text: d.Text, Err: d.Err}, sel)
	for _, sub := range d.Dirs {
		dir.Dirs = append(dir.Dirs, sharedTree(sub, sel+sub.Name+"/", made))
	}
	made[d] = dir
	return dir
}
