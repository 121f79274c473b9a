package site

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site/internal/disk"
)

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

// answers reports whether a name can be asked for.
func (s *Site) answers(name string) bool {
	if !selector.AskableName(name) {
		return false
	}
	snap := s.Now()
	return snap == nil || len(snap.refused) == 0 || !snap.overBudget(name)
}

// overBudget reports whether a name lies behind a link that the scan did not follow.
func (s *Snapshot) overBudget(name string) bool {
	for i := range len(name) {
		if name[i] == '/' && s.refused[name[:i]] {
			return true
		}
	}
	return s.refused[name]
}

// ReadDir lists what is served of a directory: no hidden names, none with
// control bytes, no special files, nothing that cannot be read. Links count
// as what they lead to. The order is the directory's own: menus sort it.
func (v *View) ReadDir(name string) ([]fs.DirEntry, error) {
	v.depend(name)
	f, err := v.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	rest := maxListed
	call := func(f func() error) error { return v.call(name, f) }
	all, err := disk.ReadDir(f.File, call, func(bytes int) error {
		if rest -= bytes; rest < 0 {
			return errLarge
		}
		return v.keeps(bytes + bytes/direntSize*len(name)) // in a menu each has the directory in front
	})
	readable := disk.Readable(f.File, call)
	kids := v.root.Kids(f.Real, func(t *disk.Tree) bool { return t.Listed })
	all = disk.Overlay(all, kids)
	all = all[:len(all)-len(kids)]
	list := make([]fs.DirEntry, 0, len(all)+len(kids))
	for i := range kids {
		list = append(list, &kids[i])
	}
	for i := range all {
		e := v.entry(name, f.Real, &all[i], readable)
		if e == nil {
			continue
		}
		real := selector.Join(f.Real, e.Name())
		if alias := name != f.Real && !e.IsDir() && isAnswered(v.site.conf.Programs, "/"+real); !alias && !v.program(real) {
			list = append(list, e)
		}
	}
	return list, err
}

// maxListed is how much is read of one directory, in bytes: some 400,000 names.
const maxListed = 16 << 20

// direntSize is what an entry of a directory takes at least, about, in bytes.
const direntSize = 32

var errLarge = errors.New("too many names: the others are left out")

func (v *View) entry(dir, real string, e *disk.Dirent, readable func(*disk.Dirent) bool) fs.DirEntry {
	switch {
	case !selector.Askable(e.Base):
	case e.Mode.IsRegular(), e.Mode.IsDir():
		if readable(e) && v.theirs(selector.Join(real, e.Base)) {
			return e
		}
	case e.Mode&fs.ModeSymlink != 0:
		if info, err := v.Stat(selector.Join(dir, e.Base)); err == nil {
			return linked{e.Base, info}
		}
	}
	return nil
}

// theirs reports whether an entry of a real directory belongs to whom it must to
// be served.
func (v *View) theirs(real string) bool {
	t, _, rest := v.root.At(real)
	if t.Owner == disk.AnyOwner || rest == "." {
		return true
	}
	info, err := t.Lstat(rest)
	return err == nil && v.root.Owned(real, info)
}

// program reports whether a name in a listing is that of a program. Before the
// first scan none is: to look into every file would cost more than the listing.
func (v *View) program(real string) bool {
	if v.site.Now() == nil || !v.site.suspect(real) {
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
