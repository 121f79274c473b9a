//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"syscall"
)

// Become makes the whole process, all threads, this user in its groups, and
// makes sure that there is no way back. It takes root's rights to do it, unless
// the process is that user already.
func (u Identity) Become() error {
	if os.Getuid() == u.UID && os.Geteuid() == u.UID && os.Getegid() == u.GID {
		return nil
	}
	for _, step := range []func() error{
		func() error {
			return os.NewSyscallError("setgroups", syscall.Setgroups(append([]int{u.GID}, u.Groups...)))
		},
		func() error { return os.NewSyscallError("setgid", syscall.Setgid(u.GID)) },
		func() error { return os.NewSyscallError("setuid", syscall.Setuid(u.UID)) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("becoming user %s: %w", u.Name, err)
		}
	}
	if u.UID != 0 && syscall.Setuid(0) == nil {
		return fmt.Errorf("becoming user %s: could become root again", u.Name)
	}
	return nil
}
