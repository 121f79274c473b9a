package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// The scan builds the tree that the policy is compiled for: every name that the server
// answers, except aliases (links.go). Its directories (Dir) are immutable. A rescan replaces
// the changed ones and those above them, and shares the rest.

const (
	noteName = ".robots"    // an annotation
	handName = "robots.txt" // in the root: the hand-written one
	capsName = "caps.txt"   // in the root: answered even if there is none
	maxNote  = 500 << 10    // largest annotation, in bytes
	maxName  = 4096         // longest name below the root in bytes; no request is longer
)

// scanner reads directories of one root.
type scanner struct {
	root    *disk.Root
	conf    Config
	attempt *stall.Attempt      // bounds the time of system calls; may be nil
	found   map[string]findings // by directory, if it has any

	aliases  map[string]link      // by name; link.real is a name of the tree
	placed   map[string]string    // name of a placed link → its target; see links.go
	hidden   []link               // the links from which placed was computed
	relinked bool                 // links have changed since findAliases
	refused  map[string]bool      // links that are not followed
	changed  map[string]time.Time // time of the last change, by user's tree
	busy     map[string]struct{}  // real directories to be read again soon: with a map or annotation under a lease, or slow
	failed   error                // why the scan is unreliable
	scanned  *atomic.Int64        // counts directories
	of       string               // prefix of annotations' names in reports
	capsules *scanner             // scans the trees of Config.Capsules; may be nil
	homes    *Dir                 // the tree that capsules has scanned; empty without one
	reused   map[string]*Dir      // records of trees that the scan does not read, by name
	slow     bool                 // a file system has not responded yet, while a directory was read
	kept     bool                 // a directory has kept its record for this reason
}

func newScanner(r *disk.Root, conf Config, scanned *atomic.Int64) *scanner {
	return &scanner{
		root:    r,
		conf:    conf,
		scanned: scanned,
		found:   map[string]findings{},
		placed:  map[string]string{},
		busy:    map[string]struct{}{},
		changed: map[string]time.Time{},
		homes:   &Dir{},
	}
}

// call calls f, which makes a system call on a name, unless the name's file system is known
// not to respond.
func (s *scanner) call(name string, f func() error) error {
	op, err := s.attempt.Enter(name)
	s.slow = s.slow || errors.Is(err, stall.ErrSlow)
	if err != nil {
		return err
	}
	defer op.Leave()
	return f()
}

// reuse makes a scan begin with what the last one has found: all of it if only some directories
// are read again, otherwise what is not in the root's own tree.
func (s *scanner) reuse(last *scanner, tree *Dir, all bool) {
	s.reused = map[string]*Dir{}
	for name, t := range s.root.Trees {
		if !all && last.root.Trees[name] == t {
			s.reused[name] = tree.Find(name)
		}
	}
	isReused := func(name string) bool {
		_, top, _ := s.root.At(name)
		return all || s.reused[top] != nil
	}
	copyIf(s.found, last.found, isReused)
	copyIf(s.placed, last.placed, isReused)
	copyIf(s.busy, last.busy, isReused)
	copyIf(s.changed, last.changed, isReused)
	if all {
		s.aliases, s.hidden, s.refused = last.aliases, last.hidden, last.refused
	}
	s.relinked = !all
	if s.capsules != nil {
		s.capsules.reuse(last.capsules, nil, true)
		s.homes = last.homes
	}
}

// copyIf copies the entries whose key is wanted.
func copyIf[V any](to, from map[string]V, wanted func(key string) bool) {
	for key, v := range from {
		if wanted(key) {
			to[key] = v
		}
	}
}

// tree scans everything.
func (s *scanner) tree() (*Dir, error) {
	d, err := s.dir(place{".", "."}, nil)
	if err == nil {
		d = s.findAliases(d)
	}
	if err = cmp.Or(s.failed, err); err != nil {
		return nil, err
	}
	return d, nil
}

// mind records an error that makes the whole scan unreliable: the process has run out of
// descriptors or memory, or the site is stopping.
func (s *scanner) mind(err error) {
	if limit.Reached(err) || errors.Is(err, stall.ErrStopped) {
		s.failed = err
	}
}

// reading is the state of reading one directory.
type reading struct {
	*scanner
	at    place
	dir   *Dir
	kept  []disk.Dirent // served entries; a link has the type of its target
	found findings

	unreadable map[string]bool // entries that this process may not read
}

// dir reads a directory. Subdirectories are taken from old, its previous record, or read if
// old lacks them. If nothing has changed, dir returns old. The error reports that the
// directory could not be listed.
func (s *scanner) dir(p place, old *Dir) (*Dir, error) {
	r := reading{
		scanner:    s,
		at:         p,
		dir:        &Dir{Name: baseName(p.name)},
		unreadable: map[string]bool{},
	}
	list, err := r.list()
	s.scanned.Add(1)
	slices.SortFunc(list, func(a, b disk.Dirent) int { return strings.Compare(a.Base, b.Base) })
	delete(s.busy, p.real)
	r.kept = list[:0]
	r.names(list)
	r.readMaps(list)
	for _, e := range list {
		r.entry(e)
		if s.conf.Files && !e.IsDir() && selector.Refusal(e.Base) != "" && e.Base != noteName {
			source, _ := r.look(p.child(e.Base))
			r.dir.Sources = append(r.dir.Sources, source)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// A client can still request files in it by name, if the mode is 0711.
		r.dir.Notes = append(r.dir.Notes, &policy.Annotation{
			Dir:  selector.Canonical(p.name, true),
			File: s.of + selector.Join(p.name, noteName),
			Err:  fmt.Errorf("the directory cannot be listed: %w", err),
		})
	}
	slices.Reverse(r.dir.Notes) // robots.txt before .robots
	r.fill(old)

	// The server answers caps.txt even if there is no such file, so the policy must cover it.
	if _, at, found := r.dir.file(capsName); p.name == "." && r.keepsFiles() && !found {
		r.dir.Files = slices.Insert(r.dir.Files, at, File{Name: capsName})
	}
	s.relinked = s.relinked || !slices.Equal(r.found.links, s.found[p.name].links)
	delete(s.found, p.name)
	if !r.found.none() {
		s.found[p.name] = r.found
	}
	if s.slow {
		s.busy[p.real] = struct{}{}
	}
	return settled(r.dir, old), err
}

// list lists the directory, with the trees that appear in it.
func (r *reading) list() ([]disk.Dirent, error) {
	list, err := r.listed()
	list, kids := r.root.Overlay(list, r.at.real, true)
	r.mind(err)
	if err != nil && r.at.real == "." && !r.slow {
		r.failed = err // the old policy stays
	}
	return append(list, kids...), err
}

func (r *reading) listed() ([]disk.Dirent, error) {
	f, err := r.root.OpenReal(r.call, r.at.real)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if !r.root.Owned(r.at.real, f.Revision) {
		return nil, disk.ErrForeign
	}
	r.opened(f)
	list, err := f.ReadDir(r.call, func([]disk.Dirent) error { return nil })
	readable := f.Readable(r.call)
	for i := range list {
		e := &list[i]
		if (e.Mode.IsRegular() || e.IsDir()) && selector.Askable(e.Base) && !readable(e) {
			r.unreadable[e.Base] = true
		}
	}
	return list, err
}

// opened records the times of the directory.
func (r *reading) opened(f *disk.Handle) {
	if r.conf.Files {
		r.dir.Changed, r.dir.Modified = f.Revision.Changed, f.Revision.Modified
	}
	r.change(r.at.real, f.Revision)
}

// entry records an entry of the directory: an annotation, or a resource to serve.
func (r *reading) entry(e disk.Dirent) {
	if r.isNote(e) {
		r.dir.Notes = append(r.dir.Notes, r.note(e))
	} else if !e.IsDir() && isStray(e.Base) {
		r.dir.Strays = append(r.dir.Strays, e.Base)
	}
	if !selector.Askable(e.Base) || len(r.at.name)+len(e.Base) >= maxName {
		return
	}
	if e.Mode == fs.ModeSymlink {
		e.Mode = r.follow(e.Base)
	}
	if (e.Mode.IsRegular() || e.Mode.IsDir()) && r.theirs(e) {
		r.kept = append(r.kept, e)
	}
}

// theirs reports whether the owner of an entry is one whose files its tree serves.
func (r *reading) theirs(e disk.Dirent) bool {
	name := selector.Join(r.at.real, e.Base)
	if t, _, rest := r.root.At(name); t.Owner == disk.AnyOwner || rest == "." {
		return true
	}
	rev, err := r.root.Lstat(r.call, name)
	if errors.Is(err, stall.Err) {
		return true // unknown: the policy must still deny it
	}
	if err != nil || rev.FileMode()&fs.ModeSymlink != 0 {
		return err == nil // follow has checked the target of a link
	}
	r.change(name, rev)
	return r.root.Owned(name, rev)
}

// change records the time of the last change in a user's tree.
func (s *scanner) change(name string, rev disk.Revision) {
	at := time.Unix(0, rev.Modified)
	if t, top, _ := s.root.At(name); t.Owner != disk.AnyOwner && s.changed[top].Before(at) {
		s.changed[top] = at
	}
}

// isNote reports whether an entry is an annotation: .robots, or a robots.txt at the top of a
// tree. A directory named .robots counts as an unreadable annotation, since its author wants
// to deny something.
func (r *reading) isNote(e disk.Dirent) bool {
	return e.Base == noteName || e.Base == handName && !e.IsDir() && r.root.IsTop(r.at.real)
}

// keepsFiles reports whether to record files: with Config.Files, and at the top of a user's
// tree. The policy does not need them, and the names of a million files would take most of
// the memory.
func (r *reading) keepsFiles() bool {
	t, _, rest := r.root.At(r.at.real)
	return r.conf.Files || t.Owner != disk.AnyOwner && rest == "."
}

// fill fills in the subdirectories and, if keepsFiles, the files. It reuses subdirectories of
// old.
func (r *reading) fill(old *Dir) {
	targets := map[string]string{}
	for _, l := range r.found.links {
		targets[l.name] = l.real
	}
	keepsFiles := r.keepsFiles()
	for _, e := range r.kept {
		if _, ok := menu.DatedText(e.Base); ok && !e.IsDir() {
			r.dir.Phlog = true
		}
		if !e.IsDir() && !keepsFiles {
			continue
		}
		p := r.at.child(e.Base)
		target, isLink := targets[p.name]
		if isLink {
			p.real = target
		}
		if !e.IsDir() {
			r.dir.Files = append(r.dir.Files, r.file(p, old))
			continue
		}
		if d := r.below(p, child(old, e.Base), isLink); d != nil {
			r.dir.Dirs = append(r.dir.Dirs, d)
		}
	}
}

// file returns the record of a file. Its Type is 0 if the file cannot be read or Config.Files
// is not set.
func (r *reading) file(p place, old *Dir) File {
	if base := path.Base(p.name); !r.conf.Files || r.unreadable[base] {
		return File{Name: base}
	}
	f, err := r.look(p)
	if err != nil {
		return f
	}

	// Reuse the old type. If there is none, take it from the name, or else from the first
	// bytes.
	typ, known := menu.TypeOf(f.Name)
	isMenu := menu.IsMenuFile(f.Name)
	if was, _, ok := old.file(f.Name); ok && was.Type != 0 {
		if f.Type = was.Type; f == was {
			return f
		}
	}
	switch {
	case r.conf.Runs != nil && r.conf.Runs(p.real):
		f.Type = menu.TypeMenu
	case known && !isMenu:
		f.Type = typ
	default:
		head, err := r.read(p.real, 512)
		r.noteBusy(err)
		switch {
		case err != nil, isMenu && menu.IsProgram(head):
			f.Type = 0
		case isMenu:
			f.Type = menu.TypeMenu
		default:
			f.Type = menu.Sniff(head)
		}
	}
	return f
}

// look returns the record of a file without its type.
func (r *reading) look(p place) (File, error) {
	rev, _, err := r.root.Revision(r.call, p.real)
	if rev.FileMode().IsDir() {
		return File{Name: path.Base(p.name)}, err // a link to a directory: its times mean nothing here
	}
	return File{
		Name:     path.Base(p.name),
		Size:     rev.Size,
		Changed:  rev.Changed,
		Modified: rev.Modified,
	}, err
}

// below returns a subdirectory: the old record, or else a new one. It returns nil for an
// alias.
func (r *reading) below(p place, old *Dir, isLink bool) *Dir {
	switch {
	case isLink && r.placed[p.name] == p.real && old != nil:
		return old
	case isLink:
		if r.placed[p.name] != "" { // the link has changed: place the targets again
			r.hidden, r.relinked = nil, true
		}
		return nil
	case r.root.Same(p.real) != "":
		r.found.links = append(r.found.links, link{
			name: p.name,
			real: p.real,
			dir:  true,
		})
		return nil
	case r.reused[p.real] != nil:
		return r.reused[p.real]
	case old != nil:
		return old
	}
	d, _ := r.scanner.dir(p, nil)
	return d
}

// note reads an annotation.
func (r *reading) note(e disk.Dirent) *policy.Annotation {
	if e.Mode == fs.ModeSymlink {
		_, _, _ = r.resolve(e.Base)
	}
	a := &policy.Annotation{
		Dir:  selector.Canonical(r.at.name, true),
		File: r.of + selector.Join(r.at.name, e.Base),
	}
	a.Data, a.Err = r.read(selector.Join(r.at.real, e.Base), maxNote+1) // one more byte shows that it is too large
	r.mind(a.Err)
	r.noteBusy(a.Err)
	return a
}

// noteBusy records that the directory must be read again if err reports a lease.
func (r *reading) noteBusy(err error) {
	if errors.Is(err, disk.ErrBusy) {
		r.busy[r.at.real] = struct{}{}
	}
}

// read reads up to most bytes of a file.
func (s *scanner) read(name string, most int64) ([]byte, error) {
	f, err := s.root.Open(s.call, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if f.Info.IsDir() {
		return nil, errors.New("is a directory")
	}
	data, err := io.ReadAll(io.LimitReader(&disk.CallReader{Handle: f, Call: s.call}, most))
	return bytes.Clone(data), err // ReadAll's buffer is larger than most annotations
}

// rescan reads real directories again and returns the new tree. files names the changed files
// of a directory if nothing else in it has changed. Unchanged directories are shared with the
// old tree; if nothing has changed, rescan returns the old tree.
func (s *scanner) rescan(tree *Dir, dirs []string, files map[string][]string) *Dir {
	changed := make(map[string]bool, len(dirs))
	again := map[place][]string{} // the changed files, or nil for the whole directory
	for _, dir := range dirs {
		changed[dir] = true
		again[place{dir, dir}] = files[dir]
		for name, real := range s.placed {
			if rest, in := below(dir, real); in {
				again[place{path.Join(name, rest), dir}] = nil
			}
		}
	}
	for dir, f := range s.found {
		if slices.ContainsFunc(f.via, func(d string) bool { return changed[d] }) {
			again[s.placeOf(dir)] = nil
		}
	}

	// Read them, parents first. Skip a directory that was just read with its parent.
	before := tree
	for _, p := range slices.SortedFunc(maps.Keys(again), func(a, b place) int {
		return strings.Compare(a.name, b.name)
	}) {
		old := tree.Find(p.name)
		if old == nil && isAsked(p.real) {
			delete(s.busy, p.real) // it is gone
		}
		if old == nil || old != before.Find(p.name) {
			continue
		}
		found := s.found[p.name]
		s.slow = false
		d := s.edited(p, old, again[p])
		if d == nil {
			d, _ = s.dir(p, old)
		}
		if s.slow { // keep the old record until the file system responds
			d, s.kept = old, true
			s.busy[p.real] = struct{}{}
			s.found[p.name] = found
		}
		if d != old {
			tree = tree.with(p.name, d)
		}
	}
	return s.findAliases(tree)
}

// edited returns a new record of a directory in which only the given files have changed. It
// returns nil if the whole directory must be read: files is nil, or one of them is neither a
// plain file (isPlain) nor an annotation.
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
	d.Files, d.Notes = slices.Clone(old.Files), slices.Clone(old.Notes)
	r := reading{scanner: s, at: p, dir: &d}
	r.opened(f)
	readable := f.Readable(s.call)
	for _, base := range slices.Compact(slices.Sorted(slices.Values(files))) {
		at := p.child(base)
		isLink := func(l link) bool { return l.name == at.name }
		_, isDated := menu.DatedText(base)
		if base != noteName && !isPlain(base) || isDated && !old.Phlog ||
			s.root.Trees[at.real] != nil || slices.ContainsFunc(s.found[p.name].links, isLink) {
			return nil
		}
		d.Notes = slices.DeleteFunc(d.Notes, func(a *policy.Annotation) bool {
			return path.Base(a.File) == base
		})
		if _, i, had := d.file(base); had {
			d.Files = slices.Delete(d.Files, i, i+1)
		}
		rev, err := s.root.Lstat(s.call, at.real)
		e := disk.Dirent{Base: base, Mode: rev.FileMode().Type()}
		switch {
		case errors.Is(err, fs.ErrNotExist) && !isDated: // a dated text may have been the last one
		case err != nil || !e.Mode.IsRegular() || !s.root.Owned(at.real, rev) || !readable(&e):
			return nil
		default:
			r.entry(e)
		}
	}
	r.fill(old)
	slices.SortFunc(d.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return settled(&d, old)
}

// isPlain reports whether a file of this name affects nothing but its own record.
func isPlain(base string) bool {
	return selector.Refusal(base) == "" && selector.Decoded(base) == base && !isStray(base) &&
		!menu.IsMenuFile(base) && !menu.IsMap(base) &&
		base != handName && base != capsName && base != "index.gmi"
}

// placeOf returns the place of a directory of the tree.
func (s *scanner) placeOf(name string) place {
	for placed, real := range s.placed {
		if rest, in := below(name, placed); in {
			return place{name, path.Join(real, rest)}
		}
	}
	return place{name, name}
}

// below returns the path of d relative to top, or false if d is not below top.
func below(d, top string) (string, bool) {
	switch {
	case d == top:
		return ".", true
	case top == ".":
		return d, true
	}
	return strings.CutPrefix(d, top+"/")
}
