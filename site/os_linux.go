package site

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// openBeneath makes plain use openat2(2), where the kernel has it (Linux 5.6):
// one system call that cannot leave the tree, whatever the depth, where os.Root
// opens each directory on the way. It reports whether it does.
func (t *tree) openBeneath() bool {
	fd, err := unix.Open(t.real, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	t.fd = fd
	t.unused = runtime.AddCleanup(t, func(fd int) { _ = unix.Close(fd) }, fd)
	f, err := t.openat2(".")
	if err != nil {
		t.closeBeneath()
		return false
	}
	_ = f.Close()
	t.plain = t.openat2
	return true
}

// beneath opens a name as openat2(2) does that does not leave the tree.
func (t *tree) beneath(name string, flags int) (fd int, err error) {
	defer runtime.KeepAlive(t)
	if fd, err = openBelow(t.fd, name, flags); err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

// openBelow opens a name below a directory, through no link.
func openBelow(dir int, name string, flags int) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err = unix.Openat2(dir, name, &how)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ELOOP):
			err = errLink
		case errors.Is(err, unix.ENXIO): // a socket, or a FIFO without a reader
			err = errSpecial
		}
		return fd, notThere(err)
	}
}

func (t *tree) openat2(name string) (*os.File, error) {
	fd, err := t.beneath(name, openFlags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path.Join(t.real, name)), nil
}

// lstatBeneath is lstat by openat2(2).
func (t *tree) lstatBeneath(name string) (fs.FileInfo, error) {
	fd, err := t.beneath(name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	return f.Stat()
}

// lookBeneath goes to an element of the directory that was reached, or returns where
// it leads if it is a link. There is a descriptor for each directory, so that what a
// step costs does not depend on how deep it is; and nothing is opened that could
// block.
func (w *walk) lookBeneath(t *tree, at, elem string) (target string, err error) {
	if w.fd < 0 {
		if w.fd, err = t.beneath(at, unix.O_PATH|unix.O_NOFOLLOW); err != nil {
			return "", err
		}
	}
	fd, err := openBelow(w.fd, elem, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		w.leave()
		w.fd = fd
		return "", nil
	}
	defer func() { _ = unix.Close(fd) }()
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	return string(buf[:max(n, 0)]), err
}

// leave closes the directory that was reached.
func (w *walk) leave() {
	if w.fd >= 0 {
		_ = unix.Close(w.fd)
		w.fd = -1
	}
}

// resolveCached is openat2's RESOLVE_CACHED (Linux 5.12): fail rather than wait.
const resolveCached = 0x20

// ready returns a regular file, read if it is smaller than small, else only
// opened, if the kernel has its name, and all of what is read, in memory, so that
// it cannot block. It is not for what lies on another file system than the root,
// nor for anything on one that others may change: there the open itself asks
// somebody, though the name is known.
func (t *tree) ready(name string, small int64) (f Ready, ok bool) {
	how := unix.OpenHow{
		Flags:   uint64(openFlags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV | resolveCached,
	}
	if t.fd < 0 || t.remote {
		return f, false
	}
	fd, err := unix.Openat2(t.fd, name, &how)
	runtime.KeepAlive(t)
	if err != nil {
		return f, false
	}
	var st unix.Stat_t
	known := unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Dev == t.device &&
		(t.owner == anyOwner || st.Uid == 0 || int(st.Uid) == t.owner)
	if known && st.Size >= small {
		return Ready{File: os.NewFile(uintptr(fd), name), Size: st.Size, Resident: resident(fd, st.Size)}, true
	}
	defer func() { _ = unix.Close(fd) }()
	if !known {
		return f, false
	}
	body := make([]byte, st.Size)
	if st.Size > 0 {
		if n, err := unix.Preadv2(fd, [][]byte{body}, 0, unix.RWF_NOWAIT); err != nil || int64(n) < st.Size {
			return f, false
		}
	}
	return Ready{Body: body, Size: st.Size}, true
}

// maxResident is the size up to which it is worth knowing whether the kernel has
// a file in memory, in bytes: the larger one takes so long to send that others
// should not wait for it.
const maxResident = 1 << 20

// resident reports whether the kernel has all of an opened file in memory. It tells
// that (cachestat(2), Linux 6.5) only of files that this process could write, or
// to root.
func resident(fd int, size int64) bool {
	if size > maxResident {
		return false
	}
	var pages unix.Cachestat_t
	err := unix.Cachestat(uint(fd), &unix.CachestatRange{Len: uint64(size)}, &pages, 0)
	return err == nil && int64(pages.Cache)*int64(os.Getpagesize()) >= size
}

func (t *tree) closeBeneath() {
	if t.fd >= 0 {
		t.unused.Stop()
		_ = unix.Close(t.fd)
		t.fd = -1
	}
}

// readableIn returns a function that reports whether this process can read an entry
// of an opened directory; a directory must also be searchable.
func readableIn(dir *os.File, call func(func() error) error) func(*dirent) bool {
	if os.Geteuid() == 0 {
		return func(*dirent) bool { return true }
	}
	fd := int(dir.Fd())
	return func(e *dirent) bool {
		mode := uint32(unix.R_OK)
		if e.IsDir() {
			mode |= unix.X_OK
		}
		return call(func() error { return unix.Faccessat(fd, e.name, mode, unix.AT_EACCESS) }) == nil
	}
}

// A record of getdents64(2): inode, offset, length of the record, type, name.
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

// direntSpace holds what one call of getdents64(2) returns.
var direntSpace = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// readDir lists an opened directory, in the directory's own order. It does what
// os.File.ReadDir does in half the time: no value and no string of its own for
// each entry. The names share memory, which stays as long as one of them does.
// Each system call is made by call. What one has read is kept only if keeps says
// so; if not, the list is what came before.
func readDir(f *os.File, call func(func() error) error, keeps func(bytes int) error) (list []dirent, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	if ctlErr := conn.Control(func(fd uintptr) { list, err = direntsOf(int(fd), call, keeps) }); ctlErr != nil {
		return nil, ctlErr
	}
	if err != nil {
		err = &fs.PathError{Op: "readdirent", Path: f.Name(), Err: err}
	}
	return list, err
}

func direntsOf(fd int, call func(func() error) error, keeps func(bytes int) error) ([]dirent, error) {
	space := direntSpace.Get().(*[64 << 10]byte)
	defer direntSpace.Put(space)
	var batches []string
	total := 0
	for {
		n := 0
		err := call(func() (err error) {
			n, err = unix.ReadDirent(fd, space[:])
			return err
		})
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n > 0 {
			err = keeps(n)
		}
		if n > 0 && err == nil {
			batches = append(batches, string(space[:n]))
			eachRecord(batches[len(batches)-1], func(string, byte) { total++ })
			continue
		}
		list := make([]dirent, 0, total)
		for _, records := range batches {
			eachRecord(records, func(name string, t byte) {
				if name != "." && name != ".." {
					list = append(list, dirent{name, typeOf(fd, name, t, call)})
				}
			})
		}
		return list, err
	}
}

// eachRecord calls f with the name and the type of each record.
func eachRecord(records string, f func(name string, t byte)) {
	for len(records) > direntName {
		size := int(binary.NativeEndian.Uint16([]byte(records[direntLen : direntLen+2])))
		if size <= direntName || size > len(records) {
			break
		}
		name, _, _ := strings.Cut(records[direntName:size], "\x00")
		f(name, records[direntType])
		records = records[size:]
	}
}

// typeOf is the type of an entry. Some file systems do not tell it.
func typeOf(dir int, name string, t byte, call func(func() error) error) fs.FileMode {
	if t == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if call(func() error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) }) == nil {
			t = byte(st.Mode & unix.S_IFMT >> 12) // as DT_ constants are made
		}
	}
	switch t {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// remote are the file systems that other machines, or programs, change without
// this kernel telling. Replies made from them are not kept.
var remote = map[int64]bool{
	unix.NFS_SUPER_MAGIC: true, unix.SMB_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true,
	unix.FUSE_SUPER_MAGIC: true, unix.V9FS_MAGIC: true, unix.CEPH_SUPER_MAGIC: true, unix.AFS_SUPER_MAGIC: true,
	unix.CODA_SUPER_MAGIC: true, unix.OCFS2_SUPER_MAGIC: true,
}

// isRemote reports whether a directory lies on such a file system.
func isRemote(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) != nil || remote[int64(st.Type)] //nolint:unconvert // narrower on some architectures
}

// device returns the file system that a file lies on.
func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Dev
	}
	return 0
}
