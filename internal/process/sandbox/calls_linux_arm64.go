package sandbox

import "golang.org/x/sys/unix"

const fstatat = unix.SYS_FSTATAT

// storing are the older file system calls that databases use. This machine has none.
var storing []uint32
