package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
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

// look examines the disk with the rights of this process, or of the account that it becomes.
func (d *Doctor) look(ctx context.Context) sight {
	x := d.begin(ctx)
	if d.AsService {
		x.ownCredentials()
	}
	x.preconditions()
	x.tree(ctx)
	x.sight.Findings = x.findings
	return x.sight
}

// preconditions tests what a start needs of the machine.
func (x *examination) preconditions() {
	settings, err := x.flags.Settings()
	if x.failed != nil || err != nil {
		return // settings reports the cause
	}
	x.enter("account")
	if u, err := sandbox.LookUpUser(x.flags.User); err == nil && x.Settings != nil &&
		os.Geteuid() != 0 && u.UID != os.Geteuid() {
		command := diag.Command("sudo") + " " + x.start()
		if x.managed() {
			command = x.set(map[string]string{"user": ""})
		}
		x.add(Finding{
			Type: command,
			Text: fmt.Sprintf("the server has the account with uid %d: it cannot become %s",
				os.Getuid(), x.flags.User),
			Restart: x.managed(),
		})
	}
	for _, p := range settings.Preconditions() {
		x.enter(p.Name)
		err := p.Test()
		var e *exit.CommandError
		switch {
		case err == nil && p.What != "":
			x.ok("%s", p.What)
		case err == nil:
		case p.Name == "account" && !x.AsService && (x.Settings == nil || p.Warn): // of this process, which is not the server
		case !errors.As(err, &e):
			x.restarted("", "%v", err)
		default:
			command := e.Mend
			if e.Set != nil {
				command = then(command, x.set(e.Set))
			}
			if p.Name == "programs" {
				command = x.starts(p.What)
			}
			x.add(Finding{
				Type:    cmp.Or(command, diag.Command("gophd", "check-config")),
				Text:    err.Error(),
				Restart: x.managed() && !strings.Contains(command, "systemctl"),
			})
		}
	}
}

// tree examines the tree as the account of the server.
func (x *examination) tree(ctx context.Context) {
	_, _, err := x.flags.Parts()
	if x.flags.Root == "" || x.failed != nil || err != nil {
		return // settings reports the cause
	}
	if u, err := sandbox.LookUpUser(x.flags.User); err == nil && x.AsService && os.Geteuid() == 0 {
		if err := u.Become(); err != nil {
			x.enter("account")
			x.unknown("%v", err)
			return
		}
	}
	o := check.Options{
		Progress:  x.Err,
		Serve:     *x.flags,
		RootHomes: true,
	}
	_, err = check.Examine(ctx, x.flags.Root, o,
		func(found *check.Outcome, v *site.View, path func(label string) string) {
			x.annotations(v, path)
			x.content(found, path)
			for _, name := range v.Trees() {
				if strings.HasPrefix(name, "~") {
					x.sight.Users++
				}
			}
			x.sight.Robots = v.Now().Robots
			x.pages(v.Now())
			x.newest(v)
		})
	if err != nil && x.faults == 0 {
		x.enter("annotations")
		x.restarted("", "the tree cannot be read: %v", exit.Root(x.flags.Root, err))
	}
}

// managed reports whether the server is a service, whose settings are in a file.
func (x *examination) managed() bool {
	return x.Settings == nil || x.AsService && systemd.InUnit()
}

// set returns the command that changes flags, "" for one to leave out: in the file of the
// settings, or on the command line of a server without a unit.
func (x *examination) set(values map[string]string) string {
	args := slices.Clone(x.Args)
	words := []string{"gophd"}
	script := []string{"sed", "-i"}
	for _, flag := range slices.Sorted(maps.Keys(values)) {
		name, value := daemon.Variable(flag), values[flag]
		script = append(script, "-e", "s/^"+name+"=/#&/")
		for i := slices.Index(args, "-"+flag); i >= 0; i = slices.Index(args, "-"+flag) {
			args = slices.Delete(args, i, i+2)
		}
		if value != "" {
			script = append(script, "-e", "$a"+name+"="+value)
			words = append(words, "-"+flag, value)
		}
	}
	if x.managed() {
		return diag.Command(append(script, x.file())...)
	}
	return diag.Command(append(words, args...)...)
}

// starts is the command that makes a socket: of the unit that has it, if there is one.
func (x *examination) starts(socket string) string {
	for _, dir := range []string{"/etc/systemd/system", "/usr/local/lib/systemd/system",
		"/usr/lib/systemd/system"} {
		units, _ := filepath.Glob(filepath.Join(x.Machine, dir, "*.socket"))
		for _, file := range units {
			text, _ := os.ReadFile(file)
			if slices.Contains(strings.Fields(string(text)), "ListenStream="+socket) {
				return systemctl("enable", "--now", filepath.Base(file))
			}
		}
	}
	return systemctl("list-unit-files", "*.socket")
}

// self is the account of this process, which is that of the server.
var self *sandbox.Identity

// annotations reports what authors wrote and did not get.
func (x *examination) annotations(v *site.View, path func(label string) string) {
	x.enter("annotations")
	for _, r := range v.Now().Reports {
		file := path(r.File)
		dir := filepath.Dir(file)
		command := ""
		switch {
		case r.Code == policy.CodeNotRead:
			command = diag.Command("mv", "--", file, filepath.Join(dir, ".robots"))
		case r.Code == policy.CodeUnreadable &&
			self.Access(dir, sandbox.MayRead|sandbox.MayEnter) != nil: // the check of content names the directory
		case r.Code == policy.CodeUnreadable:
			command = diag.Command("chmod", "o+rX", "--", file)
			if info, err := os.Lstat(file); err == nil &&
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
			x.fault(command, "%s: %s", r.Place(), r.Message)
		}
	}
	if x.none() {
		x.ok("all annotations are read")
	}
}

// content reports what gophd check has found of files that the account of the server cannot
// read, and of private keys. What keeps homes from being served is noted.
func (x *examination) content(found *check.Outcome, path func(label string) string) {
	x.enter("content")
	x.sight.Homes = map[string]Finding{}
	note := ""
	for _, d := range found.Findings {
		file := path(d.File)
		message := strings.Replace(d.Message, "this user", "the account of the server", 1)
		home, ofGemini := strings.CutPrefix(d.File, "gemini=")
		pattern := x.flags.Users
		if ofGemini {
			pattern = x.flags.UsersGemini
		}
		switch user, isHome := strings.CutPrefix(home, "~"); {
		case d.Code == check.CodeKey:
			private := x.flags.PrivateDirs("", false)[0]
			move := then(diag.Command("mkdir", "-p", "-m", "700", "--", private),
				diag.Command("mv", "--", file, private))
			x.fault(move,
				"everybody can fetch %s, which contains a private key: move it out of the tree, and replace the key", d.File)
		case d.Code != check.CodeRead:
		case d.Hint == "" || self.Access(file, sandbox.MayRead|sandbox.MayEnter) == nil: // about files in it, which may be closed on purpose
			note = "; " + file + ": " + message
		case isHome && !strings.Contains(user, "/"):
			x.sight.Homes[strings.Replace(pattern, "*", user, 1)] = Finding{Type: d.Hint, Text: message}
		default:
			x.fault(d.Hint, "%s: %s", file, message)
		}
	}
	if x.none() {
		x.ok("no private key in %s%s", diag.Count(found.Files, "file", "files"), note)
	}
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

// newest finds the three newest texts that robots may fetch, besides robots.txt, to which the
// server may add its sitemap, and links, which the index has under their real names. What is
// younger than ten seconds may still be on its way into the index.
func (x *examination) newest(v *site.View) {
	const most = 3
	modified := map[string]int64{}
	for dir, d := range v.Now().Tree.All() {
		for _, file := range d.Files {
			name := selector.Join(dir, file.Name)
			typ, known := menu.TypeOf(file.Name)
			if known && typ == menu.TypeText && name != "robots.txt" && v.Now().Real(name) == name &&
				!v.Now().Compiled.DeniedToAll(name, false) &&
				time.Since(time.Unix(0, file.Modified)) > 10*time.Second {
				modified[name] = file.Modified
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(modified), func(a, b string) int {
		return cmp.Or(cmp.Compare(modified[b], modified[a]), strings.Compare(a, b))
	})
	for _, name := range names {
		if len(x.sight.Texts) == most {
			break
		}
		body, err := v.ReadFile(name)
		if err == nil && len(body) <= 64<<10 && utf8.Valid(body) {
			x.sight.Texts = append(x.sight.Texts,
				text{selector.Canonical(name, false), bytes.ReplaceAll(body, []byte("\r"), nil)})
		}
	}
}

// homes reports users' directories that the server cannot serve. Root sees which of them
// there are.
func (x *examination) homes(context.Context) {
	if x.flags.Users == "" || !x.none() { // or the directory of the homes is closed
		return
	}
	for _, dir := range slices.Sorted(maps.Keys(x.sight.Homes)) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			x.add(x.sight.Homes[dir])
		}
	}
	switch {
	case !x.none():
	case x.sight.Users == 0:
		x.unknown("no user has a directory %s", x.flags.Users)
	default:
		x.ok("%s a directory", diag.Count(x.sight.Users, "user has", "users have"))
	}
}
