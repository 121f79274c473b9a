package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/policy"
)

// hides reports whether the unit hides a path from the server.
func (x *examination) hides(name string) bool {
	return x.Settings == nil && x.unit.has("ProtectHome", "yes", "true", "on", "1", "tmpfs") && systemd.Hidden(name)
}

// directories reports a directory that the server cannot see, enter or list.
func (x *examination) directories(context.Context) (all []Finding) {
	dirs := []string{x.flags.Root}
	for _, flag := range append(append([]string{}, x.flags.Mounts...), x.flags.VHosts...) {
		_, dir, _ := strings.Cut(flag, "=")
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		info, err := os.Stat(x.onMachine(dir))
		closed := ""
		if err == nil {
			closed = x.closedTo(dir)
		}
		switch {
		case x.hides(dir):
			all = append(all, faultf(systemd.Activate("root"), "the unit hides %s", dir)...)
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, faultf(diag.Command("gophd", "init", "--", dir), "%s is not there", dir)...)
		case err != nil:
			all = append(all, faultf(x.asRoot("directories", err), "%v", err)...)
		case !info.IsDir():
			all = append(all, faultf(x.renamed(dir), "%s is no directory", dir)...)
		case closed != "":
			all = append(all, faultf(diag.Command("chmod", "a+rx", "--", closed), "the account of the server may not enter and list %s", closed)...)
		default:
			all = append(all, okf("%s", dir)...)
		}
	}
	return all
}

// asRoot is the command for what this user may not see, or the server's next start.
func (x *examination) asRoot(check string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return diag.Command("sudo", "gophd", "doctor", "-only", check)
	}
	return x.restart()
}

// renamed is the command that moves a file away and makes a directory of its name.
func (x *examination) renamed(dir string) string {
	return diag.Command("mv", "--", dir, dir+".old") + " && " + diag.Command("gophd", "init", "--", dir)
}

// closedTo returns the first directory on the way to one that is closed to accounts other
// than its owner; "" without a unit, whose account owns nothing.
func (x *examination) closedTo(dir string) string {
	if x.unit == nil || x.Settings != nil {
		return ""
	}
	need := fs.FileMode(0o005)
	for at := filepath.Clean(dir); ; at, need = filepath.Dir(at), 0o001 {
		if info, err := os.Stat(x.onMachine(at)); err == nil && info.Mode()&need != need {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// homes reports whether -users can serve anybody.
func (x *examination) homes(context.Context) []Finding {
	if x.flags.Users == "" {
		return nil
	}
	above, _, _ := strings.Cut(x.flags.Users, "/*")
	dirs, _ := filepath.Glob(x.onMachine(x.flags.Users))
	closed := x.closedHomes(above)
	switch {
	case x.hides(above + "/"):
		return faultf(systemd.Activate("users"), "the unit hides %s", above)
	case len(closed) > 0 && len(dirs) == 0:
		return faultf(diag.Command("chmod", "o+x", "--", closed[0]), "the server may not enter %s", closed[0])
	case len(dirs) == 0:
		return faultf(diag.Command("mkdir", "--", strings.Replace(x.flags.Users, "*", "NAME", 1)), "nobody has a directory %s", x.flags.Users)
	}
	for _, home := range closed {
		if slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(dir, x.onMachine(home)+"/") }) {
			return faultf(diag.Command("chmod", "o+x", "--", home), "the server may not enter %s", home)
		}
	}
	text := diag.Count(len(dirs), "user has", "users have") + " a directory"
	if len(closed) > 0 && os.Geteuid() != 0 {
		text += "; root sees whether those of " + diag.Count(len(closed), "closed home", "closed homes") + " have one, such as " + closed[0]
	}
	return okf("%s", text)
}

// closedHomes lists the homes that only their owners may enter.
func (x *examination) closedHomes(above string) (closed []string) {
	list, _ := os.ReadDir(x.onMachine(above))
	for _, e := range list {
		if info, err := os.Stat(filepath.Join(x.onMachine(above), e.Name())); err == nil && info.IsDir() && info.Mode()&0o001 == 0 {
			closed = append(closed, filepath.Join(above, e.Name()))
		}
	}
	return closed
}

// uids reports whether the server can see who owns a file, which -users needs.
func (x *examination) uids(context.Context) []Finding {
	if x.flags.Users == "" {
		return nil
	}
	if x.Settings == nil && x.unit.has("PrivateUsers", "yes", "true", "on", "1", "self", "identity") {
		return faultf(systemd.Activate("users"), "PrivateUsers=yes of the unit shows all owners of files as one")
	}
	pid := "self"
	if running := x.processes("gophd"); len(running) > 0 && x.Settings == nil {
		pid = running[0]
	}
	if text := x.read("/proc/" + pid + "/uid_map"); text != "" && !daemon.MapsUsers(text, x.flags.UsersMinUID) {
		return faultf(diag.Command("cat", "/proc/"+pid+"/uid_map"), "the user namespace of the server lacks accounts of users; let it map more (subuid(5))")
	}
	return okf("the server sees who owns a file")
}

// programs reports sockets of programs that are not there.
func (x *examination) programs(context.Context) (all []Finding) {
	_, rules, _ := x.flags.Parts()
	for _, rule := range rules {
		name := rule.Client.Socket
		info, err := os.Stat(x.onMachine(name))
		switch {
		case err != nil:
			all = append(all, faultf(x.starts(name), "no program listens for %s: %s is not there", rule.Selector(), name)...)
		case info.Mode()&fs.ModeSocket == 0:
			all = append(all, faultf(diag.Command("rm", "--", name)+" && "+x.starts(name), "%s is no socket", name)...)
		default:
			all = append(all, okf("%s for %s", name, rule.Selector())...)
		}
	}
	return all
}

// starts is the command that makes a socket: of the unit that has it, if there is one.
func (x *examination) starts(socket string) string {
	for _, dir := range unitDirs {
		units, _ := filepath.Glob(filepath.Join(x.Machine, dir, "*.socket"))
		for _, file := range units {
			for _, listen := range values(readOptions(file), "ListenStream") {
				if listen == socket || listen == "/run"+strings.TrimPrefix(socket, "/var/run") {
					return diag.Command("systemctl", "enable", "--now", filepath.Base(file))
				}
			}
		}
	}
	return diag.Command("systemctl", "list-unit-files", "*.socket")
}

// writable reports directories that the server is to write to and cannot.
func (x *examination) writable(context.Context) (all []Finding) {
	for _, w := range []struct{ flag, dir, directive, below, usual string }{
		{"access-log", dirOf(x.flags.AccessLog), "LogsDirectory", "/var/log/", "/var/log/gophd/access.log"},
		{"search-dir", x.flags.SearchDir, "StateDirectory", "/var/lib/", "/var/lib/gophd"},
		{"tls-self-signed", x.flags.TLSSelfSigned, "StateDirectory", "/var/lib/", "/var/lib/gophd"},
	} {
		if w.dir == "" || strings.HasPrefix(w.dir, "/dev") {
			continue
		}
		if x.unit != nil && x.Settings == nil {
			mine := false
			for _, name := range values(x.unit.service, w.directive) {
				mine = mine || strings.HasPrefix(w.dir+"/", w.below+name+"/")
			}
			for _, name := range values(x.unit.service, "ReadWritePaths") {
				mine = mine || strings.HasPrefix(w.dir+"/", strings.TrimRight(name, "/")+"/")
			}
			if !mine {
				name := "GOPHD_" + strings.ToUpper(strings.ReplaceAll(w.flag, "-", "_"))
				all = append(all, faultf(diag.Command("sed", "-i", fmt.Sprintf("s|^%s=.*|%[1]s=%s|", name, w.usual), settingsFile)+" && "+x.restart(), "the unit does not let the server write to %s (-%s)", w.dir, w.flag)...)
				continue
			}
		} else if info, err := os.Stat(x.onMachine(w.dir)); err != nil || !info.IsDir() || info.Mode()&0o222 == 0 {
			all = append(all, faultf(diag.Command("install", "-d", "-o", "gophd", "-g", "gophd", "--", w.dir), "the server cannot write to %s (-%s)", w.dir, w.flag)...)
			continue
		}
		all = append(all, okf("%s (-%s)", w.dir, w.flag)...)
	}
	return all
}

func dirOf(file string) string {
	if file == "" {
		return ""
	}
	return path.Dir(file)
}

// annotations reports what authors wrote and did not get.
func (x *examination) annotations(context.Context) (all []Finding) {
	if x.snap == nil {
		if x.noSite != nil && x.flags.Root != "" {
			return faultf(x.asRoot("annotations", x.noSite), "the tree cannot be read: %v", exit.Root(x.flags.Root, x.noSite))
		}
		return nil
	}
	for _, r := range x.snap.Reports {
		file := filepath.Join(x.flags.Root, r.File)
		switch {
		case r.Code == policy.CodeNotRead:
			all = append(all, faultf(diag.Command("mv", "--", file, path.Join(path.Dir(file), ".robots")), "%s: %s", r.Place(), r.Message)...)
		case r.Severity == diag.Error, r.Code == "R7-MEANT":
			all = append(all, faultf(diag.Command("gophd", "robots", "check", "--", x.flags.Root), "%s: %s", r.Place(), r.Message)...)
		}
	}
	if all == nil {
		return okf("all are read")
	}
	return all
}

// outside reports files of gophd itself that lie in a directory that is served.
func (x *examination) outside(context.Context) []Finding {
	if err := (*exit.CommandError)(nil); errors.As(x.flags.Outside(), &err) {
		return faultf(err.Hint, "%v", err)
	}
	return nil
}

// keys reports files with private keys that clients can fetch.
func (x *examination) keys(ctx context.Context) (all []Finding) {
	if x.tree == nil {
		return nil
	}
	v := x.tree.View(ctx)
	examined := 0
	_ = fs.WalkDir(v, ".", func(name string, e fs.DirEntry, err error) error {
		v.Forget() // memory for one file at a time
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		f, err := v.Lookup(name)
		if err != nil {
			return nil
		}
		defer func() { _ = f.Close() }()
		if examined++; keypair.InText(f) {
			private := filepath.Clean(x.flags.Root) + "-private"
			move := diag.Command("mkdir", "-p", "-m", "700", "--", private) + " && " + diag.Command("mv", "--", v.Path(name), private)
			all = append(all, faultf(move, "everybody can fetch %s, which contains a private key: move it out of the tree, and replace the key", name)...)
		}
		return ctx.Err()
	})
	if all == nil {
		return okf("no private key in %s", diag.Count(examined, "file", "files"))
	}
	return all
}
