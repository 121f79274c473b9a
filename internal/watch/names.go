package watch

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// names maps names to files, and files to their names.
type names struct {
	root  string              // absolute
	trees map[string]string   // directories, by name
	dirs  map[string][]string // names, by directory
}

func newNames(root string, trees map[string]string) *names {
	n := &names{
		root:  root,
		trees: make(map[string]string),
		dirs:  make(map[string][]string),
	}
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		dir := filepath.Clean(trees[name])
		n.trees[name] = dir
		n.dirs[dir] = append(n.dirs[dir], name)
	}
	return n
}

// all returns the directories of the root, which is ".", and of the trees, by name.
func (n *names) all() map[string]string {
	dirs := maps.Clone(n.trees)
	dirs["."] = n.root
	return dirs
}

// file returns the file that a name refers to.
func (n *names) file(name string) string {
	for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '/') {
		if dir, ok := n.trees[name[:end]]; ok {
			return filepath.Join(dir, filepath.FromSlash(name[end:]))
		}
	}
	return filepath.Join(n.root, filepath.FromSlash(name))
}

// of returns the names of a file, none if it is in no tree.
func (n *names) of(file string) (all []string) {
	if rel, err := filepath.Rel(n.root, file); err == nil && filepath.IsLocal(rel) {
		all = append(all, filepath.ToSlash(rel))
	}
	for end := len(file); end > 0; end = strings.LastIndexByte(file[:end], filepath.Separator) {
		for _, name := range n.dirs[file[:end]] {
			all = append(all, name+filepath.ToSlash(file[end:]))
		}
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return n.file(name) != file
	}) // hidden by a tree
}

// isTree reports whether a tree, or the root, has this very name.
func (n *names) isTree(name string) bool {
	return name == "." || n.trees[name] != ""
}

// top returns the first element of a name: its owner has a share of
// the watches, and of the time that changes may take.
func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// hidden reports whether a directory with this base name is never served.
func hidden(base string) bool { return strings.HasPrefix(base, ".") }
