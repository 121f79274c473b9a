package site

import (
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/selector"
)

// view is the served tree as an fs.FS: what it does not list and does not open
// is not served. Menus are made from it. What is seen through it the look notes.
type view struct{ look *Look }

// open opens a name for a look; through a link no watcher vouches for it.
func (l *Look) open(name string) (*os.File, fs.FileInfo, error) {
	op, err := l.site.guard.Enter(name)
	if err != nil {
		l.failed = err
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer op.Leave()
	f, info, linked, err := l.root.open(name)
	l.links = l.links || linked
	l.loose = l.loose || err == nil && device(info) != l.root.device
	if limit.Reached(err) {
		l.failed = err
	}
	return f, info, err
}

// Open opens a file or directory.
func (v view) Open(name string) (fs.File, error) {
	v.look.depend(path.Dir(name))
	f, _, err := v.look.open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat tells what a name is, through links.
func (v view) Stat(name string) (fs.FileInfo, error) {
	v.look.depend(path.Dir(name))
	f, info, err := v.look.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return info, v.look.site.refuseProgram(v.look.root, f)
}

// maxMapSize bounds what is read of a gophermap or gophertag, in octets.
const maxMapSize = 4 << 20

// ReadFile reads a file, at most maxMapSize octets of it.
func (v view) ReadFile(name string) ([]byte, error) {
	v.look.depend(path.Dir(name))
	f, _, err := v.look.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(&File{File: f, Name: name, guard: v.look.site.guard}, maxMapSize))
}

// ReadDir lists what is served of a directory: no hidden names, none with
// control octets, no special files, nothing that cannot be read. Links count
// as what they lead to. The order is the directory's own: menus sort it.
func (v view) ReadDir(name string) ([]fs.DirEntry, error) {
	v.look.depend(name)
	f, _, err := v.look.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	op, err := v.look.site.guard.Enter(name)
	if err != nil {
		v.look.failed = err
		return nil, err
	}
	defer op.Leave()
	all, err := readDir(f)
	readable := readableIn(f)
	real := v.look.root.nameOf(f)
	list := make([]fs.DirEntry, 0, len(all))
	for i := range all {
		if e := v.entry(name, &all[i], readable); e != nil && !v.program(selector.Join(real, e.Name())) {
			list = append(list, e)
		}
	}
	return list, err
}

func (v view) entry(dir string, e *dirent, readable func(*dirent) bool) fs.DirEntry {
	switch {
	case !selector.Askable(e.name):
	case e.mode.IsRegular(), e.mode.IsDir():
		if readable(e) {
			return e
		}
	case e.mode&fs.ModeSymlink != 0:
		if info, err := v.Stat(selector.Join(dir, e.name)); err == nil {
			return linked{e.name, info}
		}
	}
	return nil
}

// program reports whether a name in a listing is that of a program. Before the
// first scan none is: to look into every file would cost more than the listing.
func (v view) program(real string) bool {
	snap := v.look.site.snap.Load()
	if snap == nil || !snap.included[real] {
		return false
	}
	_, err := v.Stat(real)
	return err != nil
}

// linked is an entry that is a link, told as what it leads to.
type linked struct {
	name string
	fs.FileInfo
}

func (l linked) Name() string               { return l.name }
func (l linked) Type() fs.FileMode          { return l.Mode().Type() }
func (l linked) Info() (fs.FileInfo, error) { return l, nil }
func (l linked) ModTime() time.Time         { return l.FileInfo.ModTime() }
