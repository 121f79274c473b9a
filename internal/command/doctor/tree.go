package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/check"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// seen returns the findings of a check that the process with the service's rights made.
func (x *examination) seen(check string) (all []Finding) {
	for _, f := range x.sight.Findings {
		if f.Check == check {
			all = append(all, f)
		}
	}
	return all
}

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
	conf, programs, err := x.flags.Parts()
	if err != nil {
		return x.sight // settings reports the cause
	}
	conf.Users, conf.Capsules = x.onMachine(conf.Users), x.onMachine(conf.Capsules)
	for name, dir := range conf.Mounts {
		conf.Mounts[name] = x.onMachine(dir)
	}
	o := check.Options{
		Progress:  x.Err,
		Site:      conf,
		Programs:  programs,
		Charset:   x.flags.Charset,
		Search:    x.flags.Search,
		RootHomes: true,
	}
	_, err = check.Examine(ctx, x.onMachine(x.flags.Root), o,
		func(found *check.Outcome, v *site.View, at func(label string) string) {
			path := func(label string) string {
				return "/" + strings.TrimPrefix(strings.TrimPrefix(at(label), x.Machine), "/")
			}
			add("annotations", x.annotations(v, path))
			add("content", x.content(found, at, path))
			for _, name := range v.Trees() {
				if strings.HasPrefix(name, "~") {
					x.sight.Users++
				}
			}
			x.sight.Robots = v.Now().Robots
			x.pages(v.Now())
			x.newest(v)
		})
	if err != nil && !slices.ContainsFunc(x.sight.Findings, isFault) {
		add("annotations", faultf(x.restart(), "the tree cannot be read: %v",
			exit.Root(x.flags.Root, err)))
	}
	return x.sight
}

// preconditions tests what a start needs of the machine.
func (x *examination) preconditions(add func(check string, list []Finding)) {
	settings, err := x.flags.Settings()
	if x.failed != nil || err != nil {
		return // settings reports the cause
	}
	tested := map[string]bool{}
	place := daemon.Place{Machine: x.Machine}
	if u, err := sandbox.LookUpUser(x.flags.User); err == nil && os.Geteuid() == 0 {
		place.Account = &u
	} else if err == nil && u.UID != os.Getuid() {
		command := diag.Command("sudo") + " " + x.start()
		if x.Settings == nil {
			command = x.mend("-user", "")
		}
		add("account", faultf(command,
			"the server has the account with uid %d: it cannot become %s",
			os.Getuid(), x.flags.User))
		tested["account"+x.flags.User] = true
	}
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
			if x.inUnit() && !strings.Contains(mend, "systemctl") &&
				!strings.Contains(mend, restartLater) {
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
		return diag.Command("gophd", "init", "--", root) + "; " +
			x.sed(fmt.Sprintf("s|^GOPHD_ROOT=.*|GOPHD_ROOT=%s|", root))
	case p.Name == "directories" && err == nil && !info.IsDir():
		return diag.Command("mv", "--", p.What, p.What+".old") + " && " +
			diag.Command("gophd", "init", "--", p.What)
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
	for _, name := range []string{file, strings.TrimSuffix(file, ".key") + ".crt", file + "-wal",
		file + "-shm"} {
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
		return diag.Command("install", "-d", "-m", "700", "/etc/credstore") + " && " +
			diag.Command("install", "-m", "600", "--", cert, "/etc/credstore/gophd.crt") +
			" && " + diag.Command("install", "-m", "600", "--", key, "/etc/credstore/gophd.key") +
			" && " + x.sed("s|^GOPHD_TLS_CERT=.*|GOPHD_TLS_CERT="+credentials+
			"gophd.crt|; s|^GOPHD_TLS_KEY=.*|GOPHD_TLS_KEY="+credentials+"gophd.key|")
	case errors.Is(err, fs.ErrPermission):
		return diag.Command("chgrp", x.account(), "--", cert, key) + " && " +
			diag.Command("chmod", "g+r", "--", cert, key)
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
	for _, dir := range []string{"/etc/systemd/system", "/usr/local/lib/systemd/system",
		"/usr/lib/systemd/system"} {
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
func (x *examination) annotations(v *site.View, path func(label string) string) (all []Finding) {
	for _, r := range v.Now().Reports {
		file := path(r.File)
		dir := filepath.Dir(file)
		command := ""
		switch {
		case r.Code == policy.CodeNotRead:
			command = diag.Command("mv", "--", file, filepath.Join(dir, ".robots"))
		case r.Code == policy.CodeUnreadable &&
			self.Access(x.onMachine(dir), sandbox.MayRead|sandbox.MayEnter) != nil: // the check of content names the directory
		case r.Code == policy.CodeUnreadable:
			command = diag.Command("chmod", "o+rX", "--", file)
			if info, err := os.Lstat(x.onMachine(file)); err == nil &&
				info.Mode()&fs.ModeSymlink != 0 {
				command = diag.Command("rm", "--", file) // chmod would open what the link leads to
			}
		case r.Severity == diag.Error, r.Code == "R7-MEANT":
			command = diag.Command("gophd", "robots", "check", "--", x.flags.Root)
			home, _, ok := strings.Cut(r.File, "/")
			if user := strings.TrimPrefix(home, "gemini="); ok && strings.HasPrefix(user, "~") {
				command = diag.Command("gophd", "robots", "check", "-at", "/"+user+"/",
					"--", path(home))
			}
		}
		if command != "" {
			all = append(all, faultf(command, "%s: %s", r.Place(), r.Message)...)
		}
	}
	if all == nil {
		return okf("all annotations are read")
	}
	return all
}

// content reports what gophd check has found of files that the account of the server cannot
// read, and of private keys. What keeps homes from being served is noted.
func (x *examination) content(found *check.Outcome, at,
	path func(label string) string) (all []Finding) {
	x.sight.Homes = map[string]Finding{}
	note := ""
	for _, d := range found.Findings {
		file := path(d.File)
		message := strings.ReplaceAll(strings.Replace(d.Message, "this user",
			"the account of the server", 1), x.Machine, "")
		mend := strings.ReplaceAll(d.Hint, x.Machine, "")
		user, isTop := strings.CutPrefix(strings.TrimPrefix(d.File, "gemini="), "~")
		isTop = isTop && !strings.Contains(user, "/")
		switch {
		case d.Code == check.CodeKey:
			move := diag.Command("mkdir", "-p", "-m", "700", "--", x.private()) + " && " +
				diag.Command("mv", "--", file, x.private())
			all = append(all, faultf(move,
				"everybody can fetch %s, which contains a private key: move it out of the tree, and replace the key", d.File)...)
		case d.Code != check.CodeRead:
		case d.Hint == "" || self.Access(at(d.File), sandbox.MayRead|sandbox.MayEnter) == nil: // about files in it, which may be closed on purpose
			note = "; " + file + ": " + message
		case isTop && user == d.File[1:]:
			x.sight.Homes[strings.Replace(x.flags.Users, "*", user, 1)] = faultf(mend,
				"%s", message)[0]
		case isTop:
			x.sight.Homes[strings.Replace(x.flags.UsersGemini, "*", user, 1)] = faultf(mend,
				"%s", message)[0]
		default:
			all = append(all, faultf(mend, "%s: %s", file, message)...)
		}
	}
	if all != nil {
		return all
	}
	return okf("no private key in %s%s", diag.Count(found.Files, "file", "files"), note)
}

// pages lists the start and the top-level directories.
func (x *examination) pages(snap *site.Snapshot) {
	everywhere := strings.EqualFold(snap.Compiled.Fields().Index, "deny")
	names := []string{"."}
	for _, dir := range snap.Tree.Dirs[:min(len(snap.Tree.Dirs), 50)] {
		names = append(names, dir.Name)
	}
	for _, name := range names {
		x.sight.Pages = append(x.sight.Pages,
			page{selector.Canonical(name, true), everywhere ||
				snap.Compiled.DeniedToAll(name, true)})
	}
}

// newest finds the three newest texts that robots may fetch. What is younger than ten
// seconds may still be on its way into the index.
func (x *examination) newest(v *site.View) {
	const most = 3
	type candidate struct {
		name string
		when time.Time
	}
	var all []candidate
	for dir, d := range v.Now().Tree.All() {
		for _, file := range d.Files {
			name := selector.Join(dir, file.Name)
			when := time.Unix(0, file.Modified)
			if typ, known := menu.TypeOf(file.Name); known && typ == menu.TypeText &&
				time.Since(when) > 10*time.Second && !v.Now().Compiled.DeniedToAll(name, false) {
				all = append(all, candidate{name, when})
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return b.when.Compare(a.when) })
	for _, c := range all {
		if len(x.sight.Texts) == most {
			break
		}
		body, err := v.ReadFile(c.name)
		if err == nil && len(body) <= 64<<10 && utf8.Valid(body) {
			x.sight.Texts = append(x.sight.Texts,
				text{selector.Canonical(c.name, false), bytes.ReplaceAll(body, []byte("\r"), nil)})
		}
	}
}

// homes reports users' directories that the server cannot serve. Root sees which of them
// there are.
func (x *examination) homes(context.Context) (all []Finding) {
	if x.flags.Users == "" {
		return nil
	}
	if above := x.seen("homes"); slices.ContainsFunc(above, isFault) { // the directory of the homes
		return above
	}
	for _, dir := range slices.Sorted(maps.Keys(x.sight.Homes)) {
		if _, err := os.Stat(x.onMachine(dir)); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, x.sight.Homes[dir])
		}
	}
	switch {
	case all != nil:
		return all
	case x.sight.Users == 0:
		return unknownf("no user has a directory %s", x.flags.Users)
	}
	return okf("%s", diag.Count(x.sight.Users, "user has", "users have")+" a directory")
}
