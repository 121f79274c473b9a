package site

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/stall"
)

// A View is the tree as one request sees it. It is an fs.FS that lists and opens only
// files that are served. It records what it sees: a reply made from it may be kept until
// some of it changes (Stamp). It ends with its context, and must
// not be used concurrently.
type View struct {
	ctx   context.Context
	site  *Site
	now   *served
	root  *disk.Root
	began uint64
	enter func(name string) (*stall.Op, error)
	spend func(spent int) error // nil: reading is free
	spent int                   // bytes that were kept since Release

	start   int64 // of the site's clock
	numbers [scopes]uint64
	scope   scope // what a reply depends on besides files
	seen    []sight
	unkept  bool // it depends on files without a Stamp
	without bool // parts are left out: a file system does not answer

	failed error // why the view is incomplete
}

// View returns the tree as it is from now on.
func (s *Site) View(ctx context.Context) *View {
	began, start := s.events.Load(), s.elapsed()
	now := s.served.Load()
	return &View{ctx: ctx, site: s, now: now, root: now.root, numbers: now.numbers, began: began, start: start, enter: s.guard.Enter}
}

// Try runs f with a View, in a goroutine of its own, and returns the result of f. It
// does not wait for a file system that does not answer: it then returns an error before
// f ends, and later system calls of f through the View fail.
func Try[T any](ctx context.Context, s *Site, f func(*View) (T, error)) (T, error) {
	v := s.View(ctx)
	return stall.Try(s.guard, stall.Whole, func(a *stall.Attempt) (T, error) {
		v.enter = a.Enter
		return f(v)
	})
}

// Spend sets a function that is called before bytes are kept after a read, with the number
// of all that are kept then. If it returns an error, the read fails with it.
func (v *View) Spend(f func(spent int) error) { v.spend = f }

// Release resets the number of bytes: a walk keeps nothing of the directories behind it.
func (v *View) Release() { v.spent = 0 }

// Forget is Release, and what was read so far decides nothing: a reply made through the View
// cannot be kept.
func (v *View) Forget() {
	v.Release()
	v.seen, v.unkept = nil, true
}

// Path returns where a name lies on the disk, links in it not followed: below the
// root, a mount, or the directory of a user.
func (v *View) Path(name string) string {
	t, _, rest := v.root.At(name)
	return filepath.Join(t.Dir, rest)
}

// Owned returns the real name of a file, if it lies in the tree of the file by: the root's,
// a mount or a user's. Both names may lead through links.
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

// Report logs problems in the files of a menu, each one only once.
func (s *Site) Report(list []diag.Diagnostic) { s.problems.report(list) }

// Context is the one that the View ends with.
func (v *View) Context() context.Context { return v.ctx }

// Err returns why the view is incomplete: files that do not answer, or no more
// descriptors. It returns nil if the view is complete.
func (v *View) Err() error { return v.failed }

// open opens a name, and records its revision, or that it cannot be opened.
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
	return &Resource{File: f.File, Name: name, Real: f.Real, Info: f.Info, view: v, handle: f}, nil
}

// A Resource is an opened file, or a directory, of the tree.
type Resource struct {
	disk.File
	Name string // below the root, "." for the root
	Real string // the same without links
	Info fs.FileInfo

	view   *View
	handle *disk.Handle
}

// Stat returns Info.
func (f *Resource) Stat() (fs.FileInfo, error) { return f.Info, nil }

// Read reads from a file, unless it is known not to answer.
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

// OSFile returns the file without the guard, for sendfile(2); nil if it is in memory.
func (f *Resource) OSFile() *os.File {
	of, _ := f.File.(*os.File)
	return of
}

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

// optional runs f, a part of a reply that can be left out, with a View of its own. If that
// part does not come in a moment, the reply is made without it, and is kept for a second at
// most.
func optional[T any](v *View, f func(*View) (T, error)) (T, error) {
	type result struct {
		view  *View
		value T
	}
	r, err := stall.Try(v.site.guard, stall.Brief, func(a *stall.Attempt) (r result, err error) {
		r.view = &View{ctx: v.ctx, site: v.site, now: v.now, root: v.root, numbers: v.numbers, began: v.began, start: v.start, enter: a.Enter}
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

// Keep counts bytes that are about to be kept, and calls Spend's function. Reading does so
// by itself. It fails if the context has ended.
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
