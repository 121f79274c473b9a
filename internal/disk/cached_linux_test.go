package disk_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/treetest"
)

// A file on another file system is not read where that could wait for it.
func TestOtherFileSystemsWait(t *testing.T) {
	f, err := os.CreateTemp("/dev/shm", "gophd")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	treetest.Must(t, errors.Join(f.Chmod(0o644), f.Close()))
	for root, want := range map[string]bool{"/dev/shm": true, "/": false} {
		r, err := disk.Caller(disk.Direct).OpenRoot(root)
		treetest.Must(t, err)
		name := strings.TrimLeft(f.Name()[len(root):], "/")
		h, err := r.Open(disk.Direct, name) // so that the kernel has it in memory
		treetest.Must(t, err)
		treetest.Must(t, h.Close())
		fd, _, ok := r.Main.Cached(name, 0)
		if ok {
			treetest.Must(t, syscall.Close(fd))
		}
		if ok != want {
			t.Errorf("%s, below %s: read at once: %v", f.Name(), root, ok)
		}
		r.Close()
	}
}
