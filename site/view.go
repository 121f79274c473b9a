package site

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
)

// A View is the tree as one request sees it. It is an fs.FS: what it does not
// list and does not open is not served. It notes which directories were looked
// at, so that what is made from them can be kept until one of them changes
// (Stamp). It ends when its context does, and is for one goroutine.
type View struct {
	ctx   context.Context
	site  *Site
	root  *disk.Root
	began uint64
	enter func(name string) (*stall.Op, error)
	spend func(bytes int) error // nil: reading is free
	slots map[uint16]struct{}
	loose bool // something was seen whose changes the watcher does not report for sure
	links bool // among it a symbolic link

	failed error // why what was seen is not all there is
}

// View returns the tree as it is from now on.
func (s *Site) View(ctx context.Context) *View {
	began := s.changes.seq.Load() // before the root: of two, the older may be the new one's
	return &View{ctx: ctx, site: s, root: s.served.Load().root, began: began, enter: s.guard.Enter}
}

// Try runs f with a View, in a goroutine of its own, and returns what it returns.
// It does not wait for a file system that does not answer: then it returns an
// error before f does, and f gets nothing more to see.
func Try[T any](ctx context.Context, s *Site, f func(*View) (T, error)) (T, error) {
	v := s.View(ctx)
	return stall.Wait(s.guard, func(a *stall.Attempt) (T, error) {
		v.enter = a.Enter
		return f(v)
	})
}

// Spend lets f be called with the number of bytes that are about to be kept of
// what was read. If it fails, so does the reading.
func (v *View) Spend(f func(bytes int) error) { v.spend = f }

// Path returns where a name lies on the disk, links in it not followed: below the
// root, a mount, or the directory of a user.
func (v *View) Path(name string) string {
	t, _, rest := v.root.At(name)
	return filepath.Join(t.Dir, rest)
}

// Report logs what is wrong with the files of a menu, each unless it was logged
// before.
func (s *Site) Report(list []diag.Diagnostic) { s.problems.report(list) }

// Context is the one that the View ends with.
func (v *View) Context() context.Context { return v.ctx }

// depend notes that what is made depends on what is in a directory.
func (v *View) depend(dir string) {
	if !v.loose {
		v.loose = !v.site.watcher.Watched(dir)
		v.note(v.site.changes.slot(dir))
	}
}

func (v *View) note(slot uint16) {
	if v.slots == nil {
		v.slots = map[uint16]struct{}{}
	}
	v.slots[slot] = struct{}{}
}

// DependOnPolicy notes that what is made depends on the Snapshot, too.
func (v *View) DependOnPolicy() { v.note(v.site.changes.slot(policyDir)) }

// DependOn notes that what is made depends on what another View has seen.
func (v *View) DependOn(s *Stamp) {
	if s == nil {
		v.loose = true
		return
	}
	v.began = min(v.began, s.began)
	for _, slot := range s.slots {
		v.note(slot)
	}
}

// Stamp returns the Stamp of what was seen, nil if nobody could find out whether
// that has changed.
func (v *View) Stamp() *Stamp {
	if v.loose || v.links || v.failed != nil {
		return nil
	}
	return v.stamp()
}

func (v *View) stamp() *Stamp {
	s := &Stamp{changes: v.site.changes, began: v.began, slots: make([]uint16, 0, len(v.slots))}
	for slot := range v.slots {
		s.slots = append(s.slots, slot)
	}
	return s // seen is 0: whether it is fresh at all is looked up the first time
}

// MissingStamp is Stamp for a View that has found that there is no such name, or
// none that may be read.
func (v *View) MissingStamp(name string) *Stamp {
	if v.links || v.failed != nil {
		return nil // what it leads to may come into being anywhere
	}
	dir, ok := v.nearest(path.Dir(name))
	if !ok {
		return nil
	}
	v.note(v.site.changes.slot(dir))
	v.DependOnPolicy()
	return v.stamp()
}

// nearest finds the directory whose change would make a missing name appear.
func (v *View) nearest(dir string) (string, bool) {
	for dir != "." {
		op, err := v.enter(dir)
		if err != nil {
			return "", false
		}
		info, err := v.root.Lstat(dir)
		op.Leave()
		if err == nil && v.site.watcher.Watched(dir) {
			return dir, v.root.IsLocal(dir, info)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", false
		}
		dir = path.Dir(dir)
	}
	return dir, v.site.watcher.Watched(dir)
}

// Err returns why what was seen is not all there is: files that do not answer, or
// no more descriptors. It is nil if all was seen.
func (v *View) Err() error { return v.failed }

// open opens a name; of what is behind a link no watcher reports all changes.
func (v *View) open(name string) (*Resource, error) {
	f, info, real, err := v.root.Open(v.call, name)
	v.links = v.links || real != name
	if limit.Reached(err) {
		v.failed = err
	}
	if errors.Is(err, disk.ErrBusy) {
		v.loose = true // no event says when it can be read
		if base := path.Base(name); menu.IsMap(base) || menu.IsMenuFile(base) {
			v.failed = err // a listing in its place would be another menu
		}
	}
	if errors.Is(err, disk.ErrTooManyLinks) {
		v.site.problems.once(tooManyLinks(name))
	}
	if err != nil {
		return nil, err
	}
	v.loose = v.loose || !v.root.IsLocal(real, info)
	return &Resource{File: f, Name: name, Real: real, Info: info, view: v}, nil
}

// A Resource is an opened file, or a directory, of the tree.
type Resource struct {
	*os.File
	Name string // below the root, "." for the root
	Real string // the same without links
	Info fs.FileInfo

	view *View
}

// Read reads from a file, unless it is known not to answer.
func (f *Resource) Read(p []byte) (int, error) {
	op, err := f.view.enter(f.Name)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	op.Leave()
	if spent := f.view.keeps(n); spent != nil {
		return 0, spent
	}
	return n, err
}

// OSFile returns the file without the guard, for sendfile(2).
func (f *Resource) OSFile() *os.File { return f.File }

// call makes a system call on a name, as long as the view is wanted and the name
// answers.
func (v *View) call(name string, f func() error) error {
	err := v.ctx.Err()
	if err == nil {
		var op *stall.Op
		if op, err = v.enter(name); err == nil {
			defer op.Leave()
			return f()
		}
	}
	v.failed = err
	return err
}

// keeps is asked before something that was read is kept.
func (v *View) keeps(bytes int) error {
	err := v.ctx.Err()
	if err == nil && v.spend != nil {
		err = v.spend(bytes)
	}
	if err != nil {
		v.failed = err
	}
	return err
}
