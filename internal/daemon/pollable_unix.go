//go:build unix

package daemon

import (
	"io/fs"
	"os"
	"syscall"
)

// pollable returns a file that knows deadlines, if f is a pipe. Anything else,
// such as a terminal, is left as it is: others use it, too.
func pollable(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return f, err
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
