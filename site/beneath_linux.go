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

// instant returns a regular file of less than max octets if the kernel has its
// name and all of it in memory, so that it cannot block; else it says no. It
// also says no to what lies on another file system than the root.
func (r *root) instant(name string, max int64) ([]byte, bool) {
	how := unix.OpenHow{
		Flags:   uint64(openFlags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | resolveCached,
	}
	if r.fd < 0 {
		return nil, false
	}
	fd, err := unix.Openat2(r.fd, name, &how)
	runtime.KeepAlive(r)
	if err != nil {
		return nil, false
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size >= max || st.Dev != r.device {
		return nil, false
	}
	body := make([]byte, st.Size)
	if st.Size == 0 {
		return body, true
	}
	n, err := unix.Preadv2(fd, [][]byte{body}, 0, unix.RWF_NOWAIT)
	return body, err == nil && int64(n) == st.Size
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
