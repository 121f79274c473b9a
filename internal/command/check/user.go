package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// allows reports whether a file's mode lets the user do what the bits say: 4 to
// read, 1 to search. Access lists are not looked at.
func allows(u *sandbox.Identity, info fs.FileInfo, bits fs.FileMode) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode().Perm()
	switch {
	case !ok || u.UID == 0:
		return true
	case int(st.Uid) == u.UID:
		mode >>= 6
	case int(st.Gid) == u.GID || slices.Contains(u.Groups, int(st.Gid)):
		mode >>= 3
	}
	return mode&bits == bits
}

// readable reports whether the server's user can read a file or directory, and notes
// it if not.
func (c *checking) readable(name string, e fs.DirEntry, unreadable *names) bool {
	full := c.path(name)
	info, err := files.Stat(full)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	bits := fs.FileMode(4)
	if info.IsDir() {
		bits = 5
	}
	ok := true
	if c.User != nil {
		ok = allows(c.User, info, bits)
	} else if _, err := c.site.View(c.ctx).Stat(name); err != nil {
		ok = !errors.Is(err, fs.ErrPermission)
	}
	if !ok {
		*unreadable = append(*unreadable, fmt.Sprintf("%q (%s)", e.Name(), info.Mode()))
	}
	return ok
}

// reach checks whether the serving user can enter the directories of the site: the
// root and the mounts, if the user is named, and the users' directories.
func (c *checking) reach(root string) {
	if c.Named {
		for _, dir := range append([]string{root}, slices.Sorted(maps.Values(c.Site.Mounts))...) {
			if at, mode := c.blocked("/", dir); at != "" {
				c.find(diag.Error, CodeRead, at, 0, "move it to where that user may go, or "+diag.Command("chmod", "o+x", "--", at), "%s cannot enter it (%04o), so it cannot serve %s", c.who(), mode, dir)
			}
		}
	}
	above, below, ok := strings.Cut(c.Site.Users, "/*")
	if !ok {
		return
	}
	above = cmp.Or(above, "/")
	homes, err := files.List(above)
	if err != nil {
		c.find(diag.Error, CodeRead, above, 0, "", "the directory of the users cannot be read: %v", diag.Cause(err))
	}
	for _, e := range homes {
		home := filepath.Join(above, e.Name())
		info, err := files.Stat(home)
		if err != nil || !selector.Askable("~"+e.Name()) {
			continue
		}
		dir := filepath.Join(home, below)
		top, err := files.Stat(dir)
		if err == nil && !top.IsDir() || errors.Is(err, fs.ErrNotExist) {
			continue // not a user of Gopher
		}
		uid := disk.OwnerOf(info)
		if uid == 0 && err == nil {
			uid = disk.OwnerOf(top)
		}
		if uid < cmp.Or(c.Site.UsersMinUID, site.DefaultUsersMinUID) {
			if uid == 0 {
				continue // no user's, such as lost+found
			}
			c.find(diag.Warning, CodeOwner, "~"+e.Name(), 0, diag.Command("gophd", "-users-min-uid", strconv.Itoa(uid)), "not served: its owner has uid %d, below -users-min-uid", uid)
			continue
		}
		if at, mode := c.blocked(home, dir); at != "" {
			bits := "o+x"
			if at == dir {
				bits = "o+rx" // it is listed, too
			}
			c.find(diag.Error, CodeRead, "~"+e.Name(), 0, diag.Command("chmod", bits, "--", at), "%s cannot enter %s (%04o)", c.who(), at, mode)
		} else if uid := disk.OwnerOf(info); err == nil && uid != 0 && uid != disk.OwnerOf(top) {
			c.find(diag.Error, CodeOwner, "~"+e.Name(), 0, diag.Command("chown", "--", c.ownerOf(info), dir), "not served: %s belongs to %s and the home to %s", dir, c.ownerOf(top), c.ownerOf(info))
		}
	}
}

// blocked returns the first directory from one path down to another that the serving user
// cannot enter, or the last one if it cannot be listed, with its mode; "" if none is.
func (c *checking) blocked(from, to string) (at string, mode fs.FileMode) {
	to, err := filepath.Abs(to)
	if err != nil {
		return "", 0
	}
	for i := len(from); i <= len(to); i++ {
		if i < len(to) && i > 1 && to[i] != '/' {
			continue
		}
		next, bits := to[:i], fs.FileMode(1)
		if i == len(to) {
			bits = 5
		}
		info, err := files.Stat(next)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return at, mode
		case err != nil:
			return "", 0 // another finding reports it
		case c.User != nil && !allows(c.User, info, bits):
			return next, info.Mode().Perm()
		}
		at, mode = next, info.Mode().Perm()
	}
	return "", 0
}

// who is the user that serves, for people.
func (c *checking) who() string {
	if c.User != nil {
		return "user " + c.User.Name
	}
	return "this user"
}
