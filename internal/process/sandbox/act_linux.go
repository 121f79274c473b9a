//go:build !386 && !arm

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// canAct reports whether act can change ids: on Linux each thread has its own.
const canAct = true

// act calls call with the ids of an account, on this thread only. It requires root. call must
// not use other goroutines.
func (u *Identity) act(call func() error) error {
	groups, err := unix.Getgroups()
	if err != nil {
		return err
	}
	runtime.LockOSThread()

	// Only root may set groups, so the uid is the last to change, and the first to change back.
	var result error
	err = errors.Join(unix.Setgroups(append([]int{u.GID}, u.Groups...)),
		setEffective(unix.SYS_SETRESGID, u.GID), setEffective(unix.SYS_SETRESUID, u.UID))
	if err == nil {
		result = call()
	}
	back := errors.Join(setEffective(unix.SYS_SETRESUID, 0),
		setEffective(unix.SYS_SETRESGID, os.Getgid()), unix.Setgroups(groups))
	if back == nil {
		runtime.UnlockOSThread()
	} // else the thread ends with the goroutine
	if err = errors.Join(err, back); err != nil {
		return fmt.Errorf("acting as user %s: %w", u.Name, err)
	}
	return result
}

// setEffective sets the effective uid or gid of this thread, by setresuid(2) or setresgid(2). The
// functions of package unix set those of all threads.
func setEffective(call uintptr, id int) error {
	const same = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(call, same, uintptr(id), same); errno != 0 {
		return errno
	}
	return nil
}
