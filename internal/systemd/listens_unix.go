//go:build unix

package systemd

import (
	"os"
	"syscall"
)

// listens returns an error unless f is a listening socket.
func listens(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var accepts int
	var failed error
	err = raw.Control(func(fd uintptr) {
		accepts, failed = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return os.NewSyscallError("getsockopt", failed)
	case accepts == 0:
		return ErrAccepted
	}
	return nil
}
