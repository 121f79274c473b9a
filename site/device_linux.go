package site

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// remote are the file systems that other machines, or programs, change without
// this kernel telling. Replies made from them are not kept.
var remote = map[int64]bool{
	unix.NFS_SUPER_MAGIC: true, unix.SMB_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true,
	unix.FUSE_SUPER_MAGIC: true, unix.V9FS_MAGIC: true, unix.CEPH_SUPER_MAGIC: true, unix.AFS_SUPER_MAGIC: true,
	unix.CODA_SUPER_MAGIC: true, unix.OCFS2_SUPER_MAGIC: true,
}

// isRemote says whether a directory lies on such a file system.
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
