package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/disk"
)

// A file is resident if all of it is in memory. What was evicted shows, wherever it was.
func TestResident(t *testing.T) {
	const step = 128 << 10 // of which one byte is probed
	const size = 4*step + 5000
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
	if disk.Resident(fd, size) {
		must(t, unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
		if disk.Resident(fd, size) {
			t.Skip("this file system evicts nothing")
		}
	}
	part := make([]byte, step)
	without := func(t *testing.T, gone int64) bool {
		t.Helper()
		must(t, unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
		for at := int64(0); at < size; at += step {
			if at != gone {
				_, err := unix.Pread(fd, part, at)
				must(t, err)
			}
		}
		return disk.Resident(fd, size)
	}
	if !without(t, -1) {
		t.Error("all of it was read, and it is not resident")
	}
	for gone := int64(0); gone < size; gone += step {
		// To ask for a byte begins to read it, and a disk may be so quick that it is
		// there when the kernel looks.
		tries := 0
		for without(t, gone) {
			if tries++; tries == 1000 {
				t.Fatalf("without what is at %d it is resident", gone)
			}
		}
	}
	if disk.Resident(fd, 1<<20+1) {
		t.Error("a large file is waited for")
	}
}

// A file on another file system is not read where that could wait for it.
func TestOtherFileSystemsWait(t *testing.T) {
	f, err := os.CreateTemp("/dev/shm", "gophd")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	must(t, errors.Join(f.Chmod(0o644), f.Close()))
	var top, shm unix.Stat_t
	must(t, errors.Join(unix.Stat("/", &top), unix.Stat("/dev/shm", &shm)))
	isOne := top.Dev == shm.Dev // as in a chroot
	for root, want := range map[string]bool{"/dev/shm": true, "/": isOne} {
		r, err := disk.Caller(disk.Direct).OpenRoot(root)
		must(t, err)
		name := strings.TrimLeft(f.Name()[len(root):], "/")
		h, err := r.Open(disk.Direct, name) // so that the kernel has it in memory
		must(t, err)
		must(t, h.Close())
		fd, _, ok := r.Main.Cached(name, 0)
		if ok {
			must(t, syscall.Close(fd))
		}
		if ok != want {
			t.Errorf("%s, below %s: read at once: %v", f.Name(), root, ok)
		}
		r.Close()
	}
}
