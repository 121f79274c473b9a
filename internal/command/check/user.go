package check

import (
	"cmp"
	"errors"
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
)

// closed reports whether the mode of a file or directory keeps the serving user out. The
// directories above it do not count.
func (c *checking) closed(at string, what uint32) bool {
	if c.User == nil {
		return errors.Is(c.User.Access(at, what), fs.ErrPermission)
	}
	info, err := files.Stat(at)
	return err == nil && !c.User.Allows(info, what)
}

// reach checks whether the serving user can enter the directories of the site: the
// root and the mounts, if the user is named, and the users' directories.
func (c *checking) reach(root string) {
	if c.Named {
		for _, dir := range append([]string{root}, slices.Sorted(maps.Values(c.mounts))...) {
			if at, mode := c.barrier(dir); at != "" {
				c.find("", diag.Error, CodeRead, at, 0,
					"move it to where that user may go, or "+diag.Command("chmod", "o+x", "--", at),
					"%s cannot enter it (%04o), so it cannot serve %s", c.who(), mode, dir)
			}
		}
	}
	for _, p := range [][2]string{{"~", c.Serve.Users}, {ofGemini + "~", c.Serve.UsersGemini}} {
		above, below, ok := strings.Cut(p[1], "/*")
		if !ok {
			continue
		}
		homes, err := files.List(cmp.Or(above, "/"))
		if err != nil {
			c.find("", diag.Error, CodeRead, above, 0, "",
				"the directory of the users cannot be read: %v", diag.Cause(err))
		}
		for _, e := range homes {
			if selector.Askable("~" + e.Name()) {
				c.home(p[0]+e.Name(), filepath.Join(above, e.Name()), below)
			}
		}
	}
}

// home checks whether the serving user can serve a user's directory, if there is one.
func (c *checking) home(label, home, below string) {
	dir := filepath.Join(home, below)
	info, err := files.Stat(home)
	top, topErr := files.Stat(dir)
	if err != nil || topErr == nil && !top.IsDir() || errors.Is(topErr, fs.ErrNotExist) {
		return // not a user of Gopher
	}
	of, owner := disk.OwnerOf(info), disk.OwnerOf(info)
	if topErr == nil {
		owner = disk.OwnerOf(top)
	}
	at, mode := c.barrier(dir)
	switch uid := max(owner, of); {
	case uid == 0 && !(c.RootHomes && errors.Is(topErr, fs.ErrPermission)): // no user's, such as lost+found
	case uid > 0 && uid < c.Serve.UsersMinUID:
		c.find("", diag.Warning, codeOwner, label, 0,
			diag.Command("gophd", "-users-min-uid", strconv.Itoa(uid)),
			"not served: its owner has uid %d, below -users-min-uid", uid)
	case of != owner && of != 0:
		command := ""
		if above, err := files.RealPath(home); err == nil {
			if real, err := files.RealPath(dir); err == nil && real == filepath.Join(above, below) {
				command = diag.Command("chown", "--", c.ownerOf(info), dir) // of a link, it would give away what that leads to
			}
		}
		c.find("", diag.Error, codeOwner, label, 0, command,
			"not served: %s belongs to %s and the home to %s", dir, c.ownerOf(top), c.ownerOf(info))
	case at == dir:
		c.find("", diag.Error, CodeRead, label, 0, diag.Command("chmod", "o+rx", "--", at),
			"%s cannot list %s (%04o)", c.who(), at, mode)
	case strings.HasPrefix(at, home):
		c.find("", diag.Error, CodeRead, label, 0, diag.Command("chmod", "o+x", "--", at),
			"%s cannot enter %s (%04o)", c.who(), at, mode)
	}
}

// barrier returns the first directory on the way to one, or that itself, that the serving user
// cannot enter, and its mode; "" if none is.
func (c *checking) barrier(dir string) (at string, mode fs.FileMode) {
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
