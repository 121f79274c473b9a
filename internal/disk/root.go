// Package disk opens files below directories, and never leaves those directories, even
// if symbolic links are exchanged meanwhile. It knows neither policy nor requests.
//
//	name → Root: which Tree → if there is a link on the way: walk → openat2(2)
package disk

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophd/gophd/selector"
)

// A Root is everything that a site serves, under its names: the tree of its root
// directory, and other trees below names of their own. It never changes after it
// was made. Symbolic links are followed here, one by one, only where they stay in
// their tree. A link in the root directory's tree may also lead into another tree, since
// only the administrator can make one there.
type Root struct {
	Main  *Tree
	Trees map[string]*Tree    // by name, such as "~bob"
	byDir map[string][]string // names of trees, "." too, by directory
	kids  map[string][]string // base names of trees, sorted, by the directory that they appear in
}

// With returns a root with other trees besides its main one.
func (r *Root) With(trees map[string]*Tree) *Root {
	next := &Root{
		Main:  r.Main,
		Trees: trees,
		byDir: map[string][]string{},
		kids:  map[string][]string{},
	}
	add := func(name string, t *Tree) {
		next.byDir[t.real] = append(next.byDir[t.real], name)
		if t.Dir != t.real {
			next.byDir[t.Dir] = append(next.byDir[t.Dir], name)
		}
	}
	add(".", r.Main)
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		add(name, trees[name])
		next.kids[path.Dir(name)] = append(next.kids[path.Dir(name)], path.Base(name))
	}
	return next
}

// At returns the tree that contains a name, the tree's own name, and the rest of the name below it.
func (r *Root) At(name string) (t *Tree, top, rest string) {
	if len(r.Trees) > 0 {
		for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '/') {
			if t := r.Trees[name[:end]]; t != nil {
				if end == len(name) {
					return t, name, "."
				}
				return t, name[:end], name[end+1:]
			}
		}
	}
	return r.Main, ".", name
}

// IsTop reports whether a real directory is the top of a tree.
func (r *Root) IsTop(real string) bool {
	return real == "." || r.Trees[real] != nil
}

// Lstat returns the revision of a name. Only its last element may be a link.
func (r *Root) Lstat(call Caller, name string) (s Revision, err error) {
	t, _, rest := r.At(name)
	err = call(name, func() (err error) { s, err = t.files.stat(rest); return err })
	if err == nil && isWithheld(s) {
		err = errWithheld
	}
	return s, err
}

// Owned reports whether a file has an owner whose files its tree serves.
func (r *Root) Owned(name string, s Revision) bool {
	t, _, _ := r.At(name)
	return t.serves(int(s.Owner))
}

// inside turns the absolute target of a link into a name. A link may lead into its own
// tree, and from the root directory's tree into any; ok is false for other targets.
func (r *Root) inside(from *Tree, target string) (name string, ok bool) {
	target = filepath.Clean(target)
	for dir := target; ; dir = filepath.Dir(dir) {
		for _, top := range r.byDir[dir] {
			if in, _, _ := r.At(top); in == from || from == r.Main {
				rest := strings.TrimPrefix(strings.TrimPrefix(target, dir), "/")
				return selector.Join(top, cmp.Or(rest, ".")), true
			}
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// Same returns the other name of a file in a mount whose directory another tree contains, too,
// or "". The root directory's tree comes first; of mounts of one directory, the first name in byte
// order has no other.
func (r *Root) Same(name string) (same string) {
	t, mount, below := r.At(name)
	if mount == "." || t.Owner != AnyOwner {
		return ""
	}
	for dir := t.real; ; dir = filepath.Dir(dir) {
		for _, top := range r.byDir[dir] {
			rest := strings.TrimPrefix(strings.TrimPrefix(t.real, dir), "/")
			other := path.Join(top, rest)
			in, at, _ := r.At(other)
			if at != top || in.Owner != AnyOwner || rest == "" && top >= mount ||
				!selector.AskableName(other) {
				continue
			}
			if other = path.Join(other, below); top == "." {
				return other
			}
			same = cmp.Or(same, other)
		}
		if dir == filepath.Dir(dir) {
			return same
		}
	}
}

// Overlay returns the trees that appear in a directory, all of them or only the listed ones, and
// what they leave of a list of the directory: the disk does not know them.
func (r *Root) Overlay(list []Dirent, real string, all bool) (rest, kids []Dirent) {
	hidden := map[string]bool{}
	for _, base := range r.kids[real] {
		if all || r.Trees[selector.Join(real, base)].Listed {
			kids = append(kids, Dirent{Base: base, Mode: fs.ModeDir})
			hidden[base] = true
		}
	}
	if len(kids) > 0 {
		list = slices.DeleteFunc(list, func(e Dirent) bool { return hidden[e.Base] })
	}
	return list, kids
}

// Close closes all trees. They must not be in use.
func (r *Root) Close() {
	r.Main.Close()
	for _, t := range r.Trees {
		t.Close()
	}
}
