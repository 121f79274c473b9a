package site

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// A site has one tree for its root directory, one for each mount, and one for each user.
// No event surely reports new users, or a path that now leads to another directory:
// followTrees checks both once a second.
//
//	every second → which trees → open the new ones → watcher → scan
//	             → another root → all is read again → open it (reload.go)

// treesEvery is the time between two looks for new, missing and exchanged trees.
const treesEvery = time.Second

// maxHung is how many paths of trees may not answer before a look passes over the rest.
const maxHung = 64

// followTrees looks for trees that come, go or are exchanged, until ctx ends.
func (s *Site) followTrees(ctx context.Context) {
	tick := time.NewTicker(treesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if s.conf.Watch != WatchOff && s.isOtherRoot() {
				s.Reload()
			}
			if errors.Is(s.lookTrees(), stall.ErrStopped) {
				return
			}
		}
	}
}

// isOtherRoot reports whether the path of the root leads to something else than when it was
// looked at last.
func (s *Site) isOtherRoot() bool {
	found, err := disk.Guarded(s.guard).Named(".").Stat(s.dir)
	if errors.Is(err, stall.Err) || errors.Is(err, stall.ErrStopped) {
		return false
	}
	s.serving.Lock()
	defer s.serving.Unlock()
	was := s.found
	s.found = found
	if found == nil || was == nil {
		return found != was
	}
	return !os.SameFile(found, was)
}

// foundTrees are the trees besides the root's that one look has found.
type foundTrees struct {
	trees    map[string]*disk.Tree
	fresh    []string          // the names of the new and of the exchanged ones
	problems []diag.Diagnostic // why others are not served
	hung     int
}

// lookTrees opens trees that are new or were exchanged, and drops users' trees that are
// gone. A mount whose path is gone keeps its old directory until there is another one,
// as the root does. A tree that does not answer stays.
func (s *Site) lookTrees() error {
	if len(s.conf.Mounts) == 0 && s.users == nil {
		return nil
	}
	old := s.served.Load().root
	next, err := s.findTrees(old)
	if err != nil {
		return err
	}
	s.problems.together(next.problems)
	if len(next.fresh) == 0 && len(next.trees) == len(old.Trees) {
		return nil
	}
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(old.Trees)), func(name string) bool { return next.trees[name] != nil })
	s.setTrees(next.trees)
	s.events.Add(1)
	for _, name := range append(next.fresh, gone...) {
		if old.Trees[name] != nil && next.trees[name] != nil {
			s.watcher.Replaced(name)
		}
	}
	return nil
}

// findTrees finds the current trees. If one does not answer, it begins again without it.
func (s *Site) findTrees(old *disk.Root) (next *foundTrees, err error) {
	for err = stall.ErrLeft; errors.Is(err, stall.ErrLeft); {
		next, err = stall.Try(s.guard, stall.Hurried, func(a *stall.Attempt) (*foundTrees, error) {
			call, f := disk.Within(a), &foundTrees{trees: make(map[string]*disk.Tree, len(old.Trees))}
			for name, dir := range s.conf.Mounts {
				f.mount(call, name, dir, old.Trees[name])
			}
			if s.users != nil {
				s.users.find(call, f, old.Trees)
			}
			if s.capsules != nil {
				s.capsules.find(call, f, old.Trees)
			}
			return f, nil
		})
	}
	return next, err
}

// mount finds the tree of a mount.
func (f *foundTrees) mount(call disk.Caller, name, dir string, old *disk.Tree) {
	if old != nil {
		f.trees[name] = old
		if found, err := call.Stat(dir); err != nil || !found.IsDir() || old.Is(found) {
			return
		}
	}
	if t, err := call.OpenTree(dir); err == nil {
		t.Listed, f.trees[name] = true, t
		f.fresh = append(f.fresh, name)
	}
}

// setTrees serves and watches the given trees besides the root.
func (s *Site) setTrees(trees map[string]*disk.Tree) {
	s.serve(func(now *served) {
		now.root = now.root.With(trees)
		now.changed(ofUsers)
	})
	watched := make(map[string]string, len(trees))
	for name, t := range trees {
		watched[name] = t.Dir
	}
	if err := s.watcher.SetTrees(watched); err != nil {
		s.log.Error("cannot watch all trees", "error", err)
	}
}

// Dir is the record that the scan makes of a directory of the tree that the server answers
// for. It never changes after it was made: a change makes new ones on the way to the root and
// shares the rest. So two snapshots have the same *Dir where nothing has changed; what keeps
// something of its own of the tree, such as an index, follows Snapshot.Changes.
type Dir struct {
	Name   string               // the last element; "" for the root
	Files  []File               // served files, sorted by Name, with Config.Files
	Dirs   []*Dir               // sorted by Name
	Notes  []*policy.Annotation // robots.txt at the top of a tree, and .robots
	Strays []string             // files that are almost called so, and are not read
	Phlog  bool                 // it has dated texts

	// With Config.Files: files that are not served, of which the menu may be made, and the
	// times of the directory, in nanoseconds.
	Sources           []File
	Changed, Modified int64
}

// A File is the record of a served file. Without Config.Files it is a name.
type File struct {
	Name string

	// Type is the item type: by the name, or else by the first bytes. It is 0 if the file
	// cannot be read, or is a menu that is a program that nothing runs.
	Type byte

	Size              int64
	Changed, Modified int64 // times, in nanoseconds: Changed, too, when it was renamed or moved here
}

// file returns the record of a file.
func (d *Dir) file(name string) (File, bool) {
	if d == nil {
		return File{}, false
	}
	i, ok := slices.BinarySearchFunc(d.Files, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return File{}, false
	}
	return d.Files[i], true
}

// addCaps adds the root's caps.txt, which is made where there is none.
func (d *Dir) addCaps() {
	at, found := slices.BinarySearchFunc(d.Files, capsName, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !found {
		d.Files = slices.Insert(d.Files, at, File{Name: capsName})
	}
}

// Changes returns the directories whose own records differ from those in an older snapshot,
// which may be nil, and those with files that maps show or no longer show. If all that differs
// is in the content of files that no menu shows, it has their names, else nil. Of a directory
// that is gone it has the path, and nothing of what was below.
func (s *Snapshot) Changes(old *Snapshot) map[string][]string {
	if old == nil {
		old = &Snapshot{}
	}
	dirs := map[string][]string{}
	s.Tree.changes(old.Tree, ".", dirs)
	whole := func(name string) { dirs[path.Dir(name)] = nil }
	otherNames(s.included, old.included, whole)
	otherNames(s.aliases, old.aliases, whole)
	for dir, names := range dirs {
		if slices.ContainsFunc(names, func(base string) bool { _, shown := s.included[selector.Join(dir, base)]; return shown }) {
			dirs[dir] = nil
		}
	}
	return dirs
}

// otherNames calls f with the names that one of two maps lacks.
func otherNames[V any](a, b map[string]V, f func(name string)) {
	for name := range a {
		if _, in := b[name]; !in {
			f(name)
		}
	}
	for name := range b {
		if _, in := a[name]; !in {
			f(name)
		}
	}
}

// changes adds the directories that differ from those in an older tree.
func (d *Dir) changes(old *Dir, name string, dirs map[string][]string) {
	if d == old {
		return
	}
	if !d.same(old) {
		dirs[name] = d.edits(old)
	}
	if old != nil {
		for _, sub := range old.Dirs {
			if child(d, sub.Name) == nil {
				dirs[selector.Join(name, sub.Name)] = nil
			}
		}
	}
	for _, sub := range d.Dirs {
		sub.changes(child(old, sub.Name), selector.Join(name, sub.Name), dirs)
	}
}

// edits returns the names of files that differ from those in an older record of the directory,
// nil if more may. What its annotations change, robots.txt tells.
func (d *Dir) edits(old *Dir) (names []string) {
	sameName := func(a, b *Dir) bool { return a.Name == b.Name }
	if old == nil || d.Phlog != old.Phlog || len(d.Files) != len(old.Files) || !slices.Equal(d.Sources, old.Sources) || !slices.EqualFunc(d.Dirs, old.Dirs, sameName) {
		return nil
	}
	names = []string{}
	for i, f := range d.Files {
		was := old.Files[i]
		if f != was {
			names = append(names, f.Name)
		}
		if f.Name != was.Name || f.Type != was.Type || f != was && (menu.IsMenuFile(f.Name) || path.Ext(f.Name) == ".abstract") {
			return nil
		}
	}
	if len(names) > maxEdits {
		return nil
	}
	return names
}

// maxEdits is how many files of a directory Changes names.
const maxEdits = 100

// same reports whether the records of two directories are equal, but for what lies below.
func (d *Dir) same(old *Dir) bool {
	return d.alike(old) && d.Changed == old.Changed && d.Modified == old.Modified &&
		slices.Equal(d.Files, old.Files) && slices.Equal(d.Sources, old.Sources)
}

// alike reports whether policy and feeds take two directories for the same, but for what lies
// below.
func (d *Dir) alike(old *Dir) bool {
	return old != nil && d.Name == old.Name && d.Phlog == old.Phlog && slices.EqualFunc(d.Notes, old.Notes, sameNote) && slices.Equal(d.Strays, old.Strays)
}

// allAlike reports whether two trees are alike: all that differs is in their files.
func (d *Dir) allAlike(old *Dir) bool {
	return d == old || d.alike(old) && slices.EqualFunc(d.Dirs, old.Dirs, (*Dir).allAlike)
}

// HasPhlog reports whether d or a directory below it has dated texts.
func (d *Dir) HasPhlog() bool { return d.Phlog || slices.ContainsFunc(d.Dirs, (*Dir).HasPhlog) }

// Phlogs returns the paths of the directories that have dated texts: d/name, and with
// deep also those below it.
func (d *Dir) Phlogs(name string, deep bool) (names []string) {
	at := d.Find(name)
	switch {
	case at == nil:
	case deep:
		at.walk(name, func(name string, d *Dir) bool {
			if d.Phlog {
				names = append(names, name)
			}
			return true
		})
	case at.Phlog:
		names = append(names, name)
	}
	return names
}

// Has reports whether there is a resource below d: a directory or a file, if the names
// of files were kept. The
// name is a path, "." for d itself.
func (d *Dir) Has(name string, dir bool) bool {
	if dir {
		return d.Find(name) != nil
	}
	slash := strings.LastIndexByte(name, '/') + 1
	in, file := d.Find(name[:slash]), name[slash:]
	if in == nil {
		return false
	}
	_, ok := in.file(file)
	return ok
}

// Find returns the directory of a path, nil if there is none.
func (d *Dir) Find(name string) *Dir {
	if name == "." {
		return d
	}
	for name != "" && d != nil {
		first, rest, _ := strings.Cut(name, "/")
		d, name = child(d, first), rest
	}
	return d
}

// All yields d and all directories below it, by their paths, each before those in it.
func (d *Dir) All() iter.Seq2[string, *Dir] {
	return func(yield func(string, *Dir) bool) { d.walk(".", yield) }
}

func (d *Dir) walk(name string, yield func(string, *Dir) bool) bool {
	return yield(name, d) && !slices.ContainsFunc(d.Dirs, func(sub *Dir) bool {
		return !sub.walk(strings.TrimPrefix(name+"/"+sub.Name, "./"), yield)
	})
}

// annotations returns the annotations of d and all directories below.
func (d *Dir) annotations() (list []policy.Annotation) {
	for _, d := range d.All() {
		for _, a := range d.Notes {
			list = append(list, *a)
		}
	}
	return list
}

// with returns the tree with another directory of this name, or without one if other is nil.
// The directory above it must be there.
func (d *Dir) with(name string, other *Dir) *Dir {
	if name == "." {
		return other
	}
	first, rest, deeper := strings.Cut(name, "/")
	at, found := slices.BinarySearchFunc(d.Dirs, first, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
	if deeper {
		other = d.Dirs[at].with(rest, other)
	}
	next := *d
	switch {
	case found && other == nil:
		next.Dirs = slices.Concat(d.Dirs[:at], d.Dirs[at+1:])
	case found:
		next.Dirs = slices.Clone(d.Dirs)
		next.Dirs[at] = other
	case other != nil:
		next.Dirs = slices.Concat(d.Dirs[:at], []*Dir{other}, d.Dirs[at:])
	}
	return &next
}

// child finds a directory by its name, nil if it is not there.
func child(d *Dir, name string) *Dir {
	if d == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(d.Dirs, name, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
	if !ok {
		return nil
	}
	return d.Dirs[i]
}

// baseName returns the last element of a name, "" of the root.
func baseName(name string) string {
	if name == "." {
		return ""
	}
	return path.Base(name)
}

// settled returns old if d equals it, else d, with old's annotations if they are equal.
func settled(d, old *Dir) *Dir {
	if old == nil {
		return d
	}
	if slices.EqualFunc(d.Notes, old.Notes, sameNote) {
		d.Notes = old.Notes
		if d.same(old) && slices.Equal(d.Dirs, old.Dirs) {
			return old
		}
	}
	return d
}

func sameNote(a, b *policy.Annotation) bool {
	return a.File == b.File && bytes.Equal(a.Data, b.Data) && errorText(a.Err) == errorText(b.Err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
