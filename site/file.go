package site

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// Lookup opens a file or directory for a client. The name must be valid in the sense of
// io/fs. Links are followed where they stay inside the root; hidden names and special
// files return fs.ErrNotExist. If a permission is missing, the error names it: do not
// show that error to clients.
func (v *View) Lookup(name string) (*Resource, error) {
	if !v.answers(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := v.open(name)
	for wait := 5 * time.Millisecond; errors.Is(err, disk.ErrBusy) &&
		wait < 100*time.Millisecond; wait *= 4 { // another process releases its lease when asked
		select {
		case <-time.After(wait):
		case <-v.ctx.Done():
		}
		f, err = v.open(name)
	}
	if err == nil {
		if err = v.refuseProgram(f, true); err == nil && f.Info.IsDir() && !utf8.ValidString(name) { // no scan reads it
			err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		if err != nil {
			_ = f.Close()
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		who := v.root.WhoForbids(v.call, name)
		err = fmt.Errorf("%w: %s", err, who)
		v.site.problems.first(problem{
			file: who,
			code: "PERMISSION",
		}, diag.Diagnostic{Code: "PERMISSION", Severity: diag.Warning, File: name,
			Message: "asked for and not readable: " + who}) // the key is who, since clients choose name
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Ready is Lookup for a regular file of at least least bytes, without blocking. ok is false if
// that or reading the file would block, because the kernel does not have it in memory, or if it
// fails.
func (v *View) Ready(name string, least int64) (f *os.File, size int64, ok bool) {
	if !v.answers(name) || v.suspect(name) || isAnswered(v.site.conf.Programs, "/"+name) {
		return nil, 0, false
	}
	t, _, rest := v.root.At(name)
	fd, size, ok := t.Cached(rest, least)
	if !ok {
		return nil, 0, false
	}
	f = os.NewFile(uintptr(fd), name)
	if !disk.Resident(fd, size) {
		_ = f.Close()
		return nil, 0, false
	}
	return f, size, true
}

// Open opens a file or directory. Unlike Lookup, it also opens hidden files, which menus are
// made from.
func (v *View) Open(name string) (fs.File, error) {
	base := path.Base(name)
	var f *Resource
	var err error
	if menu.IsMap(base) || menu.IsMenuFile(base) || base == "index.gmi" {
		f, err = v.open(name)
	} else if f, err = optional(v, func(v *View) (*Resource, error) {
		return v.open(name)
	}); err == nil {
		f.view = v
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat returns the info of a name; it follows links.
func (v *View) Stat(name string) (fs.FileInfo, error) {
	return optional(v, func(v *View) (fs.FileInfo, error) {
		f, err := v.open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		if isAnswered(v.site.conf.Programs, "/"+name) {
			return f.Info, nil // menus link it, and the program answers
		}
		return f.Info, v.refuseProgram(f, false)
	})
}

// maxMapSize bounds how much of a gophermap or gophertag is read, in bytes.
const maxMapSize = 4 << 20

// ReadFile reads a file, at most maxMapSize bytes of it.
func (v *View) ReadFile(name string) ([]byte, error) {
	f, err := v.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxMapSize))
}

// answers reports whether a client may request a name.
func (v *View) answers(name string) bool {
	if !selector.AskableName(name) {
		return false
	}
	snap := v.Now()
	if snap == nil || len(snap.refused) == 0 {
		return true
	}
	_, follows := snap.resolve(name)
	return follows
}

// ReadDir lists the entries of a directory that are served. Hidden names, names with control
// bytes, special files and unreadable files are omitted. A link has the type of its target.
// The entries are not sorted.
func (v *View) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := v.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := v.list(f)
	if v.isNews(f.Real, slices.ContainsFunc(all, func(e disk.Dirent) bool {
		return e.Base == noteName
	})) {
		v.site.watcher.Look(v.onDisk(f.Real))
	}
	all, kids := v.root.Overlay(all, f.Real, false)
	refused := v.refused(f.handle, all)
	list := make([]fs.DirEntry, 0, len(all)+len(kids))
	for i := range kids {
		list = append(list, &kids[i])
	}
	for i := range all {
		e := v.entry(name, &all[i])
		if e == nil || refused[e.Name()] {
			continue
		}
		real := selector.Join(f.Real, e.Name())
		if alias := name != f.Real && !e.IsDir() &&
			isAnswered(v.site.conf.Programs, "/"+real); !alias && !v.program(real) {
			list = append(list, e)
		}
	}
	return list, err
}

// Files yields the records of served files in a directory, from the Snapshot (which has them
// if Config.Files is set). Aliases, programs and unreadable files are omitted. If names is not
// nil, only these files are yielded.
func (v *View) Files(snap *Snapshot, dir string, names []string) iter.Seq[*File] {
	return func(yield func(*File) bool) {
		d := snap.Tree.Find(dir)
		if d == nil {
			return
		}
		for i := range d.Files {
			f := &d.Files[i]
			if names != nil && !slices.Contains(names, f.Name) {
				continue
			}
			name := selector.Join(dir, f.Name)
			if f.Type != 0 && snap.Real(name) == name && !v.program(name) && !yield(f) {
				return
			}
		}
	}
}

// Entries lists all entries of a directory on the disk, served or not, without the mounts and
// users' trees that appear there.
func (v *View) Entries(name string) ([]fs.DirEntry, error) {
	f, err := v.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	all, err := v.list(f)
	list := make([]fs.DirEntry, len(all))
	for i := range all {
		list[i] = &all[i]
	}
	return list, err
}

// list lists an opened directory. It charges the View for the length of each name and of the
// directory's name, since menus contain both.
func (v *View) list(dir *Resource) ([]disk.Dirent, error) {
	rest := maxListed
	return dir.handle.ReadDir(v.call, func(some []disk.Dirent) error {
		bytes := 0
		for _, e := range some {
			bytes += direntSize + len(e.Base)
		}
		if rest -= bytes; rest < 0 {
			return errLarge
		}
		return v.Keep(bytes + len(some)*len(dir.Name))
	})
}

// isNews reports whether a directory has gained or lost its .robots since the Snapshot.
func (v *View) isNews(real string, annotated bool) bool {
	snap := v.Now()
	if snap == nil || v.root.Main.Fixed {
		return false
	}
	d := snap.Tree.Find(real)
	known := d != nil && slices.ContainsFunc(d.Notes, func(a *policy.Annotation) bool {
		return path.Base(a.File) == noteName
	})
	return d != nil && annotated != known
}

// maxListed bounds the listing of one directory in bytes: some 400,000 names.
const maxListed = 16 << 20

// direntSize is the approximate size of a directory entry in bytes, without its name.
const direntSize = 32

var errLarge = errors.New("too many names: the others are left out")

func (v *View) entry(dir string, e *disk.Dirent) fs.DirEntry {
	switch {
	case !selector.Askable(e.Base):
	case e.Mode.IsRegular(), e.Mode.IsDir():
		return e
	case e.Mode&fs.ModeSymlink != 0 && v.answers(selector.Join(dir, e.Base)):
		if info, err := v.Stat(selector.Join(dir, e.Base)); err == nil {
			e.Mode = info.Mode().Type()
			return e
		}
	}
	return nil
}

// program reports whether a file in a listing is a program. Before the first scan it
// returns false: reading the head of every file would cost more than the listing.
func (v *View) program(real string) bool {
	if v.Now() == nil || !v.suspect(real) {
		return false
	}
	_, err := v.Stat(real)
	return err != nil
}

// errProgram is the error for a request for the source of a program.
var errProgram = fmt.Errorf("a program: %w", fs.ErrNotExist)

// suspect reports whether a file may be a program: a map includes or links it. Before the
// first scan every file may be, since the maps have not been read.
func (v *View) suspect(real string) bool {
	snap := v.Now()
	if snap == nil {
		return true
	}
	_, included := snap.included[real]
	return included
}

// mayRun reports whether the suffix of a name may be that of a script.
func mayRun(name string) bool {
	switch path.Ext(name) {
	case ".txt", ".gmi", ".md", ".css", ".xml":
		return false
	}
	t, known := menu.TypeOf(name)
	return known && t == menu.TypeText
}

// refuseProgram returns errProgram if an opened file is a program, so that its source stays
// private. It is a program if
//
//   - an element of its real name marks one (selector.IsProgram)
//   - a program of Config.Programs answers its name
//   - a map includes or links it, and an interpreter runs it or its first bytes are those of a
//     program
//
// Before the first scan the maps are unknown. Then, with wait, a file that may be a program
// waits for the scan; without wait it is refused if its first bytes are those of a program.
func (v *View) refuseProgram(f *Resource, wait bool) error {
	s, real := v.site, f.Real
	var head [menu.ProgramHead]byte
	for elem := range strings.SplitSeq(real, "/") {
		if selector.IsProgram(elem) {
			return &fs.PathError{Op: "open", Path: real, Err: errProgram}
		}
	}
	if !f.Info.IsDir() && (isAnswered(s.conf.Programs, "/"+real) ||
		isAnswered(s.conf.Programs, "/"+f.Name)) {
		return &fs.PathError{Op: "open", Path: f.Name, Err: errProgram}
	}
	if !v.suspect(real) {
		return nil
	}
	n, err := f.ReadAt(head[:], 0)
	if err != nil && errors.Is(v.failed, err) {
		return err // it was not read
	}
	begins := menu.IsProgram(head[:n])
	snap := v.Now()
	if snap == nil && wait && (begins || mayRun(real)) {
		var err error
		if snap, err = v.Snapshot(); err != nil {
			return err
		}
	}
	if snap == nil && !begins {
		return nil
	}
	if snap != nil {
		if as, included := snap.included[real]; !included || !begins && !as {
			return nil
		}
	}
	return &fs.PathError{Op: "open", Path: real, Err: errProgram}
}

// refused returns the entries of a directory that are not served because this process may not
// read them, or because the tree does not serve files of their owner. It omits names whose
// file system does not respond. The View's Stamp depends on the refused entries.
func (v *View) refused(dir *disk.Handle, list []disk.Dirent) map[string]bool {
	t, _, _ := v.root.At(dir.Real)
	if os.Geteuid() == 0 && t.Owner == disk.AnyOwner {
		return nil
	}
	for {
		refused, err := optional(v, func(v *View) (map[string]bool, error) {
			refused, readable := map[string]bool{}, dir.Readable(v.call)
			for i := range list {
				e := &list[i]
				if !selector.Askable(e.Base) || !e.Mode.IsRegular() && !e.Mode.IsDir() {
					continue
				}
				name := selector.Join(dir.Real, e.Base)
				served := readable(e) && v.theirs(name)
				if v.failed != nil && !errors.Is(v.failed, stall.Err) {
					return nil, v.failed // the request has ended
				}
				if served {
					continue
				}
				if refused[e.Base] = true; len(refused) <= maxLooks {
					v.missed(name, fs.ErrPermission)
				} else {
					v.without = true
				}
			}
			if errors.Is(v.failed, stall.Err) && v.ctx.Err() == nil { // go on without that name
				v.failed, v.without = nil, true
			}
			return refused, nil
		})
		if !errors.Is(err, stall.ErrLeft) {
			return refused
		}
		// A name does not respond. The next attempt skips it.
	}
}

// theirs reports whether the owner of a file is one whose files its tree serves.
func (v *View) theirs(real string) bool {
	t, _, rest := v.root.At(real)
	if t.Owner == disk.AnyOwner || rest == "." {
		return true
	}
	rev, err := v.root.Lstat(v.call, real)
	return err == nil && v.root.Owned(real, rev)
}
