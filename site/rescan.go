package site

import (
	"path"
	"slices"
	"strings"
)

// rescan reads the given real directories of a tree again and returns the new
// tree. Directories that are not read again, or have not changed, are shared with the
// old tree; if nothing has changed, rescan returns the old tree.
func (s *scanner) rescan(tree *Dir, dirs []string) *Dir {
	var m marks
	for _, d := range dirs {
		m.add(d)
	}
	changed := make(map[string]bool, len(dirs))
	for _, d := range dirs {
		changed[d] = true
	}
	for dir, l := range s.links {
		if slices.ContainsFunc(l.via, func(d string) bool { return changed[d] }) {
			m.add(dir)
		}
		for name, real := range l.dirs {
			for _, rest := range under(dirs, real) {
				m.add(path.Join(dir, name, rest))
			}
		}
	}
	return s.again(rootPlace(), tree, &m)
}

// under finds top and the directories below it in a sorted list, and returns their paths
// relative to top.
func under(dirs []string, top string) []string {
	var found []string
	i := 0
	if top != "." {
		i, _ = slices.BinarySearch(dirs, top)
	}
	for ; i < len(dirs); i++ {
		rest, ok := below(dirs[i], top)
		if !ok && !strings.HasPrefix(dirs[i], top) {
			break
		}
		if ok {
			found = append(found, rest)
		}
	}
	return found
}

// marks are the directories to read again, as a tree.
type marks struct {
	again bool
	below map[string]*marks
}

func (m *marks) add(dir string) {
	if dir != "." {
		for elem := range strings.SplitSeq(dir, "/") {
			next := m.below[elem]
			if next == nil {
				if m.below == nil {
					m.below = map[string]*marks{}
				}
				next = &marks{}
				m.below[elem] = next
			}
			m = next
		}
	}
	m.again = true
}

// again reads a directory and those below it again, where marked.
func (s *scanner) again(p location, old *Dir, m *marks) *Dir {
	d := old
	if m.again {
		d, _ = s.dir(p, old)
	}
	for name, below := range m.below {
		sub := child(d, name)
		if sub == nil || sub != child(old, name) { // it is gone, or was just read
			continue
		}
		next := s.again(p.child(sub.Name, s.links[p.name].dirs[name]), sub, below)
		if next == sub {
			continue
		}
		if d == old {
			c := *old
			c.Dirs = slices.Clone(old.Dirs)
			d = &c
		}
		d.Dirs[indexOf(d, name)] = next
	}
	return d
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
