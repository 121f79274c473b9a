package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Revision identifies a version of a file or directory: whatever changes its content,
// owner, mode or access control list changes its time of change, and another file has
// another inode or another mount. Equal revisions mean equal versions, unless
// [Revision.Young]. No file has the zero value.
type Revision struct {
	Mount, Device, Inode uint64
	Changed, Modified    int64 // the times of change (ctime) and of modification (mtime), in nanoseconds
	Size                 int64
	Owner, Mode          uint32 // Mode is st_mode
}

// revisionFrom returns the revision of a file whose mount is not known.
func revisionFrom(st *unix.Stat_t) Revision {
	return Revision{Device: uint64(st.Dev), Inode: uint64(st.Ino), Changed: st.Ctim.Nano(), Modified: st.Mtim.Nano(), Size: st.Size, Owner: st.Uid, Mode: uint32(st.Mode)} //nolint:unconvert // other types on other systems
}

// FileMode returns the type and the permissions.
func (s Revision) FileMode() fs.FileMode {
	mode := fs.FileMode(s.Mode & 0o777)
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return mode
	case unix.S_IFDIR:
		return mode | fs.ModeDir
	case unix.S_IFLNK:
		return mode | fs.ModeSymlink
	}
	return mode | fs.ModeIrregular
}

// coarse is the coarsest clock of a file system.
const coarse = 2 * time.Second

// Young reports whether a file has changed so shortly before now that a later change
// might not change its revision.
func (s Revision) Young(now time.Time) bool {
	age := now.UnixNano() - s.Changed
	return s != Revision{} && age < int64(coarse)
}

// of returns the revision of an opened file.
func (t *Tree) of(name string, f File) (s Revision, err error) {
	of, ok := f.(*os.File)
	if !ok {
		return t.files.stat(name)
	}
	conn, err := of.SyscallConn()
	if err != nil {
		return s, err
	}
	if ctlErr := conn.Control(func(fd uintptr) { s, err = revisionOf(int(fd)) }); ctlErr != nil {
		return s, ctlErr
	}
	return s, err
}

// Revision returns the revision of a file or directory and its real name, following links as
// Open does, without opening it. It reads nothing.
func (r *Root) Revision(call Caller, name string) (s Revision, real string, err error) {
	real, err = r.reach(call, name, func(t *Tree, rest string) (err error) {
		err = t.fault("stat", rest)
		if w, ok := t.files.(walked); ok && err == nil {
			err = w.noLinks(rest)
		}
		if err == nil {
			s, err = t.files.stat(rest)
		}
		if err == nil && s.FileMode()&fs.ModeSymlink != 0 {
			err = errLink
		}
		return err
	})
	return s, real, err
}

// RevisionCached is Revision for a name without links, if it cannot wait: the kernel has
// the name in memory, and its file system is of this machine. If ok is false, it is
// unknown. Err is nil or fs.ErrNotExist.
func (r *Root) RevisionCached(name string) (s Revision, err error, ok bool) { //nolint:revive // an error that is an answer
	t, _, rest := r.At(name)
	files, ok := t.files.(quick)
	if !ok || t.remote || t.Fault != nil {
		return s, nil, false
	}
	fd, s, err := files.cached(rest, false)
	if err != nil {
		return s, err, errors.Is(err, fs.ErrNotExist)
	}
	_ = unix.Close(fd)
	return s, nil, t.spelledSurely(rest)
}
