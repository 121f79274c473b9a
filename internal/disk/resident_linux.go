package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// maxResident is the size up to which it is worth knowing whether the kernel has
// a file in memory, in bytes: the larger one takes so long to send that others
// should not wait for it.
const maxResident = 1 << 20

// Resident reports whether the kernel has an opened file in memory. By cachestat(2)
// (Linux 6.5) it tells how much of it, but only to root, and of files that this
// process could write. Of others single bytes are asked for, one at each step, and
// the last. So a file shows that was read in part, or is being evicted. What does not
// is a hole between two steps: the kernel fills it with one read, of a disk of this
// machine (see [Tree.Cached]), and nobody else is answered by the same loop meanwhile.
func Resident(fd int, size int64) bool {
	if size > maxResident {
		return false
	}
	var pages unix.Cachestat_t
	if unix.Cachestat(uint(fd), &unix.CachestatRange{Len: uint64(size)}, &pages, 0) == nil {
		return int64(pages.Cache)*int64(os.Getpagesize()) >= size
	}
	for at := int64(0); at < size; at += residentStep {
		if !hasByte(fd, at) {
			return false
		}
	}
	return hasByte(fd, size-1)
}

// residentStep is what a disk reads at once at least, about, in bytes: as much as
// Linux reads ahead.
const residentStep = 128 << 10

// hasByte reports whether the kernel has one byte of a file in memory. If not, the
// kernel begins to read it.
func hasByte(fd int, at int64) bool {
	var b [1]byte
	n, err := unix.Preadv2(fd, [][]byte{b[:]}, at, unix.RWF_NOWAIT)
	return n == 1 && err == nil
}
