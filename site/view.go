package site

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
)

// A View is the tree as one request sees it: an fs.FS. It records what is read through it, so
// that a reply can be cached until some of that changes (Stamp). Its calls fail when its
// context ends. It must not be used concurrently.
type View struct {
	ctx   context.Context
	site  *Site
	now   *served
	root  *disk.Root
	began uint64
	enter func(name string) (*stall.Op, error)
	spend func(spent int) error // see Spend; may be nil
	spent int                   // bytes read since Release

	start   int64 // Site.elapsed at the beginning
	scope   scope
	seen    []sight
	unkept  bool // must not be cached: something read has no revision
	without bool // parts are left out because a file system does not respond

	failed error // why the view is incomplete
}

// View returns a View for a request that begins now.
func (s *Site) View(ctx context.Context) *View {
	began, start := s.events.Load(), s.elapsed()
	now := s.served.Load()
	return &View{
		ctx:   ctx,
		site:  s,
		now:   now,
		root:  now.root,
		began: began,
		start: start,
		enter: s.guard.Enter,
	}
}

// Try calls f with a View in a goroutine and returns its result. If a file system does not
// respond, Try returns an error without waiting for f, and later calls of f through the View
// fail.
func Try[T any](ctx context.Context, s *Site, f func(*View) (T, error)) (T, error) {
	return TryFor(ctx, s, stall.Whole, f)
}

// TryFor is Try with another patience.
func TryFor[T any](ctx context.Context, s *Site, patience stall.Patience,
	f func(*View) (T, error)) (T, error) {
	v := s.View(ctx)
	return stall.Try(s.guard, patience, func(a *stall.Attempt) (T, error) {
		v.enter = a.Enter
		return f(v)
	})
}

// Spend sets a function that is called for each read with the number of all bytes read since
// Release. If it returns an error, the read fails with it.
func (v *View) Spend(f func(spent int) error) { v.spend = f }

// Release resets the number of bytes: the caller no longer holds in memory what it has read.
func (v *View) Release() { v.spent = 0 }

// Forget calls Release and drops the record of what was read, so a reply made through the View
// cannot be cached.
func (v *View) Forget() {
	v.Release()
	v.seen, v.unkept = nil, true
}

// Path returns the path of a name on the disk, below the root, a mount or a user's directory.
// It does not follow links.
func (v *View) Path(name string) string {
	t, _, rest := v.root.At(name)
	return filepath.Join(t.Dir, rest)
}

// Owned returns the real name of a file, and whether it is in the same tree (the root, a mount
// or a user's directory) as the file by. Both names may contain links.
func (v *View) Owned(name, by string) (real string, ok bool) {
	real, err := v.root.Resolve(v.call, name)
	if err != nil || v.root.Main.Fixed {
		return "", false
	}
	its, err := v.root.Resolve(v.call, by)
	_, top, _ := v.root.At(real)
	_, ours, _ := v.root.At(its)
	return real, err == nil && top == ours
}

// Report logs problems in the maps of a menu, each once.
func (s *Site) Report(list []diag.Diagnostic) {
	s.problems.report(list, maxReports, "in maps: gophd check lists them")
}

// Context returns the View's context.
func (v *View) Context() context.Context { return v.ctx }

// Err returns the error that makes a reply from the View incomplete, such as an unresponsive
// file or a lack of descriptors, or nil.
func (v *View) Err() error { return v.failed }

// open opens a name and records its revision or the failure.
func (v *View) open(name string) (*Resource, error) {
	f, err := v.root.Open(v.call, name)
	if errors.Is(err, disk.ErrTooManyLinks) {
		v.site.problems.once(tooManyLinks(name))
	}
	if err != nil {
		v.missed(name, err)
		return nil, err
	}
	v.add(sight{name: name, real: f.Real, rev: f.Revision})
	return &Resource{
		File:   f.File,
		Name:   name,
		Real:   f.Real,
		Info:   f.Info,
		view:   v,
		handle: f,
	}, nil
}

// A Resource is an open file or directory of the tree.
type Resource struct {
	disk.File
	Name string // below the root, "." for the root
	Real string // Name with links resolved
	Info fs.FileInfo

	view   *View
	handle *disk.Handle
}

// Stat returns Info.
func (f *Resource) Stat() (fs.FileInfo, error) { return f.Info, nil }

// Read reads from the file. It fails at once if the file is known not to respond.
func (f *Resource) Read(p []byte) (int, error) {
	op, err := f.view.enter(f.Real)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	op.Leave()
	if spent := f.view.Keep(n); spent != nil {
		return 0, spent
	}
	return n, err
}

// ReadAt reads from the file at an offset. It fails at once, and so does the View, if the file is
// known not to respond.
func (f *Resource) ReadAt(p []byte, off int64) (n int, err error) {
	called := f.view.call(f.Real, func() error {
		n, err = f.File.ReadAt(p, off)
		return nil
	})
	return n, cmp.Or(called, err)
}

// OSFile returns the os.File for sendfile(2), or nil if the content is in memory.
func (f *Resource) OSFile() *os.File {
	of, _ := f.File.(*os.File)
	return of
}

// call calls f, which makes a system call on a name, unless the View's context has ended or
// the name is known not to respond.
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

// optional calls f, which reads a part of a reply that can be left out, with a View of its own.
// If a file system does not respond at once, it fails, and the View counts as incomplete.
func optional[T any](v *View, f func(*View) (T, error)) (T, error) {
	type result struct {
		view  *View
		value T
	}
	r, err := stall.Try(v.site.guard, stall.Brief, func(a *stall.Attempt) (r result, err error) {
		r.view = &View{
			ctx:   v.ctx,
			site:  v.site,
			now:   v.now,
			root:  v.root,
			enter: a.Enter,
		}
		r.value, err = f(r.view)
		return r, err
	})
	if in := r.view; in != nil {
		v.seen = append(v.seen, in.seen...)
		v.unkept, v.without = v.unkept || in.unkept, v.without || in.without
		if in.failed != nil && !errors.Is(in.failed, stall.Err) {
			v.failed = in.failed
		}
	}
	v.without = v.without || errors.Is(err, stall.Err)
	return r.value, err
}

// Keep charges for bytes that are about to be held in memory: it calls the function of Spend.
// Reads call it themselves. It fails if the context has ended.
func (v *View) Keep(bytes int) error {
	v.spent += bytes
	err := v.ctx.Err()
	if err == nil && v.spend != nil {
		err = v.spend(v.spent)
	}
	if err != nil {
		v.failed = err
	}
	return err
}
