package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// The kinds of access, as in access(2).
const (
	MayRead  = unix.R_OK
	MayWrite = unix.W_OK
	MayEnter = unix.X_OK // a directory
)

// Access returns an error if an account does not have access of the kind what to a file. If
// this process is root or that account, it makes the system call with the account's ids.
// Otherwise it judges by the modes of the file and of the directories above. A nil Identity is
// the account of this process.
func (u *Identity) Access(path string, what uint32) error {
	switch {
	case u == nil || u.UID == os.Geteuid():
		return access(path, what)
	case os.Geteuid() == 0 && canAct:
		return u.act(func() error { return access(path, what) })
	}
	if dir := filepath.Dir(path); dir != path {
		if err := u.Access(dir, MayEnter); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	if err == nil && !u.Allows(info, what) {
		err = &fs.PathError{Op: "access", Path: path, Err: fs.ErrPermission}
	}
	return err
}

// Allows reports whether the mode of a file permits access to an account. It ignores the
// directories above and access control lists.
func (u *Identity) Allows(info fs.FileInfo, what uint32) bool {
	mode := uint32(info.Mode().Perm())
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case u.UID == 0:
		return true
	case ok && int(st.Uid) == u.UID:
		mode >>= 6
	case ok && (int(st.Gid) == u.GID || slices.Contains(u.Groups, int(st.Gid))):
		mode >>= 3
	}
	return mode&what == what
}

func access(path string, what uint32) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, what, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

// Closed returns the first directory on the way to a path, or the path itself, that denies
// access to the account, or "".
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
