package disk

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"

	"golang.org/x/sys/unix"
)

// kernel opens names below a directory with openat2(2): one system call that cannot leave the
// directory, whatever the depth, where os.Root opens each directory on the way.
type kernel struct{ *os.File } // opened with O_PATH

// openFiles opens a directory. Linux before 5.6 has no openat2(2).
func openFiles(dir string) (files, error) {
	top, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	k := kernel{top}
	f, err := k.open(".")
	if err != nil {
		_ = top.Close()
		return openWalked(dir)
	}
	return k, f.Close()
}

// beneath opens a name.
func (k kernel) beneath(name string, flags int) (fd int, err error) {
	defer runtime.KeepAlive(k.File)
	if fd, err = openBelow(int(k.Fd()), name, flags); err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

func (k kernel) open(name string) (File, error) {
	fd, err := k.beneath(name, openFlags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path.Join(k.Name(), name)), nil
}

func (k kernel) stat(name string) (Revision, error) {
	fd, err := k.beneath(name, lookFlags)
	if err != nil {
		return Revision{}, err
	}
	defer func() { _ = unix.Close(fd) }()
	return revisionOf(fd)
}

// readlink keeps a descriptor of the directory that the walk has reached, so that a step costs
// the same at any depth.
func (k kernel) readlink(w *walk, name string) (target string, err error) {
	if w.fd < 0 {
		if w.fd, err = k.beneath(path.Dir(name), lookFlags); err != nil {
			return "", err
		}
	}
	fd, target, err := lookAt(w.fd, path.Base(name))
	if fd >= 0 {
		w.leave()
		w.fd = fd
	}
	return target, err
}

func (k kernel) cached(name string, reads bool) (fd int, s Revision, err error) {
	defer runtime.KeepAlive(k.File)
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: below | unix.RESOLVE_NO_XDEV | resolveCached,
	}
	if reads {
		how.Flags = uint64(openFlags)
	}
	if fd, err = unix.Openat2(int(k.Fd()), name, &how); err != nil {
		return -1, s, notThere(err)
	}
	if s, err = revisionOf(fd); err != nil {
		_ = unix.Close(fd)
	}
	return fd, s, err
}

// largeFile lets files of 2 GiB and more be opened on 32-bit machines: package os adds
// it, openat2(2) wants it named.
const largeFile = unix.O_LARGEFILE

// lookFlags open a name without access to its content: the open cannot block on a FIFO,
// and it opens a symbolic link itself.
const lookFlags = unix.O_PATH | unix.O_NOFOLLOW

// How names are resolved.
const (
	below         = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	resolveCached = 0x20 // RESOLVE_CACHED (Linux 5.12): fail rather than wait
)

// openBelow opens a name below a directory, through no link.
func openBelow(dir int, name string, flags int) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Resolve: below,
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

// revisionOf returns the revision of an open file.
func revisionOf(fd int) (Revision, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID,
		&st); err != nil {
		return Revision{}, err
	}
	return Revision{
		Mount:    st.Mnt_id,
		Device:   unix.Mkdev(st.Dev_major, st.Dev_minor),
		Inode:    st.Ino,
		Changed:  st.Ctime.Sec*1e9 + int64(st.Ctime.Nsec),
		Modified: st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec),
		Size:     int64(st.Size),
		Owner:    st.Uid,
		Mode:     uint32(st.Mode),
	}, nil
}

// readable returns an error if this process cannot read an entry of a directory, or search it.
// Another goroutine may close the directory meanwhile: one that does not wait for a hung disk.
func readable(dir *os.File, e *Dirent) error {
	mode := uint32(unix.R_OK)
	if e.IsDir() {
		mode |= unix.X_OK
	}
	raw, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	closed := raw.Control(func(fd uintptr) {
		err = unix.Faccessat(int(fd), e.Base, mode, unix.AT_EACCESS)
	})
	return cmp.Or(closed, err)
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
