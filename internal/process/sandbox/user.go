package sandbox

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// Identity is an account that a process can become.
type Identity struct {
	Name     string
	UID, GID int
	Groups   []int // supplementary groups, besides GID
}

// LookUpUser finds a user by NAME or NAME:GROUP. Both may be numbers. A number without an
// account requires a group. A user with an account gets its supplementary groups, too.
func LookUpUser(spec string) (Identity, error) {
	name, group, hasGroup := strings.Cut(spec, ":")
	u := Identity{Name: name}
	known, err := user.Lookup(name)
	uid, notNumber := id(name)
	if err != nil && notNumber == nil {
		known, err = user.LookupId(name)
	}
	switch {
	case err == nil:
		u.GID, err = id(known.Gid)
		if err == nil {
			u.UID, err = id(known.Uid)
		}
		u.Groups = supplementary(known)
	case notNumber == nil && hasGroup:
		u.UID, err = uid, nil
	}
	if err != nil {
		return Identity{}, fmt.Errorf("this machine has no user %q", name)
	}

	if hasGroup {
		gid := group
		if g, err := user.LookupGroup(group); err == nil {
			gid = g.Gid
		}
		if u.GID, err = id(gid); err != nil {
			return Identity{}, fmt.Errorf("this machine has no group %q", group)
		}
	}
	return u, nil
}

// supplementary returns the supplementary groups of a user. It omits groups that cannot be
// looked up, which can only remove rights.
func supplementary(u *user.User) (groups []int) {
	all, _ := u.GroupIds()
	for _, g := range all {
		if n, err := id(g); err == nil && g != u.Gid {
			groups = append(groups, n)
		}
	}
	return groups
}

// id parses a user or group id. 2^32-1 means "unchanged" in the kernel, so it is refused.
func id(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err == nil && n == 1<<32-1 {
		err = strconv.ErrRange
	}
	return int(n), err
}

// Become changes all threads of the process to this user and its groups, and verifies that it
// cannot change back. It requires root, unless the process is that user already.
func (u Identity) Become() error {
	if os.Getuid() == u.UID && os.Geteuid() == u.UID && os.Getegid() == u.GID {
		return nil
	}
	for _, step := range []func() error{
		func() error {
			return os.NewSyscallError("setgroups",
				syscall.Setgroups(append([]int{u.GID}, u.Groups...)))
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
