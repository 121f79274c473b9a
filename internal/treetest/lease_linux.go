package treetest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Lease takes a lease on a file, as authors and file servers can; free gives it back. The
// test is skipped where there are none.
func Lease(t testing.TB, name string) (free func()) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	Must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("no leases here: ", err)
	}
	return func() {
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		Must(t, err)
	}
}
