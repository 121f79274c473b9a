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

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// readable reports whether the server's user can read a file or directory, and notes
// it if not.
func (c *checking) readable(name string, e fs.DirEntry, unreadable *names) bool {
	full := c.path(name)
	info, err := files.Stat(full)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	what := uint32(sandbox.MayRead)
	if info.IsDir() {
		what |= sandbox.MayEnter
	}
	ok := true
	if c.User != nil {
		ok = c.User.Allows(info, what)
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
			if at, mode := c.closed(dir); at != "" {
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
		if at, mode := c.closed(dir); strings.HasPrefix(at, home) {
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

// closed returns the first directory on the way to one, or that itself, that the serving user
// cannot enter, and its mode; "" if none is.
func (c *checking) closed(dir string) (at string, mode fs.FileMode) {
	at = c.User.Closed(dir, sandbox.MayRead|sandbox.MayEnter)
	info, err := files.Stat(at)
	if at == "" || err != nil {
		return "", 0 // another finding reports what is missing
	}
	return at, info.Mode().Perm()
}

// who is the user that serves, for people.
func (c *checking) who() string {
	if c.User != nil {
		return "user " + c.User.Name
	}
	return "this user"
}
