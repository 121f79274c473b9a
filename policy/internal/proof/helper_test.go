package proof_test

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/policy/internal/prooftest"
)

func name(d *prooftest.Dir) string { return d.Name }

func look(d *prooftest.Dir) ([]string, []*prooftest.Dir, []proof.Note) {
	if d.Text == "" && d.Err == nil {
		return d.Files, d.Dirs, nil
	}
	return d.Files, d.Dirs, []proof.Note{{File: d.Name + "/.robots", Data: []byte(d.Text), Err: d.Err}}
}

// newTree makes a tree of files: their names, and what is in them if they are
// called .robots.
func newTree(files map[string]string) *prooftest.Dir {
	root := &prooftest.Dir{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d := root
		elems := strings.Split(name, "/")
		for _, elem := range elems[:len(elems)-1] {
			d = sub(d, elem)
		}
		switch base := path.Base(name); base {
		case ".robots":
			d.Text = files[name]
		default:
			d.Files = append(d.Files, base)
		}
	}
	return root
}

func sub(d *prooftest.Dir, name string) *prooftest.Dir {
	i, ok := slices.BinarySearchFunc(d.Dirs, name, func(d *prooftest.Dir, name string) int { return strings.Compare(d.Name, name) })
	if !ok {
		d.Dirs = slices.Insert(d.Dirs, i, &prooftest.Dir{Name: name})
	}
	return d.Dirs[i]
}

// closed answers as the server does: a directory without its slash, and whatever
// is escaped, if what it stands for is denied.
func closed(canonical, spelling string) bool {
	return strings.Contains(spelling, "%") && !strings.Contains(canonical, "%") ||
		strings.HasSuffix(canonical, "/") && !strings.HasSuffix(spelling, "/")
}

func input(root *prooftest.Dir, file string) proof.Input[*prooftest.Dir] {
	return proof.Input[*prooftest.Dir]{Root: root, Name: name, Look: look, File: []byte(file), Closed: closed}
}

func check(root *prooftest.Dir, file string, prev *proof.Result[*prooftest.Dir]) *proof.Result[*prooftest.Dir] {
	return proof.Check(input(root, file), prev)
}

func leaks(in proof.Input[*prooftest.Dir]) (list []proof.Finding) {
	for _, f := range proof.Check(in, nil).Findings {
		if f.Leak {
			list = append(list, f)
		}
	}
	return list
}
