package disk

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxResident is the size up to which it is worth knowing whether the kernel has
// a file in memory, in bytes: the larger one takes so long to send that others
// should not wait for it.
const maxResident = 1 << 20

// resident reports whether the kernel has an opened file in memory. By cachestat(2)
// (Linux 6.5) it tells how much of it, but only to root, and of files that this
// process could write. Of others single bytes are asked for, one at each step, and
// the last. So a file shows that was read in part, or is being evicted. What does not
// is a hole between two steps: the kernel fills it with one read, of a disk of this
// machine (see [Tree.Cached]), and nobody else is answered by the same loop meanwhile.
//
// If the kernel had all of it a moment ago (had), it is asked without telling the
// scheduler, which costs more than the question does.
func resident(fd int, size int64, had bool) bool {
	if size > maxResident {
		return false
	}
	if pages, ok := cachedPages(fd, size, had); ok {
		return pages*int64(os.Getpagesize()) >= size
	}
	for at := int64(0); at < size; at += residentStep {
		if !hasByte(fd, at, had) {
			return false
		}
	}
	return hasByte(fd, size-1, had)
}

// Still reports whether the kernel has a file in memory that it had there a moment
// ago: see [Cached].
func (c Cached) Still() bool { return resident(c.FD, c.Size, true) }

// cachedPages returns how many pages of the first bytes of a file the kernel has in
// memory, if it tells.
func cachedPages(fd int, size int64, had bool) (n int64, ok bool) {
	var pages unix.Cachestat_t
	part := unix.CachestatRange{Len: uint64(size)}
	if !had {
		err := unix.Cachestat(uint(fd), &part, &pages, 0)
		return int64(pages.Cache), err == nil
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_CACHESTAT, uintptr(fd), uintptr(unsafe.Pointer(&part)), uintptr(unsafe.Pointer(&pages)), 0, 0, 0)
	return int64(pages.Cache), errno == 0
}

// residentStep is what a disk reads at once at least, about, in bytes: as much as
// Linux reads ahead.
const residentStep = 128 << 10

// hasByte reports whether the kernel has one byte of a file in memory, not further
// in it than maxResident. If not, the kernel begins to read it.
func hasByte(fd int, at int64, had bool) bool {
	var b [1]byte
	if !had {
		n, err := unix.Preadv2(fd, [][]byte{b[:]}, at, unix.RWF_NOWAIT)
		return n == 1 && err == nil
	}
	to := unix.Iovec{Base: &b[0]}
	to.SetLen(len(b))
	n, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&to)), 1, uintptr(at), 0, unix.RWF_NOWAIT)
	return n == 1 && errno == 0
}
