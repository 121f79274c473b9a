package proof_test

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/policy/internal/proof"
)

// dir is a directory of a test's tree.
type dir struct {
	name  string
	files []string
	dirs  []*dir
	notes []proof.Note
}

func look(d *dir) (string, []string, []*dir, []proof.Note) { return d.name, d.files, d.dirs, d.notes }

// newTree makes a tree of files: their names, and what is in them if they are
// called .robots.
func newTree(files map[string]string) *dir {
	root := &dir{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d := root
		elems := strings.Split(name, "/")
		for _, elem := range elems[:len(elems)-1] {
			d = d.sub(elem)
		}
		switch base := path.Base(name); base {
		case ".robots":
			d.notes = append(d.notes, proof.Note{File: name, Data: []byte(files[name])})
		default:
			d.files = append(d.files, base)
		}
	}
	return root
}

func (d *dir) sub(name string) *dir {
	i, ok := slices.BinarySearchFunc(d.dirs, name, func(d *dir, name string) int { return strings.Compare(d.name, name) })
	if !ok {
		d.dirs = slices.Insert(d.dirs, i, &dir{name: name})
	}
	return d.dirs[i]
}

// closed answers as the server does: a directory without its slash, and whatever
// is escaped, if what it stands for is denied.
func closed(canonical, spelling string) bool {
	return strings.Contains(spelling, "%") && !strings.Contains(canonical, "%") ||
		strings.HasSuffix(canonical, "/") && !strings.HasSuffix(spelling, "/")
}

func input(root *dir, file string) proof.Input[*dir] {
	return proof.Input[*dir]{Root: root, Look: look, File: []byte(file), Closed: closed}
}

func check(root *dir, file string, prev *proof.Result[*dir]) *proof.Result[*dir] {
	return proof.Check(input(root, file), prev)
}

func leaks(in proof.Input[*dir]) (list []proof.Finding) {
	for _, f := range proof.Check(in, nil).Findings {
		if f.Leak {
			list = append(list, f)
		}
	}
	return list
}
