package site

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"

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
		head := make([]byte, 4096)
		n, err := unix.Preadv2(fd, [][]byte{head}, 0, unix.RWF_NOWAIT)
		if err != nil {
			_ = unix.Close(fd)
			return f, false
		}
		return Ready{File: os.NewFile(uintptr(fd), name), Head: head[:n], Size: st.Size, Resident: resident(fd, st.Size)}, true
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
// a file in memory, in octets: the larger one takes so long to send that others
// should not wait for it.
const maxResident = 1 << 20

// resident says whether the kernel has all of an opened file in memory. It tells
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

// readableIn returns what says whether an entry of an opened directory can be
// read by this process; a directory must also let it through.
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
