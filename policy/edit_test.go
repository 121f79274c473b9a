package policy

import (
	"fmt"
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

// TestEditsOfOthers: what is taken over holds only where a directory is the same, and is
// called the same; and what the server answers by itself, or by programs, may change.
func TestEditsOfOthers(t *testing.T) {
	big := &Dir{Name: "big"}
	for i := range 300 {
		big.Files = append(big.Files, fmt.Sprintf("%03d", i))
	}
	note := []*Annotation{{File: "d/.robots", Data: []byte("Disallow: /x\nDisallow: /caps.txt\nDisallow: /cgi/y\n")}}
	root := &Dir{Notes: []*Annotation{{File: ".robots", Data: []byte("Disallow: /*zz\nDisallow: /big/1\nDisallow: /caps.txt\nDisallow: /cgi/y\n")}}, Dirs: []*Dir{big, {Name: "d", Notes: note}}}
	first := Input{Root: root}
	moved := *root
	moved.Dirs = []*Dir{big, {Name: "e", Notes: note}}
	added := *root
	added.Dirs = []*Dir{{Name: "a"}, big, {Name: "d", Notes: note, Files: []string{"x"}}}
	prev := Compile(first, nil)
	for name, in := range map[string]Input{
		"the same":               first,
		"a directory is renamed": {Root: &moved},
		"a directory is added":   {Root: &added},
		"own selectors":          {Root: root, Own: []string{"/caps.txt", "/d/caps.txt"}},
		"programs":               {Root: root, Programs: []string{"/cgi", "/d/cgi"}},
	} {
		fresh, got := Compile(in, nil), prev
		for range 2 { // what was taken over is taken over again
			if got = Compile(in, got); string(got.File()) != string(fresh.File()) || !reflect.DeepEqual(got.Reports(), fresh.Reports()) {
				t.Errorf("%s:\n%s%v\nfrom the beginning:\n%s%v", name, got.File(), got.Reports(), fresh.File(), fresh.Reports())
			}
		}
	}
}

// TestEditCost: when one of 300 annotations is changed, what is made of the others is taken
// over.
func TestEditCost(t *testing.T) {
	host := hostOf(300, 1, "", private)
	prev, next := Compile(Input{Root: host}, nil), Input{Root: edited(host, 7)}
	all := testing.AllocsPerRun(1, func() { Compile(next, nil) })
	one := testing.AllocsPerRun(1, func() { Compile(next, prev) })
	if one > all/20 {
		t.Errorf("%v allocations of %v", one, all)
	}
}
