package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Tree is an opened directory that is served, with all below it. Nothing outside
// it can be reached through it: names are opened below it without following any
// symbolic link; Root follows those.
type Tree struct {
	Dir      string // absolute, as the administrator names it
	real     string // absolute, all links resolved
	files    files
	foldings foldings

	Info   fs.FileInfo // of the directory
	Listed bool        // it shows in the listing of the directory that it appears in
	Owner  int         // whose files are served besides root's; or AnyOwner
	Fixed  bool        // an fs.FS, which does not change
	remote bool        // which others may change without an event

	// Fault, if not nil, is called before a name is opened, and the open fails with
	// its error: for tests.
	Fault func(name string) error
}

// files is how a Tree reaches what lies below its directory.
type files interface {
	// open opens a name that contains no link; if it does, it fails with errLink. It does not
	// block on a FIFO. A directory is an fs.ReadDirFile.
	open(name string) (File, error)
	// stat returns the revision of a name whose directories are no links; its last element
	// may be one.
	stat(name string) (Revision, error)
	// readlink returns where the name that a walk comes to leads. If it is no link, it returns
	// "", and may set the walk's descriptor.
	readlink(w *walk, name string) (string, error)
	Close() error
}

// quick are files that can be opened by system calls that cannot wait: the kernel has the name
// in memory, and it is on the file system of the tree. The caller closes the descriptor, which
// can be read if reads is set.
type quick interface {
	cached(name string, reads bool) (fd int, s Revision, err error)
}

// A File is an opened file or directory.
type File interface {
	fs.File
	io.ReaderAt
	io.Seeker
}

// openTreeAs opens a directory, an absolute path, whose files open returns.
func openTreeAs(dir string, open func(dir string) (files, error)) (*Tree, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	t := &Tree{Dir: dir, real: real, Owner: AnyOwner, remote: isRemote(dir)}
	if t.files, err = open(real); err != nil {
		return nil, err
	}
	if t.Info, err = os.Stat(real); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// FS returns a root of files that do not change.
func FS(fsys fs.FS) *Root {
	main := &Tree{
		Dir:   "/",
		real:  "/",
		files: fixed{fsys, time.Now().UnixNano()},
		Owner: AnyOwner,
		Fixed: true,
	}
	return (&Root{Main: main}).With(nil)
}

// Is reports whether what a path leads to is the directory of the tree.
func (t *Tree) Is(found fs.FileInfo) bool {
	return os.SameFile(t.Info, found) && (t.Owner == AnyOwner || t.Owner == OwnerOf(found))
}

// fault returns an error that a test wants.
func (t *Tree) fault(op, name string) error {
	if t.Fault == nil {
		return nil
	}
	if err := t.Fault(name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// open opens a name that contains no link; if it does, it fails with errLink.
func (t *Tree) open(name string) (File, error) {
	if err := t.fault("open", name); err != nil {
		return nil, err
	}
	return t.files.open(name)
}

// serves reports whether files of a user are served: the owner's and root's.
func (t *Tree) serves(uid int) bool {
	return t.Owner == AnyOwner || uid == 0 || uid == t.Owner
}

// Cached opens a regular file of at least so many bytes if the kernel has its name in memory,
// and returns its descriptor, which the caller must close. It fails for files on another file
// system than the tree, and for all files on a remote one: there even the open of a known name
// may wait for another machine or program.
func (t *Tree) Cached(name string, least int64) (fd int, size int64, ok bool) {
	files, ok := t.files.(quick)
	if !ok || t.remote || !t.spelledSurely(name) {
		return -1, 0, false
	}
	fd, s, err := files.cached(name, true)
	if err != nil {
		return -1, 0, false
	}
	if !s.FileMode().IsRegular() || s.Size < least || !t.serves(int(s.Owner)) || isWithheld(s) {
		_ = syscall.Close(fd)
		return -1, 0, false
	}
	return fd, s.Size, true
}

// Close closes a tree at once. It must not be called while a request uses the tree: the
// system may reuse the descriptor's number for another file. The garbage collector
// closes trees for which Close is never called.
func (t *Tree) Close() { _ = t.files.Close() }

// walked opens names where there is no openat2: os.Root keeps them inside.
type walked struct{ *os.Root }

func openWalked(dir string) (files, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return walked{in}, nil
}

// noLinks fails with errLink if one of the directories of a name is a link.
func (w walked) noLinks(name string) error {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if target, err := w.readlink(nil, name[:i]); err != nil {
			return err
		} else if target != "" {
			return &fs.PathError{Op: "open", Path: name, Err: errLink}
		}
	}
	return nil
}

func (w walked) open(name string) (File, error) {
	if err := w.noLinks(name + "/"); err != nil {
		return nil, err
	}
	f, err := w.OpenFile(name, openFlags, 0)
	switch {
	case errors.Is(err, syscall.ENXIO): // a socket, or a FIFO without a reader
		err = errSpecial
	case errors.Is(err, syscall.EAGAIN):
		err = ErrBusy
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

func (w walked) stat(name string) (r Revision, err error) {
	dir, err := w.Open(path.Dir(name))
	if err != nil {
		return r, notThere(err)
	}
	defer func() { _ = dir.Close() }()
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), path.Base(name), &st,
		unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return r, &fs.PathError{Op: "stat", Path: name, Err: notThere(err)}
	}
	return revisionFrom(&st), nil
}

func (w walked) readlink(_ *walk, name string) (string, error) {
	info, err := w.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", notThere(err)
	}
	return w.Readlink(name)
}

// fixed opens names of an fs.FS, which follows its links itself.
type fixed struct {
	fs     fs.FS
	opened int64 // when
}

// maxInMemory bounds a file that is read into memory to be served, in bytes.
const maxInMemory = 64 << 20

// inMemory is a file that cannot be read at any offset: it was read into memory.
type inMemory struct {
	fs.File
	*bytes.Reader
}

func (f inMemory) Read(p []byte) (int, error) { return f.Reader.Read(p) }

func (f inMemory) ReadDir(n int) ([]fs.DirEntry, error) {
	dir, ok := f.File.(fs.ReadDirFile)
	if !ok {
		return nil, syscall.ENOTDIR
	}
	return dir.ReadDir(n)
}

func (x fixed) open(name string) (File, error) {
	f, err := x.fs.Open(name)
	if err != nil {
		return nil, err
	}
	if all, ok := f.(File); ok {
		return all, nil
	}
	info, err := f.Stat()
	var data []byte
	if err == nil && info.Mode().IsRegular() {
		data, err = io.ReadAll(io.LimitReader(f, maxInMemory+1))
	}
	if err == nil && len(data) > maxInMemory {
		err = fmt.Errorf("%s: more than %d MiB, and no way to read a part", name, maxInMemory>>20)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return inMemory{f, bytes.NewReader(data)}, nil
}

func (x fixed) stat(name string) (Revision, error) {
	info, err := fs.Stat(x.fs, name)
	if err != nil {
		return Revision{}, err
	}
	r := Revision{
		Changed:  x.opened,
		Modified: info.ModTime().UnixNano(),
		Size:     info.Size(),
		Mode:     uint32(info.Mode().Perm()),
	}
	switch {
	case info.IsDir():
		r.Mode |= unix.S_IFDIR
	case info.Mode().IsRegular():
		r.Mode |= unix.S_IFREG
	}
	return r, nil
}

func (x fixed) readlink(_ *walk, name string) (string, error) {
	_, err := fs.Stat(x.fs, name)
	return "", err
}

// Close does nothing.
func (x fixed) Close() error { return nil }
