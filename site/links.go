package site

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// An alias is another name of a file or directory: a symbolic link, or a mount of a directory
// that the tree contains, too. The scan reads each directory once, under its real name, and
// records the aliases. The policy treats aliases as policy.Alias describes.
//
// The target of a link may be below a dotfile, where no client can request it. Then the name
// of the first link to it, in byte order, serves as its real name ("placed"), and the scan
// reads the target there.

// Bounds of the links that are followed. Top-level directories share them fairly.
const (
	maxDirLinks  = 1000   // to directories
	maxFileLinks = 20_000 // to files
)

// place is the location of a directory.
type place struct {
	name string // below the root, as in selectors
	real string // below the root on the disk, links resolved
}

func (p place) child(base string) place {
	return place{selector.Join(p.name, base), selector.Join(p.real, base)}
}

// link is a symbolic link in a directory, or a mount.
type link struct {
	name string // below the root
	real string // of the target, on the disk
	dir  bool   // the target is a directory
	shut bool   // not followed: between a dotfile and the target there is an annotation, which the scan does not read
}

// isAsked reports whether a client can request a real name.
func isAsked(real string) bool {
	return real == "." || !slices.ContainsFunc(strings.Split(real, "/"), func(elem string) bool {
		return !selector.Askable(elem)
	})
}

// findAliases updates s.aliases if links have changed. It returns the tree with the placed
// directories.
func (s *scanner) findAliases(tree *Dir) *Dir {
	for dir, f := range s.found {
		if tree.Find(dir) == nil {
			delete(s.found, dir)
			s.relinked = s.relinked || len(f.links) > 0
		}
	}
	if !s.relinked {
		return tree
	}
	s.relinked = false

	// Place the targets below dotfiles again if the links to them have changed.
	all := s.followed()
	hidden := slices.DeleteFunc(slices.Clone(all), func(l link) bool {
		return isAsked(l.real) || s.inPlaced(l.name)
	})
	if !slices.Equal(hidden, s.hidden) {
		tree = s.unplace(tree)
		s.hidden = hidden
		for again := true; again; all = s.followed() {
			tree, again = s.placeAll(tree, all)
		}
		s.relinked = false
	}

	s.aliases = map[string]link{}
	for _, l := range all {
		if l.real, _ = s.realName(l.real); l.real != l.name {
			s.aliases[l.name] = l
		}
	}
	return tree
}

// inPlaced reports whether a name is below a placed link.
func (s *scanner) inPlaced(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if s.placed[dir] != "" {
			return true
		}
	}
	return false
}

// followed returns the links that are followed, and records the others in s.refused. They are
// sorted by the depth of the target, then by name.
func (s *scanner) followed() []link {
	var all []link
	byTop := map[bool]map[string]int{true: {}, false: {}}
	for dir, f := range s.found {
		for _, l := range f.links {
			all = append(all, l)
			byTop[l.dir][topName(dir)]++
		}
	}
	slices.SortFunc(all, func(a, b link) int {
		return cmp.Or(cmp.Compare(strings.Count(a.real, "/"), strings.Count(b.real, "/")),
			strings.Compare(a.name, b.name))
	})
	s.refused = map[string]bool{}
	most := map[bool]int{
		true:  share(byTop[true], maxDirLinks),
		false: share(byTop[false], maxFileLinks),
	}
	used := map[bool]map[string]int{true: {}, false: {}}
	return slices.DeleteFunc(all, func(l link) bool {
		top := topName(path.Dir(l.name))
		if used[l.dir][top]++; used[l.dir][top] <= most[l.dir] && !l.shut {
			return false
		}
		s.refused[l.name] = true
		return true
	})
}

// topName returns the top-level directory of a directory, "." for the root.
func topName(dir string) string {
	top, _, _ := strings.Cut(dir, "/")
	return top
}

// share returns the largest quota per user such that all users together use at most most
// (max-min fairness). wanted is how many each user wants.
func share(wanted map[string]int, most int) (each int) {
	counts := slices.Sorted(maps.Values(wanted))
	for i, n := range counts {
		rest := len(counts) - i
		if n > most/rest {
			return most / rest
		}
		most -= n
		each = n
	}
	return each
}

// unplace removes the placed directories from the tree.
func (s *scanner) unplace(tree *Dir) *Dir {
	for name := range s.placed {
		if tree.Find(name) != nil {
			tree = tree.with(name, nil)
		}
		maps.DeleteFunc(s.found, func(dir string, _ findings) bool {
			return dir == name || strings.HasPrefix(dir, name+"/")
		})
	}
	s.placed = map[string]string{}
	return tree
}

// placeAll places the targets that no client can request, each at the first link to it. It
// reports whether it has read directories, which may contain more links.
func (s *scanner) placeAll(tree *Dir, all []link) (*Dir, bool) {
	again := false
	for _, l := range all {
		if _, known := s.realName(l.real); known {
			continue
		}
		if s.placed[l.name] = l.real; l.dir {
			d, _ := s.dir(place{l.name, l.real}, nil)
			tree = tree.with(l.name, d)
			again = true
		}
	}
	return tree, again
}

// realName returns the name in the tree of a file or directory on the disk, or false if the
// tree does not contain it.
func (s *scanner) realName(real string) (name string, ok bool) {
	if same := s.root.Same(real); same != "" {
		real = same
	}
	if isAsked(real) {
		return real, true
	}
	at := "" // the nearest placed directory above
	for placed, dir := range s.placed {
		if rest, in := below(real, dir); in && len(dir) > len(at) {
			name, at = path.Join(placed, rest), dir
		}
	}
	return name, name != ""
}

// input returns the aliases for the compiler.
func (s *scanner) input() (list []policy.Alias) {
	for _, name := range slices.Sorted(maps.Keys(s.aliases)) {
		l := s.aliases[name]
		list = append(list, policy.Alias{
			Selector: selector.Canonical(name, l.dir),
			Target:   selector.Canonical(l.real, l.dir),
		})
	}
	return list
}

// Aliases returns the canonical selectors of all aliases.
func (s *Snapshot) Aliases() (list []string) {
	for name, l := range s.aliases {
		list = append(list, selector.Canonical(name, l.dir))
	}
	return list
}

// Real resolves the aliases in a name and returns the real name.
func (s *Snapshot) Real(name string) string {
	real, _ := s.resolve(name)
	return real
}

// resolve is Real, and reports whether all links in the name are followed.
func (s *Snapshot) resolve(name string) (real string, follows bool) {
	follows = true
	for range disk.MaxLinks {
		for end := 0; end <= len(name) && len(s.refused) > 0; end++ {
			if (end == len(name) || name[end] == '/') && s.refused[name[:end]] {
				follows = false
			}
		}
		next := s.step(name)
		if next == name {
			break
		}
		name = next
	}
	return name, follows
}

// step replaces the first alias in a name by its real name.
func (s *Snapshot) step(name string) string {
	if len(s.aliases) == 0 {
		return name
	}
	for end := range len(name) + 1 {
		if end < len(name) && name[end] != '/' {
			continue
		}
		if l, ok := s.aliases[name[:end]]; ok {
			return path.Join(l.real, name[end:])
		}
	}
	return name
}

// Has reports whether a directory or (with Config.Files) a file of this name exists. The name
// may be an alias.
func (s *Snapshot) Has(name string, dir bool) bool {
	return s.Tree.Has(s.Real(name), dir)
}

// Open reports whether robots that no annotation names may read a resource, under this name
// and under its real name. A menu that shows the text of a denied file is not open. Feeds,
// sitemaps, searches and titles disclose only open resources.
func (s *Snapshot) Open(name string, dir bool) bool {
	if s.Compiled.DeniedToAll(name, dir) || s.shows[name] {
		return false
	}
	real := s.Real(name)
	return real == name || !s.Compiled.DeniedToAll(real, dir) && !s.shows[real]
}

// follow returns the type of a link's target, and records the link.
func (r *reading) follow(base string) fs.FileMode {
	real, mode, err := r.resolve(base)
	if err != nil {
		r.mind(err)
		return fs.ModeIrregular
	}
	l := link{
		name: selector.Join(r.at.name, base),
		real: real,
		dir:  mode.IsDir(),
	}
	if _, loops := below(r.at.real, real); loops {
		return fs.ModeIrregular
	}
	for dir := path.Dir(real); !isAsked(real) && !isAsked(dir) && !l.shut; dir = path.Dir(dir) {
		note := selector.Join(dir, noteName)
		_, err := r.root.Lstat(r.call, note)
		l.shut = err == nil
	}
	if l.dir || mode.IsRegular() {
		r.found.links = append(r.found.links, l)
	}
	return mode.Type()
}

// resolve follows a link, and records the directories that it depends on. It returns the
// real name and the mode of the target.
func (r *reading) resolve(base string) (real string, mode fs.FileMode, err error) {
	real, passed, err := r.root.Follow(r.call, r.at.real, base)
	r.found.via = append(r.found.via, passed...)
	if err != nil {
		r.refusedLink(base, err)
		return "", 0, err
	}
	rev, err := r.root.Lstat(r.call, real)
	if err == nil && !r.root.Owned(real, rev) {
		err = disk.ErrForeign
	}
	return real, rev.FileMode(), err
}
