package e2e_test

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// The packages that "make packages" wrote; "make test-all" sets it.
const packagesEnv = "TEST_GOPHD_PACKAGES"

// packages returns the directory of the packages, or skips.
func packages(t *testing.T) string {
	dir := os.Getenv(packagesEnv)
	if dir == "" {
		t.Skip("packages are tested by make test-all (" + packagesEnv + " names no directory)")
	}
	return dir
}

// need is harness.Tool for several programs.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		harness.Tool(t, p)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// packageFile returns the one package that matches the pattern.
func packageFile(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(packages(t), pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q %v", pattern, found, err)
	}
	return found[0]
}

func version(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../VERSION")
	must(t, err)
	return strings.TrimSpace(string(text))
}

// TestPackagesAreComplete: every format and architecture, with the right program.
func TestPackagesAreComplete(t *testing.T) {
	v := version(t)
	for _, pattern := range []string{
		"gophd_" + v + "_amd64.deb", "gophd_" + v + "_arm64.deb",
		"gophd-" + v + "-1.x86_64.rpm", "gophd-" + v + "-1.aarch64.rpm",
		"gophd_" + v + "_x86_64.apk", "gophd_" + v + "_aarch64.apk",
		"gophd-" + v + "-1-x86_64.pkg.tar.zst", "gophd-" + v + "-1-aarch64.pkg.tar.zst",
		"gophd_" + v + "_amd64.image.tar", "gophd_" + v + "_arm64.image.tar",
	} {
		packageFile(t, pattern)
	}
	need(t, "dpkg-deb")
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64,
		"arm64": elf.EM_AARCH64} {
		dir := t.TempDir()
		run(t, dir, "dpkg-deb", "-x", packageFile(t, "*_"+arch+".deb"), ".")
		f, err := elf.Open(filepath.Join(dir, "usr/bin/gophd"))
		must(t, err)
		if f.Machine != machine || f.Section(".interp") != nil {
			t.Errorf("%s: the program is for %v, static: %v", arch, f.Machine,
				f.Section(".interp") == nil)
		}
		_ = f.Close()
		for _, name := range []string{
			"usr/share/man/man8/gophd.8.gz", "usr/share/man/man5/robots.5.gz",
			"lib/systemd/system/gophd.service",
			"lib/systemd/system/gophd.socket", "usr/lib/sysusers.d/gophd.conf",
			"etc/logrotate.d/gophd", "etc/default/gophd",
			"usr/share/bash-completion/completions/gophd",
			"usr/share/zsh/vendor-completions/_gophd",
			"usr/share/fish/vendor_completions.d/gophd.fish", "usr/share/doc/gophd/copyright",
			"usr/share/doc/gophd/changelog.gz", "usr/share/doc/gophd/gophd.cdx.json",
			"usr/share/doc/gophd/wire.md",
			"usr/share/gophd/manual/pubnix.txt",
			"usr/share/doc/gophd/examples/fastcgi/gophd-programs.socket",
			"usr/share/doc/gophd/examples/fail2ban/gophd-robots.conf",
			"usr/share/doc/gophd/examples/monitoring/gophd.rules.yml",
		} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %s: %v", arch, name, err)
			}
		}
	}
}

// TestPackagesForOpenRC: Alpine's package has a script and its settings in place of units.
func TestPackagesForOpenRC(t *testing.T) {
	need(t, "tar")
	dir := t.TempDir()
	run(t, dir, "sh", "-c", "tar xzf "+packageFile(t, "*_x86_64.apk")+" 2>/dev/null")
	for name, there := range map[string]bool{
		"etc/init.d/gophd": true, "etc/conf.d/gophd": true,
		"usr/share/gophd/manual/pubnix.txt": true, ".pre-install": true,
		"usr/lib/systemd/system/gophd.service": false, "etc/default/gophd": false,
		"usr/share/gophd/systemd": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPackageOpenRC runs the script of Alpine's package under an OpenRC, as root would.
func TestPackageOpenRC(t *testing.T) {
	apk := packageFile(t, "*_x86_64.apk")
	root := debian(t, "openrc")
	need(t, "unshare", "ip")
	run(t, root, "sh", "-c", "tar xzf "+apk+" 2>/dev/null")
	write(t, filepath.Join(root, "root/try"), `set -e
mount -t proc proc /proc
useradd --system --user-group --no-create-home gophd
mkdir -p /run/openrc; touch /run/openrc/softlevel
gophd init /srv/gopher >/dev/null
echo 'rc_need="!net"' >>/etc/conf.d/gophd
echo GOPHD_LISTEN=127.0.0.1:70 >>/etc/conf.d/gophd
ask() {
	for i in $(seq 600); do
		! gophd get gopher://127.0.0.1/0/robots.txt 2>/dev/null || return 0
		sleep 0.1
	done
	cat /var/log/gophd.log; return 1
}
rc-service gophd start; ask
gophd doctor
rc-service gophd reload; ask
rc-service gophd restart; ask
stat -c %U /proc/[0-9]*/exe | sort -u >/root/accounts # of the processes
rc-service gophd stop
! gophd get -timeout 5s gopher://127.0.0.1/0/robots.txt 2>/dev/null
sed -i 's|^GOPHD_ROOT=.*|GOPHD_ROOT=/nope|' /etc/conf.d/gophd
if gophd doctor; then exit 1; fi
`)
	out, err := exec.Command("unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "sh",
		"-c", "ip link set lo up; exec chroot \"$1\" sh /root/try", "sh", root).CombinedOutput()
	if err != nil || strings.Count(string(out), "Disallow: /phlog/drafts/") != 3 ||
		!strings.Contains(string(out), "  type: gophd init /nope\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPackagesAreReproducible builds the packages of one architecture again.
func TestPackagesAreReproducible(t *testing.T) {
	first := packages(t)
	second := t.TempDir()
	run(t, "../..", "make", "packages", "ARCHS=amd64", "PACKAGES="+second)
	again, err := os.ReadDir(second)
	if err != nil || len(again) != 5 {
		t.Fatalf("%d packages, %v", len(again), err)
	}
	for _, e := range again {
		a, errA := os.ReadFile(filepath.Join(first, e.Name()))
		b, errB := os.ReadFile(filepath.Join(second, e.Name()))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v %v", e.Name(), errA, errB)
		}
	}
}

func TestPackagesLintian(t *testing.T) {
	need(t, "lintian")
	if out := run(t, packages(t), "lintian", "--allow-root",
		packageFile(t, "*_amd64.deb")); strings.TrimSpace(out) != "" {
		t.Errorf("lintian says:\n%s", out)
	}
	overrides, err := os.ReadFile("../../packaging/lintian-overrides")
	if err != nil || bytes.Count(overrides, []byte("\ngophd: ")) != 1 {
		t.Errorf("more than one override: %s %v", overrides, err)
	}
}

// TestPackageImage: the image is what container tools expect, and its one layer
// runs as it is, without anything of this machine.
func TestPackageImage(t *testing.T) {
	need(t, "tar", "chroot")
	dir, root := t.TempDir(), t.TempDir()
	run(t, dir, "tar", "xf", packageFile(t, "*_amd64.image.tar"))
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil || !bytes.Contains(manifest, []byte(`"gophd:`+version(t)+`"`)) {
		t.Fatalf("manifest: %s %v", manifest, err)
	}
	layers, _ := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if len(layers) != 1 {
		t.Fatalf("layers: %q", layers)
	}
	run(t, root, "tar", "xzf", layers[0])
	if os.Getuid() != 0 {
		t.Skip("chroot needs root")
	}
	if out := run(t, dir, "chroot", root, "/usr/bin/gophd",
		"-version"); !strings.Contains(out, version(t)) {
		t.Errorf("-version in the image: %q", out)
	}
}

// debian returns a clean Debian tree of its own for the test, with more packages
// if they are named. The tree that it is copied from is made once and kept in
// harness.Cache.
func debian(t *testing.T, more ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("debootstrap and chroot need root")
	}
	need(t, "debootstrap", "tar", "chroot")
	name, args := "debian-bookworm", []string{"--variant=minbase"}
	if len(more) > 0 {
		name += "-" + strings.Join(more, "-")
		args = append(args, "--include="+strings.Join(more, ","))
	}
	archive := filepath.Join(harness.Cache(), name+".tar")
	if _, err := os.Stat(archive); err != nil {
		t.Log("making a clean Debian tree with debootstrap: about 80 MB to download, once")
		dir := bootstrap(t, args)
		run(t, "", "mkdir", "-p", filepath.Dir(archive))
		run(t, dir, "tar", "cf", archive+".new", ".")
		must(t, os.Rename(archive+".new", archive))
	}
	root := t.TempDir()
	run(t, root, "tar", "xf", archive)
	return root
}

// bootstrap makes a Debian tree, if need be at the third attempt: a mirror may be away
// for a moment.
func bootstrap(t *testing.T, args []string) (dir string) {
	t.Helper()
	for wait := 10 * time.Second; ; wait *= 3 {
		dir = t.TempDir()
		out, err := exec.Command("debootstrap", append(args, "bookworm", dir)...).CombinedOutput()
		if err == nil {
			return dir
		}
		if wait > 30*time.Second {
			t.Fatalf("debootstrap: %v\n%s", err, out)
		}
		time.Sleep(wait)
	}
}

// serveUnit runs the ExecStart of the installed unit as its user, with the socket
// of gophd.socket, in a network of its own, and asks it on port 70.
func serveUnit(t *testing.T, root, selector string) string {
	t.Helper()
	need(t, "systemd-socket-activate", "unshare", "nc", "ip", "ps")
	unit, err := os.ReadFile(filepath.Join(root, "lib/systemd/system/gophd.service"))
	must(t, err)
	var start string
	var setenv []string
	for line := range strings.Lines(string(unit)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "ExecStart":
			start = value
		case "Environment":
			setenv = append(setenv, "-E", value)
		}
	}
	if start == "" {
		t.Fatal("the unit has no ExecStart")
	}
	script := `
ip link set lo up
systemd-socket-activate ` + strings.Join(setenv, " ") + ` -l 127.0.0.1:70 chroot --userspec=gophd:gophd "$1" ` + start + ` 2>"$1/tmp/log" &
server=$!
for i in $(seq 1200); do
	kill -0 $server || break
	printf '%s\r\n' "$2" | nc -w 20 127.0.0.1 70 >"$1/tmp/reply" 2>/dev/null && [ -s "$1/tmp/reply" ] && break
	sleep 0.1
done
ps -o uid= -p $server >"$1/tmp/uid"
kill $server; wait $server
cat "$1/tmp/reply"`
	out, err := exec.Command("unshare", "-n", "sh", "-c", script, "sh", root,
		selector).CombinedOutput()
	log, _ := os.ReadFile(filepath.Join(root, "tmp/log"))
	if err != nil {
		t.Fatalf("serving: %v\n%s\n%s", err, out, log)
	}
	uid, err := os.ReadFile(filepath.Join(root, "tmp/uid"))
	if want := run(t, "", "chroot", root, "id", "-u", "gophd"); err != nil ||
		strings.TrimSpace(string(uid)) != strings.TrimSpace(want) {
		t.Errorf("it runs as uid %q, want %q: %v", uid, want, err)
	}
	return string(out)
}

// TestPackageLife: a package in a clean Debian: installed, served, upgraded,
// removed, purged.
func TestPackageLife(t *testing.T) {
	deb := packageFile(t, "*_amd64.deb")
	root := debian(t)
	install := func(deb string) {
		t.Helper()
		run(t, "", "cp", deb, filepath.Join(root, "tmp/gophd.deb"))
		run(t, "", "chroot", root, "dpkg", "-i", "/tmp/gophd.deb")
	}
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(root, name))
		return err == nil
	}
	install(deb)
	if out := run(t, "", "chroot", root, "gophd", "-version"); out != "gophd "+version(t)+"\n" {
		t.Errorf("-version: %q", out)
	}
	if id := run(t, "", "chroot", root, "id", "gophd"); strings.Contains(id, "uid=0") {
		t.Error(id)
	}
	note := filepath.Join(root, "srv/gopher/.robots")
	must(t, os.Mkdir(filepath.Join(root, "srv/gopher/packaged-drafts"), 0o755))
	must(t, os.WriteFile(note, []byte("User-agent: *\nDisallow: /packaged-drafts/\n"), 0o644))
	if got := serveUnit(t, root, "robots.txt"); !strings.Contains(got,
		"Disallow: /packaged-drafts") {
		t.Errorf("robots.txt: %q", got)
	}

	// An upgrade keeps what the administrator has written.
	settings := filepath.Join(root, "etc/default/gophd")
	must(t, os.WriteFile(settings, []byte("GOPHD_HOST=gopher.example.org\n"), 0o644))
	newer := t.TempDir()
	run(t, newer, "dpkg-deb", "-R", deb, "tree")
	run(t, newer, "sed", "-i", "s/^Version: .*/&+1/", "tree/DEBIAN/control")
	run(t, newer, "dpkg-deb", "-Znone", "-b", "tree", "newer.deb")
	install(filepath.Join(newer, "newer.deb"))
	if text, err := os.ReadFile(settings); err != nil ||
		string(text) != "GOPHD_HOST=gopher.example.org\n" {
		t.Errorf("after the upgrade: %q %v", text, err)
	}
	if got := run(t, "", "chroot", root, "dpkg-query", "-W", "-f", "${Version} ${Status}",
		"gophd"); got != version(t)+"+1 install ok installed" {
		t.Errorf("after the upgrade: %q", got)
	}
	if got := serveUnit(t, root, "0/robots.txt"); !strings.Contains(got,
		"Disallow: /packaged-drafts") {
		t.Errorf("after the upgrade: %q", got)
	}

	run(t, "", "chroot", root, "dpkg", "-r", "gophd")
	if exists("usr/bin/gophd") || !exists("etc/default/gophd") || !exists("srv/gopher/.robots") {
		t.Error("after remove the program must be gone, settings and content not")
	}
	made := []string{"var/lib/gophd/gophd.key", "var/lib/private/gophd/gophd.crt",
		"var/log/gophd/access.log", "etc/credstore/gophd.key",
		"etc/systemd/system/sockets.target.wants/gophd-nex.socket"}
	for _, name := range made {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		write(t, filepath.Join(root, name), "secret")
	}
	own := "etc/systemd/system/sockets.target.wants/gophd-own.socket"
	write(t, filepath.Join(root, own), "")
	run(t, "", "chroot", root, "dpkg", "-P", "gophd")
	if exists("etc/default/gophd") || exists("etc/logrotate.d/gophd") ||
		!exists("srv/gopher/.robots") || !exists(own) {
		t.Error("after purge the settings must be gone, content and sockets of the administrator not")
	}
	for _, name := range append(made, "var/lib/gophd", "var/log/gophd", "var/lib/gophd.example") {
		if exists(name) {
			t.Errorf("after purge there still is %s", name)
		}
	}
	accounts, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	if err != nil || bytes.Contains(accounts, []byte("gophd")) {
		t.Errorf("after purge the account is still there: %v", err)
	}

	// An example that nobody has changed goes, too.
	must(t, os.RemoveAll(filepath.Join(root, "srv/gopher")))
	install(deb)
	if !exists("srv/gopher/about.txt") {
		t.Error("no example is served")
	}
	run(t, "", "chroot", root, "dpkg", "-P", "gophd")
	if exists("srv/gopher") {
		t.Error("after purge the unchanged example is still there")
	}
}

// TestInstallNeedsNoGo: make install copies what is there, and says what to do if
// it is not.
func TestInstallNeedsNoGo(t *testing.T) {
	need(t, "make", "install")
	src, dest := t.TempDir(), t.TempDir()
	run(t, "../..", "cp", "-r", "Makefile", "VERSION", "packaging", "examples", "content", src)
	noGo := func(args ...string) ([]byte, error) {
		cmd := exec.Command("make",
			append([]string{"install", "PREFIX=/opt/g", "DESTDIR=" + dest}, args...)...)
		cmd.Dir, cmd.Env = src, []string{"PATH=/usr/bin:/bin"}
		return cmd.CombinedOutput()
	}
	if out, err := noGo(); err == nil ||
		!bytes.Contains(out, []byte("hint: run 'make build man' first")) {
		t.Errorf("with nothing built: %v\n%s", err, out)
	}
	must(t, os.Mkdir(filepath.Join(src, "bin"), 0o755))
	for _, name := range []string{"gophd", "gophd.8", "robots.5"} {
		must(t, os.WriteFile(filepath.Join(src, "bin", name), []byte("built "+name), 0o755))
	}
	if out, err := noGo(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for file, text := range map[string]string{"bin/gophd": "built gophd",
		"share/man/man8/gophd.8": "built gophd.8", "share/man/man5/robots.5": "built robots.5"} {
		if got, err := os.ReadFile(filepath.Join(dest, "opt/g", file)); err != nil ||
			string(got) != text {
			t.Errorf("%s: %q %v", file, got, err)
		}
	}
}

// TestCompletions: what each shell offers comes from the program.
func TestCompletions(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Symlink(harness.Program(t), filepath.Join(dir, "gophd")))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for shell, script := range map[string]string{
		"bash": `source ../../packaging/completions/gophd.bash
			COMP_WORDS=(gophd robots sh) COMP_CWORD=2; _gophd; echo "${COMPREPLY[@]}"
			COMP_WORDS=(gophd -list) COMP_CWORD=1; _gophd; echo "${COMPREPLY[@]}"`,
		"fish": `source ../../packaging/completions/gophd.fish; complete -C "gophd robots sh"; complete -C "gophd -list"`,
		"zsh": `autoload -U compinit; source ../../packaging/completions/_gophd 2>/dev/null
			_describe() { print -l -- ${(P)2}; }; _files() { :; }
			words=(gophd robots sh) CURRENT=3; _gophd; words=(gophd -list) CURRENT=2; _gophd`,
	} {
		t.Run(shell, func(t *testing.T) {
			need(t, shell)
			out := run(t, "", shell, "-c", script)
			for _, want := range []string{"show\n", "-listen"} {
				if !strings.Contains(out, want) {
					t.Errorf("it does not offer %s:\n%s", want, out)
				}
			}
		})
	}
}
