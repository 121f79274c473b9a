package proof_test

import (
	"fmt"
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

// TestLinesMove puts lines in front of others, in the file and in a group before
// theirs: directories that the others are about are not looked at again.
func TestLinesMove(t *testing.T) {
	defer proof.SetMinNode(1)()
	const dirs = 20
	pub := &prooftest.Dir{Name: "pub"}
	var slash, bare string
	for i := range dirs {
		d := &prooftest.Dir{Name: fmt.Sprintf("d%02d", i), Files: []string{"a", "b"}, Text: "Disallow: /a\n"}
		slash, bare = slash+"Disallow: /pub/"+d.Name+"/a\n", bare+"Disallow: pub/"+d.Name+"/a\n"
		pub.Dirs = append(pub.Dirs, d)
	}
	root := &prooftest.Dir{Dirs: []*prooftest.Dir{pub}}
	looks := 0
	in := input(root, "User-agent: *\n"+slash+bare)
	in.Look = func(d *prooftest.Dir) ([]string, []*prooftest.Dir, []proof.Note) {
		looks++
		return look(d)
	}
	first := proof.Check(in, nil)

	d00, moved := *pub.Dirs[0], *pub
	d00.Text += "Disallow: /b\n"
	moved.Dirs = append([]*prooftest.Dir{&d00}, pub.Dirs[1:]...)
	in.Root, looks = &prooftest.Dir{Dirs: []*prooftest.Dir{&moved}}, 0
	in.File = []byte("User-agent: *\nDisallow: /pub/d00/b\n" + slash + "Disallow: pub/d00/b\n" + bare)
	if proof.Check(in, first); looks >= dirs {
		t.Errorf("after one directory has changed %d of %d are looked at", looks, dirs)
	}

	d00.Text = "Disallow: /a\nUser-agent: bot1\nDisallow: /b\nUser-agent: bot2\nDisallow: /c\n"
	group := func(robot, name string) string {
		return "User-agent: " + robot + "\nDisallow: /pub/d00/" + name + "\n" + strings.TrimPrefix(slash, "Disallow: /pub/d00/a\n") +
			"Disallow: pub/d00/" + name + "\n" + strings.TrimPrefix(bare, "Disallow: pub/d00/a\n") + "\n"
	}
	in.File = []byte(group("bot1", "b") + group("bot2", "c") + "User-agent: *\n" + slash + bare)
	looks = 0
	if proof.Check(in, nil); looks >= 4*dirs { // all are counted, and looked at for everybody and for bot1
		t.Errorf("%d looks at %d directories, all but one of which are the same to two robots", looks, dirs)
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
