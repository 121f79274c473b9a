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
	"syscall"
	"time"
	"unicode/utf8"

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
	for _, name := range []string{"directories", "outside", "account", "uids", "keys", "writable", "programs", "annotations", "content"} {
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
	x.preconditions(add)
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

// preconditions tests what a start needs of the machine.
func (x *examination) preconditions(add func(check string, list []Finding)) {
	settings, err := x.flags.Settings()
	if x.failed != nil || err != nil {
		return // the check of settings says so
	}
	place := daemon.Place{Machine: x.Machine}
	if u, err := sandbox.LookUpUser(x.flags.User); err == nil && os.Geteuid() == 0 {
		place.Account = &u
	} else if err == nil && u.UID != os.Getuid() {
		add("account", faultf(x.mend("-user", ""), "the server has the account with uid %d: it cannot become %s", os.Getuid(), x.flags.User))
	}
	tested := map[string]bool{}
	for _, p := range settings.Preconditions(place) {
		name := map[string]string{"certificate": "keys"}[p.Name]
		name = cmp.Or(name, p.Name)
		var e *exit.CommandError
		switch err := p.Test(); {
		case errors.As(err, &e):
			if p.Name == "account" && !x.AsService && (x.Settings == nil || p.Warn) {
				continue // of this process, which is not the server
			}
			mend := cmp.Or(x.mendPrecondition(p), e.Mend, diag.Command("gophd", "check-config"))
			if x.inUnit() && !strings.Contains(mend, "systemctl") && !strings.Contains(mend, restartLater) {
				mend += " && " + x.restart()
			}
			add(name, faultf(mend, "%v", err))
		case err != nil:
			add(name, faultf(x.restart(), "%v", err))
		case p.What != "" && !tested[name+p.What]:
			add(name, okf("%s", p.What))
		}
		tested[name+p.What] = true
	}
}

// mendPrecondition is the command for a fault where doctor knows more than the daemon.
func (x *examination) mendPrecondition(p daemon.Precondition) string {
	switch info, err := os.Stat(x.onMachine(p.What)); {
	case p.Name == "directories" && strings.HasPrefix(p.What, "~"):
		root := filepath.Join("/srv", strings.TrimLeft(p.What, "~/")) // a service has no shell, and its account no home
		return diag.Command("gophd", "init", "--", root) + "; " + x.sed(fmt.Sprintf("s|^GOPHD_ROOT=.*|GOPHD_ROOT=%s|", root))
	case p.Name == "directories" && err == nil && !info.IsDir():
		return diag.Command("mv", "--", p.What, p.What+".old") + " && " + diag.Command("gophd", "init", "--", p.What)
	case p.Name == "directories" && (errors.Is(err, fs.ErrNotExist) || p.Warn):
		return diag.Command("gophd", "init", "--", p.What)
	case p.Name == "account":
		return diag.Command(append([]string{"gophd", "-user", x.account()}, x.Args...)...)
	case p.Name == "outside":
		return x.moveOut(p.What)
	case p.Name == "certificate":
		return x.mendKeys(p.What)
	case p.Usual != "" && x.inUnit() && !strings.HasPrefix(p.What, path.Dir(p.Usual)):
		return x.sed(fmt.Sprintf("s|^%s=.*|%[1]s=%s|", daemon.Variable(p.Flag), p.Usual))
	case p.Name == "programs":
		return x.starts(p.What)
	}
	return ""
}

// moveOut is the command that moves a file of gophd itself out of the served directories, and
// changes the setting that names it.
func (x *examination) moveOut(file string) string {
	to := x.private()
	if x.inUnit() {
		to = "/var/lib/gophd"
	}
	moved := map[string]string{path.Clean(file): path.Join(to, path.Base(file)), path.Dir(file): to} // as a flag names it
	words := []string{"mv", "--"}
	for _, name := range []string{file, strings.TrimSuffix(file, ".key") + ".crt", file + "-wal", file + "-shm"} {
		if x.exists(name) && !slices.Contains(words, name) {
			words = append(words, name)
		}
	}
	command := diag.Command("mkdir", "-p", "-m", "700", "--", to) + " && "
	if len(words) > 2 {
		command += diag.Command(append(words, to)...) + " && "
	}
	if x.inUnit() {
		var script []string
		for from, name := range moved {
			script = append(script, fmt.Sprintf("s|=%s/*$|=%s|", from, name))
		}
		slices.Sort(script)
		return command + x.sed(strings.Join(script, "; "))
	}
	args := slices.Clone(x.Args)
	for i, arg := range args[:max(0, len(args)-1)] { // the last is the root
		args[i] = cmp.Or(moved[path.Clean(arg)], arg)
	}
	return command + diag.Command(append([]string{"gophd"}, args...)...)
}

// mendKeys is the command for a certificate or key that cannot be used: to hand them over to
// the unit, to let the account read them, or to let gophd make a certificate.
func (x *examination) mendKeys(cert string) string {
	i := slices.Index(x.flags.TLSCert, cert)
	if i < 0 {
		return x.selfSigned()
	}
	key := x.flags.TLSKey[i]
	switch _, err := tls.LoadX509KeyPair(x.onMachine(cert), x.onMachine(key)); {
	case errors.Is(err, fs.ErrPermission) && x.inUnit():
		return diag.Command("install", "-d", "-m", "700", "/etc/credstore") + " && " + diag.Command("install", "-m", "600", "--", cert, "/etc/credstore/gophd.crt") +
			" && " + diag.Command("install", "-m", "600", "--", key, "/etc/credstore/gophd.key") +
			" && " + x.sed("s|^GOPHD_TLS_CERT=.*|GOPHD_TLS_CERT="+credentials+"gophd.crt|; s|^GOPHD_TLS_KEY=.*|GOPHD_TLS_KEY="+credentials+"gophd.key|")
	case errors.Is(err, fs.ErrPermission):
		return diag.Command("chgrp", x.account(), "--", cert, key) + " && " + diag.Command("chmod", "g+r", "--", cert, key)
	}
	return x.selfSigned()
}

// inUnit reports whether this process has the namespaces of a unit.
func (x *examination) inUnit() bool { return x.AsService && systemd.InUnit() }

// selfSigned is the command that replaces a certificate that cannot be used: by that of
// certbot for the host, if there is one, else by one that gophd makes.
func (x *examination) selfSigned() string {
	if x.Settings != nil && !x.inUnit() {
		return diag.Command("gophd", "-tls-self-signed", x.private(), x.flags.Root)
	}
	return x.sed(`s/^GOPHD_TLS_CERT=/#&/; s/^GOPHD_TLS_KEY=/#&/; $aGOPHD_TLS_SELF_SIGNED=/var/lib/gophd`)
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

// self is the account of this process, which is that of the server.
var self *sandbox.Identity

// annotations reports what authors wrote and did not get.
func (x *examination) annotations(v *site.View, snap *site.Snapshot) (all []Finding) {
	for _, r := range snap.Reports {
		file := x.path(v, r.File)
		switch {
		case r.Code == policy.CodeNotRead:
			all = append(all, faultf(diag.Command("mv", "--", file, path.Join(path.Dir(file), ".robots")), "%s: %s", r.Place(), r.Message)...)
		case r.Code == policy.CodeUnreadable && self.Access(v.Path(path.Dir(r.File)), sandbox.MayRead|sandbox.MayEnter) != nil: // the check of content names the directory
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
			case errors.Is(self.Access(v.Path(name), sandbox.MayRead), fs.ErrPermission) && menu.IsMap(e.Name()):
				all = append(all, faultf(x.open(x.path(v, name)), "the account of the server cannot read %s, so its directory has another menu", x.path(v, name))...)
			case errors.Is(self.Access(v.Path(name), sandbox.MayRead), fs.ErrPermission):
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
		if _, err := os.Stat(x.onMachine(dir)); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			dirs = append(dirs, dir)
		}
	}
	return above, dirs
}

// homes reports users' directories that the server cannot list. Root sees them all.
func (x *examination) homes(context.Context) (all []Finding) {
	if x.flags.Users == "" {
		return nil
	}
	for _, f := range x.sight.Findings { // the directory of the homes
		if f.Check == "homes" && isFault(f) {
			return []Finding{f}
		}
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
