package disk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A file is resident if all of it is in memory, for its owner and for others, to
// whom the kernel does not tell it. What was evicted shows, wherever it was.
func TestResident(t *testing.T) {
	const size = 4*residentStep + 5000
	name := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(name, make([]byte, size), 0o644))
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	must(t, f.Sync()) // what is not on the disk is not evicted
	must(t, f.Close())
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	must(t, err)
	defer func() { _ = unix.Close(fd) }()
	must(t, unix.Fadvise(fd, 0, 0, unix.FADV_RANDOM)) // only what is read comes back
	if Resident(fd, size) {
		must(t, unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
		if Resident(fd, size) {
			t.Skip("this file system evicts nothing")
		}
	}
	part := make([]byte, residentStep)
	without := func(t *testing.T, gone int64) bool {
		t.Helper()
		must(t, unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
		for at := int64(0); at < size; at += residentStep {
			if at != gone {
				_, err := unix.Pread(fd, part, at)
				must(t, err)
			}
		}
		return Resident(fd, size)
	}
	check := func(t *testing.T) {
		if !without(t, -1) {
			t.Error("all of it was read, and it is not resident")
		}
		for gone := int64(0); gone < size; gone += residentStep {
			// To ask for a byte begins to read it, and a disk may be so quick that it is
			// there when the kernel looks.
			tries := 0
			for without(t, gone) {
				if tries++; tries == 1000 {
					t.Fatalf("without what is at %d it is resident", gone)
				}
			}
		}
		if Resident(fd, maxResident+1) {
			t.Error("a large file is waited for")
		}
	}
	t.Run("owner", check)
	t.Run("another user", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("only root can be another user")
		}
		runtime.LockOSThread() // which ends with this test
		must(t, unix.Setfsuid(65534))
		if unix.Cachestat(uint(fd), &unix.CachestatRange{Len: size},
			&unix.Cachestat_t{}, 0) == nil {
			t.Error("the kernel tells it to all: hasByte is of no use any more")
		}
		check(t)
	})
}
