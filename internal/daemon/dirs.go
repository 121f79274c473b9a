package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/systemd"
)

// maxUserUID is the last uid of a person's account (UID_MAX of login.defs).
const maxUserUID = 60000

// checkUsers refuses -users where the kernel shows several owners as one, as it does with
// PrivateUsers=yes of systemd: then a link to another user's directory would pass for one's own.
func (d *daemon) checkUsers() error {
	from := d.conf.site.UsersMinUID
	text, err := files.ReadFile("/proc/self/uid_map", 1<<20)
	if d.conf.site.Users == "" || err != nil || MapsUsers(string(text), from) {
		return nil
	}
	return exit.Usagef(cmp.Or(systemd.DropIn("users"), "the user namespace of gophd must map these uids"),
		"-users: gophd cannot see whose files are whose: its uid map lacks some of %d to %d", from, max(from, maxUserUID))
}

// MapsUsers reports whether a uid_map maps the accounts of users, whose uids begin with from.
func MapsUsers(uidMap string, from int) bool { return covers(uidMap, from, max(from, maxUserUID)) }

// covers reports whether a uid_map (user_namespaces(7)) maps all uids from first to last.
func covers(uidMap string, first, last int) bool {
	type block struct{ inside, outside, count int }
	var blocks []block
	for line := range strings.Lines(uidMap) {
		var b block
		if _, err := fmt.Sscan(line, &b.inside, &b.outside, &b.count); err == nil {
			blocks = append(blocks, b)
		}
	}
	slices.SortFunc(blocks, func(a, b block) int { return cmp.Compare(a.inside, b.inside) })
	for _, b := range blocks {
		if b.inside <= first {
			first = max(first, b.inside+b.count)
		}
	}
	return first > last
}

// lookForUsers warns where no home can be seen, as with ProtectHome=yes of systemd.
func (d *daemon) lookForUsers() {
	if d.conf.site.Users == "" {
		return
	}
	homes, _ := userDirs(d.conf.site.Users, d.conf.site.UsersMinUID)
	list, err := files.List(homes)
	if err == nil && len(list) > 0 {
		return
	}
	why, hint := "it is empty", "name the directory that the homes lie in, with a * for the user: /home/*/public_gopher"
	if err != nil {
		why = diag.Cause(err).Error()
	}
	_, above := files.Stat(filepath.Dir(homes))
	switch inHome := filepath.Dir(homes) != "/"; {
	case systemd.InUnit() && systemd.Hidden(homes) && (!inHome || above != nil):
		hint = systemd.DropIn("users")
	case errors.Is(err, fs.ErrPermission):
		hint = "the user that gophd runs as must be able to list it: " + diag.Command("chmod", "o+rx", "--", homes)
	}
	d.log.Warn("-users matches no user", "directory", homes, "why", why, "hint", hint)
}

// userDirs returns the directory of the homes that a pattern of -users names, and the
// directories of users to which links in it lead.
func userDirs(pattern string, minUID int) (homes string, links []string) {
	homes, below, _ := strings.Cut(pattern, "/*")
	homes = cmp.Or(filepath.Clean(homes), "/")
	list, _ := files.List(homes)
	for _, e := range list {
		real, err := files.RealPath(filepath.Join(homes, e.Name(), below))
		if err != nil || strings.HasPrefix(real, strings.TrimSuffix(homes, "/")+"/") || slices.Contains(links, real) {
			continue
		}
		if info, err := files.Stat(real); err == nil && info.IsDir() && disk.OwnerOf(info) >= minUID {
			links = append(links, real)
		}
	}
	return homes, links
}

// checkDirs reports which flag names a directory that cannot be served, and warns of a
// program that does not listen.
func (d *daemon) checkDirs() error {
	flags := map[string]string{}
	for _, h := range d.conf.hosts[1:] {
		flags["-vhost "+h.name+"="+h.dir] = h.dir
	}
	for prefix, dir := range d.conf.site.Mounts {
		flags["-mount /"+prefix+"="+dir] = dir
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		info, err := files.Stat(flags[flag])
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		if err != nil {
			name, _, _ := strings.Cut(flag, " ")
			return dirError(name, flags[flag], fmt.Errorf("%s: %w", flag, diag.Cause(err)))
		}
	}
	for prefix := range d.conf.site.Mounts {
		parent := filepath.Dir(prefix)
		if info, err := files.Stat(filepath.Join(d.conf.Root, parent)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			make := diag.Command("mkdir", "-p", "--", filepath.Join(d.conf.Root, parent))
			return exit.Usagef(make, "-mount /%s=%s: there is no directory %s in %s", prefix, d.conf.site.Mounts[prefix], parent, d.conf.Root)
		}
	}
	for _, rule := range d.conf.programs {
		if _, err := files.Stat(rule.Client.Socket); err != nil && rule.Fixed() {
			d.log.Warn("no program listens for -fastcgi", "selector", rule.Selector(), "socket", rule.Client.Socket,
				"hint", "start the program that makes this socket; until then visitors read that it does not answer")
		}
	}
	return nil
}

// writable returns why no file can be made in a directory.
func (d *daemon) writable(what, dir string) error {
	if err := files.Writable(dir); err != nil {
		return fmt.Errorf("%s: writing to %s: %w", what, dir, err)
	}
	return nil
}

// rootError explains why the directory of a host cannot be served.
func rootError(dir string, err error) error {
	return dirError("-root", dir, fmt.Errorf("opening the content tree: %w", err))
}

// dirError explains why a directory that a flag names cannot be served. The unit hides what
// lies below /home.
func dirError(flag, dir string, err error) error {
	abs, _ := filepath.Abs(dir)
	if hint := systemd.DropIn("root"); hint != "" && systemd.Hidden(abs) {
		return exit.Usagef(hint, "%w", err)
	}
	return exit.Directory(flag, dir, err)
}

// Doubt reports why a directory is probably not meant to be the root, with a hint. Both
// are "" if nothing speaks against it.
func Doubt(root string) (doubt, hint string) {
	real, err := resolved(root)
	if err != nil {
		return "", ""
	}
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = resolved(home)
	}
	list, unread := files.List(real)
	switch {
	case real == "/":
		return "-root is /: every file that gophd can read would be served", "gophd init hole makes a directory with an example"
	case err == nil && real == home:
		return "a home is the root: whatever lies in it is served, but for names that begin with a dot", "gophd init hole makes a directory with an example"
	case unread == nil && len(list) == 0:
		return "the root is empty", diag.Command("gophd", "init", "--", root) + " makes an example there"
	}
	return "", ""
}

func resolved(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return files.RealPath(abs)
}
