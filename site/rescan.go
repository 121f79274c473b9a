package site

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// rescan reads the given real directories of a tree again and returns the new
// tree. Directories that are not read again, or have not changed, are shared with the
// old tree; if nothing has changed, rescan returns the old tree.
func (s *scanner) rescan(tree *Dir, dirs []string) *Dir {
	changed := make(map[string]bool, len(dirs))
	again := map[place]bool{}
	for _, dir := range dirs {
		changed[dir] = true
		again[place{dir, dir}] = true
		for name, real := range s.placed {
			if rest, in := below(dir, real); in {
				again[place{path.Join(name, rest), dir}] = true
			}
		}
	}
	for dir, l := range s.links {
		if slices.ContainsFunc(l.via, func(d string) bool { return changed[d] }) {
			again[s.placeOf(dir)] = true
		}
	}

	// A directory that its parent has just read for the first time is not read again.
	before := tree
	for _, p := range slices.SortedFunc(maps.Keys(again), func(a, b place) int { return strings.Compare(a.name, b.name) }) {
		old := tree.Find(p.name)
		if old == nil || old != before.Find(p.name) {
			continue
		}
		if d, _ := s.dir(p, old); d != old {
			tree = tree.with(p.name, d)
		}
	}
	return s.findAliases(tree)
}

// placeOf returns where a directory of the tree is.
func (s *scanner) placeOf(name string) place {
	for placed, real := range s.placed {
		if rest, in := below(name, placed); in {
			return place{name, path.Join(real, rest)}
		}
	}
	return place{name, name}
}

// below returns the way from a directory down to d.
func below(d, top string) (string, bool) {
	switch {
	case d == top:
		return ".", true
	case top == ".":
		return d, true
	}
	return strings.CutPrefix(d, top+"/")
}
