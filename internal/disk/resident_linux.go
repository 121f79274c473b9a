package disk

import "golang.org/x/sys/unix"

// maxResident is the largest file that Resident looks at, in bytes: a larger one takes so
// long to send that other clients should not wait for it.
const maxResident = 1 << 20

// Resident reports whether the kernel has an opened file in memory. (cachestat(2) would tell only
// root, and of files that this process may write.) It probes one byte in every residentStep, and
// the last: that detects a file that was read in part, or is being evicted. It misses a hole
// between two probes. The kernel fills such a hole with one read from a local disk (see
// [Tree.Cached]), and the loop that sends the file answers no other client meanwhile.
func Resident(fd int, size int64) bool {
	if size > maxResident {
		return false
	}
	for at := int64(0); at < size; at += residentStep {
		if !hasByte(fd, at) {
			return false
		}
	}
	return hasByte(fd, size-1)
}

// residentStep is the distance between two probes, in bytes: about the least that a disk
// reads at once, since Linux reads this much ahead.
const residentStep = 128 << 10

// hasByte reports whether the kernel has one byte of a file in memory. If not, the
// kernel begins to read it.
func hasByte(fd int, at int64) bool {
	var b [1]byte
	n, err := unix.Preadv2(fd, [][]byte{b[:]}, at, unix.RWF_NOWAIT)
	return n == 1 && err == nil
}
