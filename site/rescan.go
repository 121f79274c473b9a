package site

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// rescan reads the given real directories of a tree again, or only some files of them, and
// returns the new tree. Directories that are not read again, or have not changed, are shared with the
// old tree; if nothing has changed, rescan returns the old tree.
func (s *scanner) rescan(tree *Dir, dirs []string, files map[string][]string) *Dir {
	changed := make(map[string]bool, len(dirs))
	again := map[place][]string{} // nil: all of it
	for _, dir := range dirs {
		changed[dir] = true
		again[place{dir, dir}] = files[dir]
		for name, real := range s.placed {
			if rest, in := below(dir, real); in {
				again[place{path.Join(name, rest), dir}] = nil
			}
		}
	}
	for dir, l := range s.links {
		if slices.ContainsFunc(l.via, func(d string) bool { return changed[d] }) {
			again[s.placeOf(dir)] = nil
		}
	}

	// A directory that its parent has just read for the first time is not read again.
	before := tree
	for _, p := range slices.SortedFunc(maps.Keys(again), func(a, b place) int { return strings.Compare(a.name, b.name) }) {
		old := tree.Find(p.name)
		if old == nil || old != before.Find(p.name) {
			continue
		}
		d := s.edited(p, old, again[p])
		if d == nil {
			d, _ = s.dir(p, old)
		}
		if d != old {
			tree = tree.with(p.name, d)
		}
	}
	return s.findAliases(tree)
}

// edited returns a directory of which only these files have changed. It returns nil if all of
// it must be read: if the list is nil, or one of them is more than a text, or was.
func (s *scanner) edited(p place, old *Dir, files []string) *Dir {
	if files == nil {
		return nil
	}
	f, err := s.root.OpenReal(s.call, p.real)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	d := *old
	d.Files = slices.Clone(old.Files)
	r := reading{scanner: s, at: p, dir: &d}
	if s.files {
		d.Changed, d.Modified = f.Revision.Changed, f.Revision.Modified
	}
	s.change(p.real, f.Revision)
	readable := f.Readable(s.call)
	for _, base := range files {
		at := p.child(base)
		isLink := func(l link) bool { return l.name == at.name }
		_, isDated := menu.DatedText(base)
		if !isPlain(base) || isDated && !old.Phlog || s.root.Trees[at.real] != nil || len(at.name) >= maxName || slices.ContainsFunc(s.links[p.name].list, isLink) {
			return nil
		}
		var rev disk.Revision
		err := s.call(at.real, func() (err error) { rev, err = s.root.Lstat(at.real); return err })
		i, had := slices.BinarySearchFunc(d.Files, base, func(f File, name string) int { return strings.Compare(f.Name, name) })
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if isDated {
				return nil // it may have been the last one
			}
			if had {
				d.Files = slices.Delete(d.Files, i, i+1)
			}
			continue
		case err != nil || !rev.FileMode().IsRegular() || !s.root.Owned(at.real, rev) || !readable(&disk.Dirent{Base: base}):
			return nil
		}
		s.change(at.real, rev)
		if !r.keepsFiles() {
			continue
		}
		if !had {
			d.Files = slices.Insert(d.Files, i, File{Name: base})
		}
		d.Files[i] = r.file(at, old)
	}
	return settled(&d, old)
}

// isPlain reports whether a file of this name is served as it is, and says nothing about others.
func isPlain(base string) bool {
	return selector.Refusal(base) == "" && selector.Decoded(base) == base && !isStray(base) && !menu.IsMenuFile(base) && !menu.IsMap(base) &&
		base != handName && base != capsName && base != "index.gmi"
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
