package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// What an account may do with a file, as access(2) has it.
const (
	MayRead  = unix.R_OK
	MayWrite = unix.W_OK
	MayEnter = unix.X_OK // a directory
)

// Access reports why an account may not do something with a file: with its ids, if this
// process is that account or root, else by the modes of the file and of the directories
// above it. A nil account is that of this process.
func (u *Identity) Access(path string, what uint32) error {
	switch {
	case u == nil || u.UID == os.Geteuid():
		return access(path, what)
	case os.Geteuid() == 0 && canAct:
		return u.Act(path, func() error { return access(path, what) })
	}
	if dir := filepath.Dir(path); dir != path {
		if err := u.Access(dir, MayEnter); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	if err != nil || u.UID == 0 {
		return err
	}
	mode := uint32(info.Mode().Perm())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		switch {
		case int(st.Uid) == u.UID:
			mode >>= 6
		case int(st.Gid) == u.GID || slices.Contains(u.Groups, int(st.Gid)):
			mode >>= 3
		}
	}
	if mode&what != what {
		return &fs.PathError{Op: "access", Path: path, Err: fs.ErrPermission}
	}
	return nil
}

func access(path string, what uint32) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, what, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

// Closed returns the first directory on the way to a path, or the path itself, that keeps an
// account from doing something with the path; "" if none does.
func (u *Identity) Closed(path string, what uint32) string {
	abs, err := filepath.Abs(path)
	if err != nil || u.Access(abs, what) == nil {
		return ""
	}
	for i := 1; i < len(abs); i++ {
		if abs[i] == '/' && u.Access(abs[:i], MayEnter) != nil {
			return abs[:i]
		}
	}
	return abs
}
