//go:build !386 && !arm

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// canAct reports whether act can change ids: on Linux each thread has its own.
const canAct = true

// act calls call with the ids of an account, on this thread only. It requires root. call must
// not use other goroutines.
func (u *Identity) act(call func() error) error {
	if u.UID == os.Geteuid() {
		return call()
	}
	groups, err := unix.Getgroups()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := setThread(u.UID, u.GID, append([]int{u.GID}, u.Groups...)); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("acting as user %s: %w", u.Name, err)
	}
	result := call()
	if err := setThread(0, os.Getgid(), groups); err != nil {
		return fmt.Errorf("acting as user %s: %w", u.Name, err) // the thread stays locked and ends with the goroutine
	}
	runtime.UnlockOSThread()
	return result
}

// setThread sets the effective ids of this thread. Only root may set groups, so it sets uid 0
// first and any other uid last.
func setThread(uid, gid int, groups []int) error {
	const same = ^uintptr(0)
	setUser := func() syscall.Errno {
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, uintptr(uid), same)
		return errno
	}
	setGroup := func() syscall.Errno {
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, same, uintptr(gid), same)
		return errno
	}
	setGroups := func() syscall.Errno {
		list := make([]uint32, len(groups)+1) // never empty
		for i, g := range groups {
			list[i] = uint32(g)
		}
		_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)),
			uintptr(unsafe.Pointer(&list[0])), 0)
		return errno
	}
	steps := []func() syscall.Errno{setGroups, setGroup, setUser}
	if uid == 0 {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if errno := step(); errno != 0 {
			return errno
		}
	}
	return nil
}
