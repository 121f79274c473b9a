package site

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/policy"
)

// Dir is a directory of the tree that the server answers for. It never changes
// after it was made: a change makes new ones on the way to the root and shares
// the rest.
type Dir struct {
	Name   string               // the last element; "" for the root
	Files  []string             // names of served files, sorted, with Config.Names
	Dirs   []*Dir               // sorted by Name
	Notes  []*policy.Annotation // robots.txt at the top of a tree, and .robots
	Strays []string             // files that are almost called so, and are not read
}

// Has reports whether there is a resource below d: a directory or a file, if the names
// of files were kept. The
// name is a path, "." for d itself.
func (d *Dir) Has(name string, dir bool) bool {
	if dir {
		return d.find(name) != nil
	}
	slash := strings.LastIndexByte(name, '/') + 1
	in, file := d.find(name[:slash]), name[slash:]
	if in == nil {
		return false
	}
	_, ok := slices.BinarySearch(in.Files, file)
	return ok
}

// find returns the directory of a path, nil if there is none.
func (d *Dir) find(name string) *Dir {
	for name != "." && name != "" && d != nil {
		first, rest, _ := strings.Cut(name, "/")
		d, name = child(d, first), rest
	}
	return d
}

// each calls fn for d and every directory below.
func (d *Dir) each(name string, fn func(name string, d *Dir)) {
	fn(name, d)
	for _, sub := range d.Dirs {
		sub.each(strings.TrimPrefix(name+"/"+sub.Name, "./"), fn)
	}
}

// annotations returns the annotations of d and all directories below.
func (d *Dir) annotations() (list []policy.Annotation) {
	d.each(".", func(_ string, d *Dir) {
		for _, a := range d.Notes {
			list = append(list, *a)
		}
	})
	return list
}
