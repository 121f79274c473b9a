package sandbox

import "golang.org/x/sys/unix"

const fstatat = unix.SYS_FSTATAT

// storing are the older calls by which databases name files: this machine has none.
var storing []uint32
