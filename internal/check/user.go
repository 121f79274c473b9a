package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// Account is an account that serves a tree. Its rights are told by the modes of files
// alone; access lists are not looked at.
type Account struct {
	Name   string
	UID    int
	Groups []int
}

// LookupUser finds an account by its name or number.
func LookupUser(name string) (*Account, error) {
	account, err := user.Lookup(name)
	if errors.As(err, new(user.UnknownUserError)) {
		account, err = user.LookupId(name)
	}
	if err != nil {
		return nil, err
	}
	u := &Account{Name: account.Username}
	if u.UID, err = strconv.Atoi(account.Uid); err != nil {
		return nil, err
	}
	ids, err := account.GroupIds()
	if err != nil {
		ids = []string{account.Gid}
	}
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil {
			u.Groups = append(u.Groups, n)
		}
	}
	return u, nil
}

// allows reports whether a file's mode lets the user do what the bits say: 4 to
// read, 1 to search.
func (u *Account) allows(info fs.FileInfo, bits fs.FileMode) bool {
	uid, gid, ok := owner(info)
	mode := info.Mode().Perm()
	switch {
	case !ok || u.UID == 0:
		return true
	case uid == u.UID:
		mode >>= 6
	case slices.Contains(u.Groups, gid):
		mode >>= 3
	}
	return mode&bits == bits
}

// readable reports whether whoever serves can read a file or directory, and notes
// it if not.
func (c *checking) readable(name string, e fs.DirEntry, unreadable *some) bool {
	full := filepath.Join(c.root, name)
	info, err := os.Stat(full)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	bits := fs.FileMode(4)
	if info.IsDir() {
		bits = 5
	}
	ok := true
	if c.User != nil {
		ok = c.User.allows(info, bits)
	} else if f, err := os.Open(full); err != nil {
		ok = !errors.Is(err, fs.ErrPermission)
	} else {
		_ = f.Close()
	}
	if !ok {
		unreadable.add(fmt.Sprintf("%q (%s)", e.Name(), info.Mode()))
	}
	return ok
}

// who is the user that serves, for people.
func (c *checking) who() string {
	if c.User != nil {
		return "user " + c.User.Name
	}
	return "this user"
}

// owner returns whose a file is.
func owner(info fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
