package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// seen are the checks that the process with the service's rights made.
var seen = func() (all []checkup) {
	for _, name := range []string{"directories", "account", "keys", "programs", "writable", "outside", "annotations", "content"} {
		all = append(all, checkup{name, func(x *examination, _ context.Context) (mine []Finding) {
			for _, f := range x.sight.Findings {
				if f.Check == name {
					mine = append(mine, f)
				}
			}
			return mine
		}})
	}
	return all
}()

// look examines the disk with the rights of this process.
func (d *Doctor) look(ctx context.Context) sight {
	x := d.begin(ctx)
	if d.AsService {
		x.ownCredentials()
	}
	add := func(check string, list []Finding) {
		for _, f := range list {
			f.Check = check
			x.sight.Findings = append(x.sight.Findings, f)
		}
	}
	add("directories", x.directories())
	add("account", x.uids())
	add("keys", x.keyFiles())
	add("programs", x.programs())
	add("writable", x.writable())
	add("outside", x.outside())
	if x.flags.Root == "" || x.failed != nil {
		return x.sight
	}
	tree, snap, done, err := x.readTree(ctx)
	if err != nil {
		if !slices.ContainsFunc(x.sight.Findings, isFault) {
			add("annotations", faultf(x.restart(), "the tree cannot be read: %v", exit.Root(x.flags.Root, err)))
		}
		return x.sight
	}
	defer done()
	add("annotations", x.annotations(tree.View(ctx), snap))
	add("content", x.content(ctx, tree))
	x.sight.Robots = snap.Robots
	x.pages(snap)
	x.newest(tree.View(ctx), snap)
	if x.flags.Users != "" {
		_, dirs := x.userDirs()
		x.sight.Homes = slices.DeleteFunc(dirs, func(dir string) bool { _, err := os.ReadDir(x.onMachine(dir)); return err != nil })
	}
	return x.sight
}

// readTree reads the tree and compiles its policy. The caller calls done.
func (x *examination) readTree(ctx context.Context) (tree *site.Site, snap *site.Snapshot, done func(), err error) {
	conf, _, err := x.flags.Parts()
	if err != nil {
		return nil, nil, nil, err
	}
	conf.Watch, conf.Files, conf.Users = site.WatchOff, true, x.onMachine(conf.Users)
	for name, dir := range conf.Mounts {
		conf.Mounts[name] = x.onMachine(dir)
	}
	tree, err = site.Open(x.onMachine(x.flags.Root), conf)
	if err != nil {
		return nil, nil, nil, err
	}
	defer terminal.Progress(x.Err, func() string { return fmt.Sprintf("reading the tree: %d directories", tree.Scanned()) })()
	snap, stop, err := tree.Read(ctx)
	if err != nil {
		tree.Close()
		return nil, nil, nil, err
	}
	return tree, snap, func() { _ = stop(); tree.Close() }, nil
}

// directories reports a directory that cannot be entered and listed.
func (x *examination) directories() (all []Finding) {
	dirs := []string{x.flags.Root}
	for _, flag := range slices.Concat(x.flags.Mounts, x.flags.VHosts) {
		_, dir, _ := strings.Cut(flag, "=")
		dirs = append(dirs, dir)
	}
	if above, _, ok := strings.Cut(x.flags.Users, "/*"); ok {
		dirs = append(dirs, above)
	}
	for i, dir := range dirs {
		if dir == "" {
			continue
		}
		list, err := os.ReadDir(x.onMachine(dir))
		at, closed := x.closed(dir)
		switch target, _ := os.Readlink(x.onMachine(dir)); {
		case x.inUnit() && err != nil && (systemd.Hidden(dir+"/") || systemd.Hidden(target+"/")):
			dropIn := "root"
			if x.flags.Users != "" {
				dropIn = "users"
			}
			all = append(all, faultf(systemd.Activate(dropIn), "the unit hides %s", dir)...)
		case strings.HasPrefix(dir, "~"):
			all = append(all, faultf(x.expand(dir), "%s: a service has no shell, which would replace the ~", dir)...)
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, faultf(diag.Command("gophd", "init", "--", dir)+" && "+x.restart(), "%s does not exist", dir)...)
		case errors.Is(err, fs.ErrPermission) && closed:
			all = append(all, faultf(diag.Command("chmod", "o+rx", "--", at)+" && "+x.restart(), "the account of the server may not enter and list %s", at)...)
		case errors.Is(err, unix.ENOTDIR):
			all = append(all, faultf(diag.Command("mv", "--", dir, dir+".old")+" && "+diag.Command("gophd", "init", "--", dir)+" && "+x.restart(), "%s is not a directory", dir)...)
		case err != nil:
			all = append(all, faultf(x.restart(), "%v", err)...)
		case i == 0 && len(list) == 0:
			all = append(all, faultf(diag.Command("gophd", "init", "--", dir), "%s is empty", dir)...)
		default:
			all = append(all, okf("%s", dir)...)
		}
	}
	return all
}

// inUnit reports whether this process has the namespaces of a unit.
func (x *examination) inUnit() bool { return x.AsService && systemd.InUnit() }

// closed returns the directory on the way to dir that this process may not enter or list.
func (x *examination) closed(dir string) (at string, is bool) {
	abs, _ := filepath.Abs(dir)
	var way []string
	for at := abs; ; at = filepath.Dir(at) {
		way = append(way, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	slices.Reverse(way)
	for _, at := range way {
		mode := uint32(unix.X_OK)
		if at == abs {
			mode |= unix.R_OK
		}
		if errors.Is(unix.Access(x.onMachine(at), mode), unix.EACCES) {
			return at, true
		}
	}
	return "", false
}

// expand is the command that writes the home in place of a ~ in the settings.
func (x *examination) expand(dir string) string {
	home, _ := os.UserHomeDir()
	root := filepath.Join("/srv", strings.TrimLeft(dir, "~/"))
	if _, err := os.Stat(filepath.Join(home, dir[1:])); home != "" && err == nil && !x.inUnit() {
		root = filepath.Join(home, dir[1:])
	}
	return diag.Command("gophd", "init", "--", root) + "; " + x.sed(fmt.Sprintf("s|^GOPHD_ROOT=.*|GOPHD_ROOT=%s|", root))
}

// uids reports an account that is not the one of -user, and a namespace that shows all
// owners of files as one.
func (x *examination) uids() []Finding {
	if u, err := sandbox.LookUpUser(x.flags.User); x.inUnit() && x.flags.User != "" && err == nil && u.UID != os.Getuid() {
		return faultf(x.mend("-user", ""), "the unit has an account of its own: GOPHD_USER=%s cannot work there", x.flags.User)
	}
	if x.flags.Users == "" {
		return nil
	}
	if text, err := os.ReadFile(x.onMachine("/proc/self/uid_map")); err == nil && !daemon.MapsUsers(string(text), x.flags.UsersMinUID) {
		if x.inUnit() {
			return faultf(systemd.Activate("users"), "PrivateUsers=yes of the unit shows all owners of files as one")
		}
		return faultf(diag.Command("cat", "/proc/self/uid_map"), "the user namespace of the server lacks accounts of users; let it map more (subuid(5))")
	}
	return okf("the server sees who owns a file")
}

// keyFiles reports certificates and keys that cannot be read.
func (x *examination) keyFiles() (all []Finding) {
	for i, cert := range x.flags.TLSCert[:min(len(x.flags.TLSCert), len(x.flags.TLSKey))] {
		key := x.flags.TLSKey[i]
		_, err := tls.LoadX509KeyPair(x.onMachine(cert), x.onMachine(key))
		var told *fs.PathError
		switch {
		case err == nil:
			all = append(all, okf("%s", cert)...)
		case errors.Is(err, fs.ErrPermission) && errors.As(err, &told) && x.inUnit():
			store := diag.Command("install", "-d", "-m", "700", "/etc/credstore") + " && " + diag.Command("install", "-m", "600", "--", cert, "/etc/credstore/gophd.crt") + " && " + diag.Command("install", "-m", "600", "--", key, "/etc/credstore/gophd.key")
			all = append(all, faultf(store+" && "+x.sed("s|^GOPHD_TLS_CERT=.*|GOPHD_TLS_CERT="+credentials+"gophd.crt|; s|^GOPHD_TLS_KEY=.*|GOPHD_TLS_KEY="+credentials+"gophd.key|"),
				"the account of the server cannot read %s; systemd reads it from /etc/credstore and hands it over", told.Path)...)
		case errors.Is(err, fs.ErrPermission):
			all = append(all, faultf(diag.Command("chgrp", x.account(), "--", key)+" && "+diag.Command("chmod", "g+r", "--", key), "the account of the server cannot read %s", key)...)
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, faultf(x.selfSigned(), "%v", err)...)
		default:
			all = append(all, faultf(x.selfSigned(), "%s and %s: %v", cert, key, err)...)
		}
	}
	return all
}

// selfSigned is the command that replaces a certificate that cannot be used: by that of
// certbot for the host, if there is one, else by one that gophd makes.
func (x *examination) selfSigned() string {
	if x.Settings != nil && !x.inUnit() {
		return diag.Command("gophd", "-tls-self-signed", x.private(), x.flags.Root)
	}
	return x.sed(`s/^GOPHD_TLS_CERT=/#&/; s/^GOPHD_TLS_KEY=/#&/; $aGOPHD_TLS_SELF_SIGNED=/var/lib/gophd`)
}

// programs reports sockets of programs that are not there, or not for this account.
func (x *examination) programs() (all []Finding) {
	_, rules, _ := x.flags.Parts()
	for _, rule := range rules {
		name := rule.Client.Socket
		info, err := os.Stat(x.onMachine(name))
		switch {
		case err != nil:
			all = append(all, faultf(x.starts(name), "no program listens for %s: %s does not exist", rule.Selector(), name)...)
		case info.Mode()&fs.ModeSocket == 0:
			all = append(all, faultf(diag.Command("rm", "--", name)+" && "+x.starts(name), "%s is not a socket", name)...)
		case unix.Access(x.onMachine(name), unix.W_OK) != nil:
			all = append(all, faultf(diag.Command("setfacl", "-m", "u:"+x.account()+":rw", "--", name), "the account of the server may not connect to %s", name)...)
		default:
			all = append(all, okf("%s for %s", name, rule.Selector())...)
		}
	}
	return all
}

// starts is the command that makes a socket: of the unit that has it, if there is one.
func (x *examination) starts(socket string) string {
	for _, dir := range []string{"/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"} {
		units, _ := filepath.Glob(filepath.Join(x.Machine, dir, "*.socket"))
		for _, file := range units {
			text, _ := os.ReadFile(file)
			if slices.Contains(strings.Fields(string(text)), "ListenStream="+socket) {
				return diag.Command("systemctl", "enable", "--now", filepath.Base(file))
			}
		}
	}
	return diag.Command("systemctl", "list-unit-files", "*.socket")
}

// writable reports files that the server is to write and cannot.
func (x *examination) writable() (all []Finding) {
	for _, w := range []struct{ flag, dir, file, usual string }{
		{"access-log", dirOf(x.flags.AccessLog), x.flags.AccessLog, "/var/log/gophd/access.log"},
		{"search-dir", x.flags.SearchDir, "", "/var/lib/gophd"},
		{"tls-self-signed", x.flags.TLSSelfSigned, "", "/var/lib/gophd"},
	} {
		if w.dir == "" || strings.HasPrefix(w.dir, "/dev") {
			continue
		}
		err := unix.Access(x.onMachine(w.dir), unix.W_OK|unix.X_OK)
		switch {
		case err == nil && w.file != "" && errors.Is(unix.Access(x.onMachine(w.file), unix.W_OK), unix.EACCES):
			all = append(all, faultf(diag.Command("chown", x.account()+":", "--", w.file)+" && "+x.restart(), "the account of the server cannot write to %s (-%s)", w.file, w.flag)...)
		case err != nil && x.inUnit():
			name := "GOPHD_" + strings.ToUpper(strings.ReplaceAll(w.flag, "-", "_"))
			all = append(all, faultf(x.sed(fmt.Sprintf("s|^%s=.*|%[1]s=%s|", name, w.usual)), "the unit does not let the server write to %s (-%s)", w.dir, w.flag)...)
		case err != nil:
			all = append(all, faultf(diag.Command("install", "-d", "-o", x.account(), "-g", x.account(), "--", w.dir), "the server cannot write to %s (-%s)", w.dir, w.flag)...)
		default:
			all = append(all, okf("%s (-%s)", w.dir, w.flag)...)
		}
	}
	return all
}

func dirOf(file string) string {
	if file == "" {
		return ""
	}
	return path.Dir(file)
}

// outside reports files of gophd itself that lie in a directory that is served.
func (x *examination) outside() []Finding {
	if err := (*exit.CommandError)(nil); errors.As(x.flags.Outside(), &err) {
		return faultf(err.Hint, "%v", err)
	}
	return nil
}

// annotations reports what authors wrote and did not get.
func (x *examination) annotations(v *site.View, snap *site.Snapshot) (all []Finding) {
	for _, r := range snap.Reports {
		file := x.path(v, r.File)
		switch {
		case r.Code == policy.CodeNotRead:
			all = append(all, faultf(diag.Command("mv", "--", file, path.Join(path.Dir(file), ".robots")), "%s: %s", r.Place(), r.Message)...)
		case r.Code == policy.CodeUnreadable && unix.Access(v.Path(path.Dir(r.File)), unix.R_OK|unix.X_OK) != nil: // the check of content names the directory
		case r.Code == policy.CodeUnreadable:
			all = append(all, faultf(x.open(file), "%s: %s", r.Place(), r.Message)...)
		case r.Severity == diag.Error, r.Code == "R7-MEANT":
			words := []string{"gophd", "robots", "check"}
			if user, _, ok := strings.Cut(r.File, "/"); ok && strings.HasPrefix(user, "~") {
				words = append(words, "-at", "/"+user+"/", "--", x.path(v, user))
			} else {
				words = append(words, "--", x.flags.Root)
			}
			all = append(all, faultf(diag.Command(words...), "%s: %s", r.Place(), r.Message)...)
		}
	}
	if all == nil {
		return okf("all are read")
	}
	return all
}

// path is where a name of the tree lies on the examined machine.
func (x *examination) path(v *site.View, name string) string {
	return "/" + strings.TrimPrefix(strings.TrimPrefix(v.Path(name), x.Machine), "/")
}

// open is the command that lets the account of the server read a file or a directory.
func (x *examination) open(file string) string {
	if info, err := os.Lstat(x.onMachine(file)); err == nil && info.IsDir() {
		return diag.Command("chmod", "o+rx", "--", file)
	}
	return diag.Command("chmod", "o+r", "--", file)
}

// content reports maps and directories that the account of the server cannot read, and
// files with private keys that everybody can fetch.
func (x *examination) content(ctx context.Context, tree *site.Site) (all []Finding) {
	v := tree.View(ctx)
	files := 0
	var closed []string
	var walk func(dir string)
	walk = func(dir string) {
		v.Forget() // memory for one directory at a time
		entries, err := v.Entries(dir)
		if errors.Is(err, fs.ErrPermission) {
			all = append(all, faultf(x.open(x.path(v, dir)), "the account of the server cannot list %s", x.path(v, dir))...)
			return
		}
		for _, e := range entries {
			name := selector.Join(dir, e.Name())
			if e.IsDir() && ctx.Err() == nil {
				walk(name)
				continue
			}
			if !e.Type().IsRegular() {
				continue
			}
			files++
			f, err := v.Lookup(name)
			switch {
			case err == nil && keypair.InText(f):
				move := diag.Command("mkdir", "-p", "-m", "700", "--", x.private()) + " && " + diag.Command("mv", "--", x.path(v, name), x.private())
				all = append(all, faultf(move, "everybody can fetch %s, which contains a private key: move it out of the tree, and replace the key", name)...)
			case errors.Is(unix.Access(v.Path(name), unix.R_OK), unix.EACCES) && menu.IsMap(e.Name()):
				all = append(all, faultf(x.open(x.path(v, name)), "the account of the server cannot read %s, so its directory has another menu", x.path(v, name))...)
			case errors.Is(unix.Access(v.Path(name), unix.R_OK), unix.EACCES):
				closed = append(closed, name)
			}
			if err == nil {
				_ = f.Close()
			}
		}
	}
	walk(".")
	for _, top := range v.Trees() {
		walk(top)
	}
	if all != nil {
		return all
	}
	note := ""
	if len(closed) > 0 {
		note = fmt.Sprintf("; %s that the account of the server cannot read, such as %s", diag.Count(len(closed), "file", "files"), closed[0])
	}
	return okf("no private key in %s%s", diag.Count(files, "file", "files"), note)
}

// pages lists the start and the top-level directories.
func (x *examination) pages(snap *site.Snapshot) {
	everywhere := strings.EqualFold(snap.Compiled.Fields().Index, "deny")
	names := []string{"."}
	for _, dir := range snap.Tree.Dirs[:min(len(snap.Tree.Dirs), 50)] {
		names = append(names, dir.Name)
	}
	for _, name := range names {
		x.sight.Pages = append(x.sight.Pages, page{selector.Canonical(name, true), everywhere || snap.Compiled.DeniedToAll(name, true)})
	}
}

// newest finds the three newest texts that robots may fetch. What is younger than ten
// seconds may still be on its way into the index.
func (x *examination) newest(v *site.View, snap *site.Snapshot) {
	const most = 3
	type candidate struct {
		name string
		when time.Time
	}
	var all []candidate
	var walk func(dir *site.Dir, at string)
	walk = func(dir *site.Dir, at string) {
		for _, file := range dir.Files {
			name, when := selector.Join(at, file.Name), time.Unix(0, file.Modified)
			if typ, known := menu.TypeOf(file.Name); !known || typ != menu.TypeText || time.Since(when) < 10*time.Second || snap.Compiled.DeniedToAll(name, false) {
				continue
			}
			all = append(all, candidate{name, when})
		}
		for _, sub := range dir.Dirs {
			walk(sub, selector.Join(at, sub.Name))
		}
	}
	walk(snap.Tree, ".")
	slices.SortFunc(all, func(a, b candidate) int { return b.when.Compare(a.when) })
	for _, c := range all {
		body, err := v.ReadFile(c.name)
		if err != nil || len(body) > 64<<10 || !utf8.Valid(body) || len(x.sight.Texts) == most {
			continue
		}
		x.sight.Texts = append(x.sight.Texts, text{selector.Canonical(c.name, false), bytes.ReplaceAll(body, []byte("\r"), nil)})
	}
}

// userDirs returns the directory of all homes, and the directories of users in them.
func (x *examination) userDirs() (above string, dirs []string) {
	above, below, _ := strings.Cut(x.flags.Users, "/*")
	list, _ := os.ReadDir(x.onMachine(cmp.Or(above, "/")))
	for _, e := range list {
		dir := filepath.Join(above, e.Name(), below)
		if _, err := os.Stat(x.onMachine(dir)); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			dirs = append(dirs, dir)
		}
	}
	return above, dirs
}

// homes reports users' directories that the server cannot list. Root sees them all.
func (x *examination) homes(context.Context) (all []Finding) {
	if x.flags.Users == "" || slices.ContainsFunc(x.sight.Findings, func(f Finding) bool { return f.Check == "directories" && isFault(f) }) {
		return nil
	}
	above, dirs := x.userDirs()
	for _, dir := range dirs {
		if slices.Contains(x.sight.Homes, dir) {
			continue
		}
		home, _, _ := strings.Cut(strings.TrimPrefix(dir, above+"/"), "/")
		all = append(all, faultf(diag.Command("chmod", "o+x", "--", filepath.Join(above, home))+" && "+diag.Command("chmod", "o+rx", "--", dir), "the account of the server may not list %s", dir)...)
	}
	switch {
	case all != nil:
		return all
	case len(dirs) == 0:
		return unknownf("no user has a directory %s", x.flags.Users)
	}
	return okf("%s", diag.Count(len(dirs), "user has", "users have")+" a directory")
}
