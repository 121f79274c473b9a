package sandbox

import (
	"errors"
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
	u := Identity{Name: name, GID: -1}
	uid, numErr := id(name)
	known, err := user.Lookup(name)
	if isUnknown(err) && numErr == nil {
		known, err = user.LookupId(name)
	}
	switch {
	case err == nil:
		u.UID, err = id(known.Uid)
		u.GID, _ = id(known.Gid)
		u.Groups = supplementary(known)
	case isUnknown(err) && numErr == nil && hasGroup:
		u.UID, err = uid, nil
	}
	if isUnknown(err) {
		return Identity{}, fmt.Errorf("this machine has no user %q", name)
	} else if err != nil {
		return Identity{}, fmt.Errorf("looking up user %q: %w", name, err)
	}
	if hasGroup {
		g, err := user.LookupGroup(group)
		if err == nil {
			u.GID, err = id(g.Gid)
		} else if gid, numErr := id(group); numErr == nil {
			u.GID, err = gid, nil
		}
		var unknown user.UnknownGroupError
		if errors.As(err, &unknown) {
			return Identity{}, fmt.Errorf("this machine has no group %q", group)
		} else if err != nil {
			return Identity{}, fmt.Errorf("looking up group %q: %w", group, err)
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

func isUnknown(err error) bool {
	var name user.UnknownUserError
	var uid user.UnknownUserIdError
	return errors.As(err, &name) || errors.As(err, &uid)
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
