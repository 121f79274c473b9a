package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/internal/stall"
)

// A Precondition is a requirement of a start. A start stops at the first that fails, gophd
// check-config prints all that fail, and gophd doctor tests them in the namespaces of the unit.
type Precondition struct {
	Name string       // of the group: directories, homes, writable, …
	What string       // the object of the test, such as a directory; "" if others test it, too
	Test func() error // returns nil, or an *exit.CommandError with a hint
	Warn bool         // the start goes on and logs the failure
}

// as returns the account that the server has after its start, or nil for that of this process:
// root becomes the account of -user.
func (c *Settings) as() *sandbox.Identity {
	if os.Geteuid() != 0 {
		return nil
	}
	return c.account
}

// owner returns the name of that account.
func (c *Settings) owner() string {
	if account := c.as(); account != nil {
		return account.Name
	}
	return "gophd"
}

// files makes calls that a file system may delay.
var files = disk.Guarded(&stall.Guard{})

// existing returns a path, or the nearest directory above it that exists.
func existing(path string) string {
	for len(path) > 1 {
		if _, err := files.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

// may returns why an account cannot access a file: the cause alone, without the file's name.
func may(account *sandbox.Identity, path string, what uint32) error {
	if err := files(path, func() error { return account.Access(path, what) }); err != nil {
		return diag.Cause(err)
	}
	return nil
}

// hidden reports whether the unit of this process hides a path.
func hidden(path string) bool {
	if !systemd.InUnit() {
		return false
	}
	abs, _ := filepath.Abs(path)
	var behind *fs.PathError
	_, err := files.RealPath(path)
	return systemd.Hidden(abs) || errors.As(err, &behind) && systemd.Hidden(behind.Path)
}

// Preconditions lists the requirements of a start with the rights of this process, causes before
// their effects.
func (c *Settings) Preconditions() (all []Precondition) {
	need := func(name, what string, test func() error) {
		all = append(all, Precondition{Name: name, What: what, Test: test})
	}
	warn := func(name, what string, test func() error) {
		need(name, what, test)
		all[len(all)-1].Warn = true
	}

	// The directories that are served.
	for _, d := range c.dirs() {
		need("directories", d.path, func() error { return c.served(d) })
	}
	for _, prefix := range slices.Sorted(maps.Keys(c.site.Mounts)) {
		parent := filepath.Join(c.Root, filepath.Dir(prefix))
		need("directories", "", func() error {
			if info, err := files.Stat(parent); errors.Is(err, fs.ErrNotExist) ||
				err == nil && !info.IsDir() {
				return mend(diag.Command("mkdir", "-p", "--", parent),
					"%s: there is no directory %s in %s",
					c.option("mount", "/"+prefix+"="+c.site.Mounts[prefix]),
					filepath.Dir(prefix), c.Root)
			}
			return nil
		})
	}
	warn("directories", "", func() error { return Doubt(c.Root) })
	if own := c.ownFiles(); len(own) > 0 {
		trees := c.servedDirs()
		for _, file := range own {
			need("outside", file.path, func() error { return c.outside(file, trees) })
		}
	}

	// The account, and whose homes it sees.
	if c.Users != "" {
		need("account", c.Users, func() error {
			if os.Geteuid() == 0 && c.account == nil {
				return c.asUser("%s as root: root can read files that users hide or link to",
					c.option("users"))
			}
			return nil
		})
		need("uids", c.Users, c.ownersSeen)
		warn("homes", "", c.homesSeen)
	}
	warn("account", "", func() error {
		if os.Geteuid() == 0 && (c.account == nil || c.account.UID == 0) {
			return c.asUser("serving as root")
		}
		return nil
	})

	// What the process itself reads and writes.
	for _, pair := range c.certs { // root reads them before it becomes Account
		need("keys", pair.Cert, func() error {
			return c.readablePair(pair)
		})
	}
	if dir := c.TLSSelfSigned; dir != "" {
		need("writable", dir, func() error {
			if info, err := files.Stat(dir); err == nil && !info.IsDir() {
				return exit.Usagef(c.option("tls-self-signed", "DIR")+
					", in which gophd makes NAME.crt and NAME.key for each name of a host",
					"%s: %s is no directory", c.option("tls-self-signed"), dir)
			}
			missing := func(name string) bool {
				_, made := keypair.Made(dir, name)
				return !made
			}
			if !slices.ContainsFunc(c.hostNames(c.server.Host), missing) {
				return nil
			}
			return c.writable("tls-self-signed", dir, existing(dir), "/var/lib/gophd") // it makes the directory, too
		})
	}
	if name := c.AccessLog; name != "" && !strings.HasPrefix(name, "/dev/") {
		need("writable", name, func() error {
			const usual = "/var/log/gophd/access.log"
			info, err := files.Stat(name)
			switch {
			case err == nil && info.IsDir():
				return exit.Usagef(c.option("access-log", filepath.Join(name, "access.log")),
					"%s: %s is a directory", c.option("access-log"), name)
			case err == nil:
				return c.writable("access-log", name, name, usual)
			}
			return c.writable("access-log", name, filepath.Dir(name), usual)
		})
	}
	if dir := c.SearchDir; dir != "" && c.Search {
		need("writable", dir, func() error {
			return c.writable("search-dir", dir, dir, "/var/lib/gophd")
		})
	}
	for _, rule := range c.programs {
		socket := rule.Client.Socket
		if rule.Fixed() {
			warn("programs", socket, func() error {
				if _, err := files.Stat(socket); err != nil {
					return exit.Usagef("start the program that makes this socket; until then visitors read that it does not answer", "no program listens for %s: %s is not there", c.option("fastcgi", rule.Selector()), socket)
				}
				return nil
			})
		}
	}
	return all
}

// test tests the preconditions of a start and returns the failures: the first, or all. It logs
// failures that are only warnings.
func (d *daemon) test(all bool) (failures Failures) {
	for _, p := range d.conf.Preconditions() {
		err := p.Test()
		switch {
		case err != nil && p.Warn:
			d.logWarning(err)
		case err != nil:
			if failures = append(failures, err); !all {
				return failures
			}
		}
	}
	return failures
}

// logWarning logs an error with its hint.
func (d *daemon) logWarning(err error) {
	var e *exit.CommandError
	if errors.As(err, &e) && e.Hint != "" {
		d.log.Warn(err.Error(), "hint", e.Hint)
		return
	}
	d.log.Warn(err.Error())
}

// mend returns an error whose hint is a command.
func mend(command, format string, args ...any) error {
	return &exit.CommandError{
		Status: exit.Usage,
		Err:    fmt.Errorf(format, args...),
		Hint:   command,
		Mend:   command,
	}
}

// change returns an error whose hint is a command, if any, and another value of an option.
func (c *Settings) change(err error, command, flag, value string) *exit.CommandError {
	hint := c.option(flag, value)
	if command != "" {
		hint = command + "; then " + hint
	}
	return &exit.CommandError{
		Status: exit.Usage,
		Err:    err,
		Hint:   hint,
		Mend:   command,
		Set:    map[string]string{flag: value},
	}
}

// served reports why a directory cannot be served.
func (c *Settings) served(d servedDir) error {
	info, err := files.Stat(d.path)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err == nil {
		err = may(c.as(), d.path, sandbox.MayRead|sandbox.MayEnter)
	}
	what := d.option
	if d.flag == "root" {
		what = "opening the content tree: " + d.path
	}
	switch {
	case err != nil && hidden(d.path):
		return mend(systemd.Activate("root"), "%s: the unit hides %s", what, d.path)
	case err != nil && d.flag == "root" && strings.HasPrefix(d.path, "~"):
		root := filepath.Join("/srv", strings.TrimLeft(d.path, "~/")) // a service has no shell, and its account no home
		return c.change(fmt.Errorf("%s: %w", what, diag.Cause(err)),
			diag.Command("gophd", "init", "--", root), d.flag, root)
	case err != nil:
		return exit.Directory(c.option(d.flag), d.path, c.as(),
			fmt.Errorf("%s: %w", what, diag.Cause(err)))
	}
	return nil
}

// writable reports why the server cannot write to a file or into a directory. The unit permits
// usual.
func (c *Settings) writable(name, value, path, usual string) error {
	err := may(c.as(), path, sandbox.MayWrite)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: writing to %s: %w", c.option(name, value), path, err)
	own := c.owner()
	switch dir := filepath.Dir(usual); {
	case systemd.InUnit() && !strings.HasPrefix(path, dir):
		e := c.change(err, "", name, usual)
		e.Hint = "the unit lets gophd write below " + dir + ": " + e.Hint
		return e
	case errors.Is(err, fs.ErrNotExist):
		return &exit.CommandError{
			Status: exit.Usage,
			Err:    err,
			Hint:   "make the directory, for the user that gophd runs as",
			Mend:   diag.Command("install", "-d", "-o", own, "--", path),
		}
	}
	return &exit.CommandError{
		Status: exit.Failure,
		Err:    err,
		Hint:   "the user that gophd runs as must be able to write to it, and to make files in its directory",
		Mend:   diag.Command("chown", own, "--", path),
	}
}

// readablePair reports why a certificate or its key cannot be read. Root reads them before it
// becomes the account.
func (c *Settings) readablePair(f keypair.CertKey) error {
	const handed = "/run/credentials/gophd.service/gophd"
	e := &exit.CommandError{Status: exit.Usage, Set: c.OwnPair(systemd.InUnit())}
	for _, name := range []string{f.Cert, f.Key} {
		err := may(nil, name, sandbox.MayRead)
		if err == nil {
			continue
		}
		e.Err = fmt.Errorf("reading %s: %w", name, err)
		inUnit, absent := systemd.InUnit(), errors.Is(err, fs.ErrNotExist)
		switch denied := errors.Is(err, fs.ErrPermission); {
		case inUnit && (denied || absent):
			e.Hint = fmt.Sprintf("the unit hands over /etc/credstore/gophd.crt and gophd.key: GOPHD_TLS_CERT=%s.crt, GOPHD_TLS_KEY=%[1]s.key", handed)
			if denied {
				e.Set = map[string]string{"tls-cert": handed + ".crt", "tls-key": handed + ".key"}
				e.Mend = diag.Command("install", "-d", "-m", "700", "/etc/credstore") + " && " +
					diag.Command("install", "-m", "600", "--", f.Cert, "/etc/credstore/gophd.crt") +
					" && " +
					diag.Command("install", "-m", "600", "--", f.Key, "/etc/credstore/gophd.key")
			}
		case absent:
			e.Hint = c.option("tls-self-signed", "DIR") + " makes a certificate"
		default:
			e.Status, e.Set = exit.Failure, nil
			e.Hint = "the user that starts gophd must be able to read it"
			e.Mend = diag.Command("chgrp", c.owner(), "--", f.Cert, f.Key) + " && " +
				diag.Command("chmod", "g+r", "--", f.Cert, f.Key)
		}
		return e
	}
	e.Err = new(keypair.Certificates).Add(keypair.CertKey{Cert: f.Cert, Key: f.Key})
	if e.Err == nil {
		return nil
	}
	e.Hint = "both are PEM, the certificate first in its file, the key without a password"
	return e
}

// OwnPair returns the options of certificates that gophd makes, in place of others.
func (f *Flags) OwnPair(service bool) map[string]string {
	return map[string]string{
		"tls-cert":        "",
		"tls-key":         "",
		"tls-self-signed": f.PrivateDirs("/var/lib/gophd", service)[0],
	}
}

// PrivateDirs returns directories for files that must not be served, the best first: state is
// that of a service.
func (f *Flags) PrivateDirs(state string, service bool) []string {
	dirs := []string{realPath(f.Root) + "-private", state}
	if service {
		slices.Reverse(dirs)
	}
	return dirs
}

// ownersSeen refuses -users where the kernel shows several owners as one, as with
// PrivateUsers=yes of systemd: a link to another user's directory would seem to be the user's own.
func (c *Settings) ownersSeen() error {
	from := c.site.UsersMinUID
	text, err := files.ReadFile("/proc/self/uid_map", 1<<20)
	last := max(from, maxUserUID)
	if err != nil || covers(string(text), from, last) {
		return nil
	}
	hint, command := "the user namespace of gophd must map these uids", ""
	if systemd.InUnit() {
		command = systemd.Activate("users")
		hint = "the unit forbids it: " + command
	}
	return &exit.CommandError{
		Status: exit.Usage,
		Hint:   hint,
		Mend:   command,
		Err: fmt.Errorf(
			"%s: gophd cannot see whose files are whose: its uid map lacks some of %d to %d",
			c.option("users"), from, last),
	}
}

// maxUserUID is the highest uid of a user (UID_MAX in login.defs).
const maxUserUID = 60000

// covers reports whether a line of a uid_map (user_namespaces(7)) maps all uids from first to
// last.
func covers(uidMap string, first, last int) bool {
	for line := range strings.Lines(uidMap) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && inside <= first &&
			last < inside+count {
			return true
		}
	}
	return false
}

// homesSeen reports why no home is visible, as with ProtectHome=yes of systemd.
func (c *Settings) homesSeen() error {
	homes, _ := c.userDirs()
	list, err := files.List(homes)
	if err == nil {
		err = may(c.as(), homes, sandbox.MayRead|sandbox.MayEnter)
	}
	if err == nil && len(list) > 0 {
		return nil
	}
	e := &exit.CommandError{
		Status: exit.Usage,
		Hint: "name the directory that the homes lie in, with a * for the user: " +
			c.option("users", "/home/*/public_gopher"),
	}
	why := "it is empty"
	if err != nil {
		why = diag.Cause(err).Error()
	}
	_, above := files.Stat(filepath.Dir(homes))
	switch inHome := filepath.Dir(homes) != "/"; {
	case hidden(homes) && (!inHome || above != nil):
		e.Mend = systemd.Activate("users")
		e.Hint = "the unit forbids it: " + e.Mend
	case errors.Is(err, fs.ErrPermission):
		e.Mend = diag.Command("chmod", "o+rx", "--", homes)
		e.Hint = "the user that gophd runs as must be able to list it: " + e.Mend
	}
	e.Err = fmt.Errorf("%s matches no user: %s: %s", c.option("users"), homes, why)
	return e
}

// userDirs returns the directory of homes in -users, and the directories that users may have in it.
func (f *Flags) userDirs() (homes string, dirs []string) {
	homes, _, _ = strings.Cut(f.Users, "/*")
	homes = filepath.Clean(homes + "/")
	for _, pattern := range []string{f.Users, f.UsersGemini} {
		if pattern == "" {
			continue
		}
		_, below, _ := strings.Cut(pattern, "/*")
		list, _ := files.List(homes)
		for _, e := range list {
			dirs = append(dirs, filepath.Join(homes, e.Name(), below))
		}
	}
	return homes, dirs
}

// asUser returns an error whose hint is how to serve without root's rights.
func (c *Settings) asUser(format string, args ...any) error {
	name := "NAME"
	for _, known := range []string{"nobody", "_gopher", "gopher", "gophd"} {
		if u, err := user.Lookup(known); err == nil && u.Uid != "0" {
			name = known
		}
	}
	e := c.change(fmt.Errorf(format, args...), "", "user", name)
	e.Hint += " drops root's privileges once gophd listens"
	if systemd.InUnit() {
		e.Hint = "User=" + name + " in the unit: " + diag.Command("systemctl", "edit", "gophd")
	}
	return e
}

// Doubt reports why a directory is probably not the intended root.
func Doubt(root string) error {
	real, err := resolved(root)
	if err != nil {
		return nil
	}
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = resolved(home)
	}
	list, unread := files.List(real)
	e := &exit.CommandError{
		Status: exit.Usage,
		Hint:   "gophd init hole makes a directory with an example",
		Mend:   diag.Command("gophd", "init", "--", root),
	}
	switch {
	case real == "/":
		e.Err = errors.New("-root is /: every file that gophd can read would be served")
	case err == nil && real == home:
		e.Err = errors.New("a home is the root: whatever lies in it is served, but for names that begin with a dot")
	case unread == nil && len(list) == 0:
		e.Err = errors.New("the root is empty")
		e.Hint = e.Mend + " makes an example there"
	default:
		return nil
	}
	return e
}

func resolved(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return files.RealPath(abs)
}
