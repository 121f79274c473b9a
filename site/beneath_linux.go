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
// one system call that cannot leave the root, whatever the depth, where
// os.Root opens each directory on the way.
func (r *root) openBeneath() {
	fd, err := unix.Open(r.real, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	r.fd = fd
	r.unused = runtime.AddCleanup(r, func(fd int) { _ = unix.Close(fd) }, fd)
	f, err := r.openat2(".")
	if err != nil || !r.same(f) {
		r.closeBeneath()
		return
	}
	_ = f.Close()
	r.plain = r.openat2
}

// same says whether the descriptor for openat2 is the directory that os.Root
// holds: it may have been swapped in between.
func (r *root) same(f *os.File) bool {
	a, err := f.Stat()
	b, err2 := r.os.Stat(".")
	if err != nil || err2 != nil || !os.SameFile(a, b) {
		_ = f.Close()
		return false
	}
	return true
}

func (r *root) openat2(name string) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   uint64(openFlags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	defer runtime.KeepAlive(r)
	for {
		fd, err := unix.Openat2(r.fd, name, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path.Join(r.real, name)), nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ELOOP):
			err = errLink
		case errors.Is(err, unix.ENXIO): // a socket, or a FIFO without a reader
			err = errSpecial
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: notThere(err)}
	}
}

// resolveCached is openat2's RESOLVE_CACHED (Linux 5.12): fail rather than wait.
const resolveCached = 0x20

// ready returns a regular file, read if it is smaller than small, else only
// opened, if the kernel has its name, and all of what is read, in memory, so that
// it cannot block. It is not for what lies on another file system than the root,
// nor for anything on one that others may change: there the open itself asks
// somebody, though the name is known.
func (r *root) ready(name string, small int64) (f Ready, ok bool) {
	how := unix.OpenHow{
		Flags:   uint64(openFlags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV | resolveCached,
	}
	if r.fd < 0 || r.remote {
		return f, false
	}
	fd, err := unix.Openat2(r.fd, name, &how)
	runtime.KeepAlive(r)
	if err != nil {
		return f, false
	}
	var st unix.Stat_t
	known := unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Dev == r.device
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

func (r *root) closeBeneath() {
	if r.fd >= 0 {
		r.unused.Stop()
		_ = unix.Close(r.fd)
		r.fd = -1
	}
}

// readableIn returns what says whether an entry of an opened directory can be
// read by this process; a directory must also let it through.
func readableIn(dir *os.File) func(*dirent) bool {
	if os.Geteuid() == 0 {
		return func(*dirent) bool { return true }
	}
	fd := int(dir.Fd())
	return func(e *dirent) bool {
		mode := uint32(unix.R_OK)
		if e.IsDir() {
			mode |= unix.X_OK
		}
		return unix.Faccessat(fd, e.name, mode, unix.AT_EACCESS) == nil
	}
}
