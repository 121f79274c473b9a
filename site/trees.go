package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
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

// A site has a tree for its root directory, for each mount and for each user. No event reports
// a new user reliably, or a path that leads to another directory than before, so followTrees
// checks both every second.
//
//	every second → find the trees → open new ones → watch → scan
//	             → the root is another directory → reload.go opens it and reads everything

// treesEvery is the interval of checks for new, missing and replaced trees.
const treesEvery = time.Second

// maxHung is the number of unresponsive trees after which a check skips the remaining ones.
const maxHung = 64

// followTrees calls lookTrees every second until ctx ends.
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

// isOtherRoot reports whether the path of the root leads to another directory than at the last
// call.
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

// foundTrees are the mounts and users' trees that one check has found.
type foundTrees struct {
	trees    map[string]*disk.Tree
	fresh    []string          // names of new and of replaced trees
	failed   map[string]error  // why mounts cannot be opened
	problems []diag.Diagnostic // why others are not served
	hung     int               // trees that do not respond
}

// lookTrees opens trees that are new or were replaced, and drops users' trees that are gone.
// A mount whose path is gone keeps its old directory until there is a new one, like the root.
// A tree that does not respond stays.
func (s *Site) lookTrees() error {
	old := s.served.Load().root
	next, err := s.findTrees(old, stall.Brief) // the next look is in a second
	if err != nil {
		return err
	}
	most := maxUsers
	if len(next.problems) > most {
		most = 1
	}
	s.problems.report(next.problems, most, "users are not served: gophd check -users names them")
	if len(next.fresh) == 0 && len(next.trees) == len(old.Trees) {
		return nil
	}
	s.setTrees(next.trees)
	s.events.Add(1)
	for _, name := range next.fresh {
		if old.Trees[name] != nil {
			s.watcher.Replaced(name)
		}
	}
	return nil
}

// findTrees finds the current trees. If one does not respond, it starts over without it. If it
// must not wait, it gives up when many do not.
func (s *Site) findTrees(old *disk.Root, patience stall.Patience) (next *foundTrees, err error) {
	for left := 0; left < oftenSlow || patience != stall.Brief; left++ {
		next, err = stall.Try(s.guard, patience, func(a *stall.Attempt) (*foundTrees, error) {
			call := disk.Within(a)
			f := &foundTrees{
				trees:  make(map[string]*disk.Tree, len(old.Trees)),
				failed: map[string]error{},
			}
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
		if !errors.Is(err, stall.ErrLeft) {
			break
		}
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
	t, err := call.OpenTree(dir)
	if err != nil {
		f.failed[name] = err
		return
	}
	t.Listed, f.trees[name] = true, t
	f.fresh = append(f.fresh, name)
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

// Dir is the record of a directory. It is immutable. After a change, the scan makes new records
// for the changed directory and those above it, and shares all others, so Snapshots share
// a *Dir where nothing has changed. To follow changes, use Snapshot.Changes.
type Dir struct {
	Name   string               // the last element; "" for the root
	Files  []File               // served files, sorted by Name, with Config.Files
	Dirs   []*Dir               // sorted by Name
	Notes  []*policy.Annotation // of robots.txt (at the top of a tree) and .robots
	Strays []string             // files whose names look like misspelt annotations
	Phlog  bool                 // the directory contains dated texts

	// With Config.Files: files that are not served but may be a source of the menu, and
	// the times of the directory in nanoseconds since 1970.
	Sources           []File
	Changed, Modified int64
}

// A File is the record of a served file. Without Config.Files only Name is set.
type File struct {
	Name string

	// Type is the item type, from the name or else from the first bytes. It is 0 if the
	// file cannot be read, or is a program that would print a menu but is not run.
	Type byte

	Size int64 // bytes

	// Changed (ctime) and Modified (mtime) are in nanoseconds since 1970. A rename updates
	// only Changed.
	Changed, Modified int64
}

// file returns the record of a file, or where it would be in Files.
func (d *Dir) file(name string) (f File, at int, ok bool) {
	if d == nil {
		return f, 0, false
	}
	at, ok = slices.BinarySearchFunc(d.Files, name, func(f File, name string) int {
		return strings.Compare(f.Name, name)
	})
	if ok {
		f = d.Files[at]
	}
	return f, at, ok
}

// Changes returns the directories that have changed since an older Snapshot (nil: all), by
// path. The value is a list of files if only the content of these has changed, and no menu
// contains it; otherwise it is nil. A removed directory is included, but not those below it.
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
		if slices.ContainsFunc(names, func(base string) bool {
			_, shown := s.included[selector.Join(dir, base)]
			return shown
		}) {
			dirs[dir] = nil
		}
	}
	return dirs
}

// Hangs reports whether a directory, or one above it, could not be read since its file system does
// not respond. The Snapshot then lacks what is below it.
func (s *Snapshot) Hangs(dir string) bool {
	hangs := func(a *policy.Annotation) bool { return errors.Is(a.Err, stall.Err) }
	for d := s.Tree; d != nil; {
		if slices.ContainsFunc(d.Notes, hangs) {
			return true
		}
		var first string
		first, dir, _ = strings.Cut(dir, "/")
		d = child(d, first)
	}
	return false
}

// otherNames calls f with the keys that are in only one of two maps.
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

// edits returns the names of the changed files, or nil if more than their content may have
// changed. Changed annotations do not count; robots.txt reflects them.
func (d *Dir) edits(old *Dir) (names []string) {
	sameName := func(a, b *Dir) bool { return a.Name == b.Name }
	if old == nil || d.Phlog != old.Phlog || len(d.Files) != len(old.Files) ||
		!slices.Equal(d.Sources, old.Sources) || !slices.EqualFunc(d.Dirs, old.Dirs, sameName) {
		return nil
	}
	names = []string{}
	for i, f := range d.Files {
		was := old.Files[i]
		if f != was {
			names = append(names, f.Name)
		}
		if f.Name != was.Name || f.Type != was.Type ||
			f != was && (menu.IsMenuFile(f.Name) || path.Ext(f.Name) == ".abstract") {
			return nil
		}
	}
	if len(names) > maxEdits {
		return nil
	}
	return names
}

// maxEdits bounds the files that Changes names per directory.
const maxEdits = 100

// same reports whether two records are equal, without their subdirectories.
func (d *Dir) same(old *Dir) bool {
	return d.alike(old) && d.Changed == old.Changed && d.Modified == old.Modified &&
		slices.Equal(d.Files, old.Files) && slices.Equal(d.Sources, old.Sources)
}

// alike reports whether two records are equal as far as policy and feeds are concerned,
// without their subdirectories.
func (d *Dir) alike(old *Dir) bool {
	return old != nil && d.Name == old.Name && d.Phlog == old.Phlog &&
		slices.EqualFunc(d.Notes, old.Notes, sameNote) && slices.Equal(d.Strays, old.Strays)
}

// allAlike reports whether two trees are alike in all directories.
func (d *Dir) allAlike(old *Dir) bool {
	return d == old || d.alike(old) && slices.EqualFunc(d.Dirs, old.Dirs, (*Dir).allAlike)
}

// Phlogs returns the paths of directories with dated texts: of the directory name below d and,
// if deep is true, of those below it.
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

// Has reports whether a directory or (with Config.Files) a file exists below d. The name "."
// is d itself.
func (d *Dir) Has(name string, dir bool) bool {
	if dir {
		return d.Find(name) != nil
	}
	slash := strings.LastIndexByte(name, '/') + 1
	in, file := d.Find(name[:slash]), name[slash:]
	if in == nil {
		return false
	}
	_, _, ok := in.file(file)
	return ok
}

// Find returns the directory at a path below d, or nil.
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

// All yields the paths and records of d and all directories below it, parents first.
func (d *Dir) All() iter.Seq2[string, *Dir] {
	return func(yield func(string, *Dir) bool) { d.walk(".", yield) }
}

func (d *Dir) walk(name string, yield func(string, *Dir) bool) bool {
	return yield(name, d) && !slices.ContainsFunc(d.Dirs, func(sub *Dir) bool {
		return !sub.walk(strings.TrimPrefix(name+"/"+sub.Name, "./"), yield)
	})
}

// annotations returns the annotations of d and all directories below; none if d is nil.
func (d *Dir) annotations() (list []policy.Annotation) {
	if d == nil {
		return nil
	}
	for _, d := range d.All() {
		for _, a := range d.Notes {
			list = append(list, *a)
		}
	}
	return list
}

// with returns a copy of the tree in which the directory name is replaced by other, or removed
// if other is nil. Its parent must exist.
func (d *Dir) with(name string, other *Dir) *Dir {
	if name == "." {
		return other
	}
	first, rest, deeper := strings.Cut(name, "/")
	at, found := d.place(first)
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
	if d != nil {
		if at, found := d.place(name); found {
			return d.Dirs[at]
		}
	}
	return nil
}

// place returns where a directory is in Dirs, or would be.
func (d *Dir) place(name string) (at int, found bool) {
	return slices.BinarySearchFunc(d.Dirs, name, func(d *Dir, name string) int {
		return strings.Compare(d.Name, name)
	})
}

// baseName returns the last element of a name, "" of the root.
func baseName(name string) string {
	if name == "." {
		return ""
	}
	return path.Base(name)
}

// settled returns old if d equals it. Otherwise it returns d, sharing equal annotations with
// old.
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
	return a.File == b.File && bytes.Equal(a.Data, b.Data) && fmt.Sprint(a.Err) == fmt.Sprint(b.Err)
}
