package site

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/policy"
)

// The trees of Config.Capsules. In the Root of all trees each has its user's name behind a
// dot, which no client can ask for. Gemini sees another Root, which has it at the user's name:
//
//	.~ann → Root of Gemini: ~ann → View.OfCapsules
//	      → a scanner of its own  → Snapshot.homes → with the rest of the tree: Snapshot.capsules
//
// Annotations of both trees go into the one policy.

const (
	behindDot   = "." // before the name of a tree of Config.Capsules
	ofGemini    = "gemini="
	capsuleMark = behindDot + "~"
)

// capsuleRoot returns the root that Gemini sees.
func capsuleRoot(all *disk.Root) *disk.Root {
	trees := maps.Clone(all.Trees)
	maps.Copy(trees, capsuleTrees(all))
	return all.With(trees)
}

// capsuleTrees returns the trees of Config.Capsules by the names of the users.
func capsuleTrees(all *disk.Root) map[string]*disk.Tree {
	trees := map[string]*disk.Tree{}
	for name, t := range all.Trees {
		if strings.HasPrefix(name, capsuleMark) {
			trees[strings.TrimPrefix(name, behindDot)] = t
		}
	}
	return trees
}

// OfCapsules makes v the View of Gemini and Spartan. It must be called before v is used.
func (v *View) OfCapsules() {
	if v.now.capsules != nil {
		v.root = v.now.capsules
	}
}

func (v *View) isCapsules() bool { return v.root != nil && v.root == v.now.capsules }

// Now returns the Snapshot of what the View sees, nil before the first.
func (v *View) Now() *Snapshot { return v.of(v.site.Now()) }

// Snapshot is Now, but waits for the first one until the View ends.
func (v *View) Snapshot() (*Snapshot, error) {
	snap, err := v.site.Snapshot(v.ctx)
	return v.of(snap), err
}

func (v *View) of(snap *Snapshot) *Snapshot {
	if snap != nil && snap.capsules != nil && v.isCapsules() {
		return snap.capsules
	}
	return snap
}

// onDisk returns the name in the Root of all trees of a real name in v's.
func (v *View) onDisk(real string) string {
	if t, _, _ := v.root.At(real); v.isCapsules() && v.now.root.Trees[behindDot+topName(real)] == t {
		return behindDot + real
	}
	return real
}

// usersOf returns the pattern that a user's tree matches.
func (v *View) usersOf(name string) *users {
	if v.onDisk(name) != name {
		return v.site.capsules
	}
	return v.site.users
}

// readHomes reads the trees of Config.Capsules: again the given directories, which were read
// before, and those of users who are new.
func (s *scanner) readHomes(all *disk.Root, old *Dir, dirs []string) {
	homes := s.capsules
	if homes == nil {
		return
	}
	homes.root, homes.attempt = all.With(capsuleTrees(all)), s.attempt
	tree := old
	if tree == nil {
		tree = &Dir{}
	}
	for _, d := range tree.Dirs {
		if homes.root.Trees[d.Name] == nil {
			tree, homes.relinked = tree.with(d.Name, nil), true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(homes.root.Trees)) {
		if tree.Find(name) == nil {
			d, _ := homes.dir(place{name, name}, nil)
			tree, homes.relinked = tree.with(name, d), true
		}
	}
	var changed []string
	for _, dir := range dirs {
		if strings.HasPrefix(dir, capsuleMark) {
			changed = append(changed, strings.TrimPrefix(dir, behindDot))
		}
	}
	s.homes = homes.rescan(tree, changed, nil)
	if s.failed == nil {
		s.failed = homes.failed
	}
}

// Capsules returns the snapshot of the tree as Gemini and Spartan see it, nil without
// Config.Capsules.
func (s *Snapshot) Capsules() *Snapshot { return s.capsules }

// asGemini returns the Snapshot of the tree as Gemini sees it.
func (s *Snapshot) asGemini() *Snapshot {
	if s.homes == nil {
		return nil
	}
	isHome := func(name string) bool { return child(s.homes.Tree, topName(name)) != nil }
	c := *s
	c.Tree = s.Tree.withHomes(s.homes.Tree)
	c.aliases = inPlace(s.aliases, s.homes.aliases, isHome)
	c.refused = inPlace(s.refused, s.homes.refused, isHome)
	c.included = inPlace(s.included, s.homes.included, isHome)
	c.shows = inPlace(s.shows, s.homes.shows, isHome)
	c.changed = inPlace(s.changed, s.homes.changed, isHome)
	return &c
}

// inPlace returns a map of names with those below the homes from another one.
func inPlace[V any](all, homes map[string]V, isHome func(string) bool) map[string]V {
	both := maps.Clone(homes)
	if both == nil {
		both = map[string]V{}
	}
	for name, v := range all {
		if !isHome(name) {
			both[name] = v
		}
	}
	return both
}

// withHomes returns a root with other top-level directories.
func (d *Dir) withHomes(homes *Dir) *Dir {
	next := *d
	next.Dirs = slices.Clone(homes.Dirs)
	for _, sub := range d.Dirs {
		if child(homes, sub.Name) == nil {
			next.Dirs = append(next.Dirs, sub)
		}
	}
	slices.SortFunc(next.Dirs, func(a, b *Dir) int { return strings.Compare(a.Name, b.Name) })
	return &next
}

// annotationsWith returns the annotations of the tree and of the homes. A user whose two trees
// have different ones gets the stricter of both: each Disallow counts, for all robots, and no
// Allow does; both are reported.
func (d *Dir) annotationsWith(homes *Dir) (list []policy.Annotation, reports []policy.Report) {
	if homes == nil {
		return d.annotations(), nil
	}
	rest := *d
	rest.Dirs = nil
	for _, sub := range d.Dirs {
		if child(homes, sub.Name) == nil {
			rest.Dirs = append(rest.Dirs, sub)
		}
	}
	list = rest.annotations()
	for _, home := range homes.Dirs {
		gemini, gopher := home.annotations(), []policy.Annotation(nil)
		if other := child(d, home.Name); other != nil {
			gopher = other.annotations()
		}
		same := func(a, b policy.Annotation) bool {
			return a.Dir == b.Dir && path.Base(a.File) == path.Base(b.File) && bytes.Equal(a.Data, b.Data) && a.Err == nil && b.Err == nil
		}
		switch {
		case len(gemini) == 0 || slices.EqualFunc(gemini, gopher, same):
			list = append(list, gopher...)
		case len(gopher) == 0:
			list = append(list, gemini...)
		default:
			for _, a := range append(gopher, gemini...) {
				strict, said := stricter(a)
				list, reports = append(list, strict), append(reports, said...)
			}
		}
	}
	return list, reports
}

// stricter returns an annotation with nothing but what it denies, for all robots.
func stricter(a policy.Annotation) (policy.Annotation, []policy.Report) {
	var kept []byte
	var reports []policy.Report
	n := 0
	for line := range bytes.Lines(a.Data) {
		n++
		field, value, _ := strings.Cut(string(line), ":")
		switch field = strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")); strings.ToLower(field) {
		case "allow":
			reports = append(reports, policy.NewReport(policy.CodeOverruled, a.File, n, "it does not count: the trees of Gopher and Gemini have different annotations, so that only what one of them denies does"))
			line = []byte("\n")
		case "user-agent":
			if strings.TrimSpace(value) != "*" {
				reports = append(reports, policy.NewReport(policy.CodeOverruled, a.File, n, "its rules are for all robots: the trees of Gopher and Gemini have different annotations"))
			}
			line = []byte("\n")
		}
		kept = append(kept, line...)
	}
	a.Data = kept
	return a, reports
}
