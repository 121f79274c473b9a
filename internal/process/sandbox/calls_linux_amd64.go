package sandbox

import "golang.org/x/sys/unix"

const fstatat = unix.SYS_NEWFSTATAT

// storing are the older file system calls that databases use.
var storing = []uint32{unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS,
	unix.SYS_READLINK, unix.SYS_UNLINK, unix.SYS_RENAME}
