package disk

import (
	"errors"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/selector"
)

// openTop opens a directory for openBelow. It returns -1 if the kernel has no
// openat2(2) (Linux before 5.6): one system call that cannot leave the directory,
// whatever the depth, where os.Root opens each directory on the way.
func openTop(dir string) int {
	top, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	fd, err := openBelow(top, ".", openFlags)
	if err != nil {
		_ = unix.Close(top)
		return -1
	}
	_ = unix.Close(fd)
	return top
}

// largeFile lets files of 2 GiB and more be opened on 32-bit machines: package os adds
// it, openat2(2) wants it named.
const largeFile = unix.O_LARGEFILE

// lookFlags open a name without access to its content: the open cannot block on a FIFO,
// and it opens a symbolic link itself.
const lookFlags = unix.O_PATH | unix.O_NOFOLLOW

func closeDescriptor(fd int) { _ = unix.Close(fd) }

// openBelow opens a name below a directory, through no link.
func openBelow(dir int, name string, flags int) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for try := 0; ; {
		fd, err = unix.Openat2(dir, name, &how)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN): // a lease: as long as its holder wants
			if try++; try < maxTries {
				continue
			}
			err = ErrBusy
		case errors.Is(err, unix.ELOOP):
			err = errLink
		case errors.Is(err, unix.ENXIO): // a socket, or a FIFO without a reader
			err = errSpecial
		}
		return fd, notThere(err)
	}
}

// lookAt looks at an element of a directory. It returns a descriptor of it, or,
// if it is a link, -1 and where it leads.
func lookAt(dir int, elem string) (fd int, target string, err error) {
	opened, err := openBelow(dir, elem, lookFlags)
	if err != nil {
		return -1, "", err
	}
	var st unix.Stat_t
	err = unix.Fstat(opened, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return opened, "", nil
	}
	defer func() { _ = unix.Close(opened) }()
	if err != nil {
		return -1, "", err
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(opened, "", buf)
	return -1, string(buf[:max(n, 0)]), err
}

// resolveCached is openat2's RESOLVE_CACHED (Linux 5.12): fail rather than wait.
const resolveCached = 0x20

// cachedBelow opens a regular file of at least so many bytes below a directory without
// blocking. It fails if the kernel does not have the name in memory, or if the file is on
// another file system than the directory.
func cachedBelow(dir int, name string, least int64, allowed func(owner int) bool) (fd int,
	size int64, ok bool) {
	how := unix.OpenHow{
		Flags:   uint64(openFlags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV | resolveCached,
	}
	fd, err := unix.Openat2(dir, name, &how)
	if err != nil {
		return -1, 0, false
	}
	st, err := revisionOf(fd)
	if err != nil || !st.FileMode().IsRegular() || st.Size < least || !allowed(int(st.Owner)) ||
		isWithheld(st) {
		_ = unix.Close(fd)
		return -1, 0, false
	}
	return fd, st.Size, true
}

// revisionOf returns the revision of an open file.
func revisionOf(fd int) (Revision, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID,
		&st); err != nil {
		return Revision{}, err
	}
	return Revision{
		Mount:    st.Mnt_id,
		Device:   uint64(st.Dev_major)<<32 | uint64(st.Dev_minor),
		Inode:    st.Ino,
		Changed:  st.Ctime.Sec*1e9 + int64(st.Ctime.Nsec),
		Modified: st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec),
		Size:     int64(st.Size),
		Owner:    st.Uid,
		Mode:     uint32(st.Mode),
	}, nil
}

// device returns a device as statx(2) reports it.
func device(dev uint64) uint64 {
	return uint64(unix.Major(dev))<<32 | uint64(unix.Minor(dev))
}

// revisionCached is revision by system calls that cannot wait. It does not leave the file
// system of the tree.
func (t *Tree) revisionCached(name string) (s Revision, err error, ok bool) { //nolint:revive // an error that is an answer
	defer runtime.KeepAlive(t)
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV | resolveCached,
	}
	fd, err := unix.Openat2(t.fd, name, &how)
	if err = notThere(err); err != nil {
		return s, err, errors.Is(err, fs.ErrNotExist)
	}
	defer closeDescriptor(fd)
	if s, err = revisionOf(fd); err != nil {
		return s, nil, false
	}
	return s, nil, true
}

// Readable returns a function that reports whether this process can read an entry of
// a directory, and search it if it is a directory. An entry that does not answer counts
// as readable.
func (h *Handle) Readable(call Caller) func(*Dirent) bool {
	of, ok := h.File.(*os.File)
	if os.Geteuid() == 0 || !ok {
		return func(*Dirent) bool { return true }
	}
	fd := int(of.Fd())
	return func(e *Dirent) bool {
		mode := uint32(unix.R_OK)
		if e.IsDir() {
			mode |= unix.X_OK
		}
		err := call(selector.Join(h.Real, e.Base), func() error {
			return unix.Faccessat(fd, e.Base, mode, unix.AT_EACCESS)
		})
		return err == nil || errors.Is(err, stall.Err)
	}
}

// remote are the file systems that other machines, or programs, change without
// this kernel telling.
var remote = map[int64]bool{
	unix.NFS_SUPER_MAGIC:   true,
	unix.SMB_SUPER_MAGIC:   true,
	unix.CIFS_SUPER_MAGIC:  true,
	unix.SMB2_SUPER_MAGIC:  true,
	unix.FUSE_SUPER_MAGIC:  true,
	unix.V9FS_MAGIC:        true,
	unix.CEPH_SUPER_MAGIC:  true,
	unix.AFS_SUPER_MAGIC:   true,
	unix.CODA_SUPER_MAGIC:  true,
	unix.OCFS2_SUPER_MAGIC: true,
	0x01161970:             true, // gfs2
	0x0bd00bd0:             true, // Lustre
	0x47504653:             true, // GPFS
	0x19830326:             true, // BeeGFS
	0x20030528:             true, // OrangeFS
	0x786f4256:             true, // vboxsf
	0x7c7c6673:             true, // prl_fs
	0xbacbacbc:             true, // vmhgfs
}

// isRemote reports whether a directory is on such a file system. FUSE counts: a program, or
// with virtiofs another machine, changes its files.
func isRemote(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) != nil || remote[int64(uint32(st.Type))] // where it is an int32, SMB's is negative
}
