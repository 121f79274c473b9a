package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/test/e2e/harness"
)

// systemd is a Debian that was started with a systemd of its own.
type systemd struct {
	t    *testing.T
	root string
	pid  string // of process 1
}

// boot starts systemd in a Debian tree until the test ends. Where the machine
// does not let it, the test is skipped.
func boot(t *testing.T, root string) *systemd {
	t.Helper()
	need(t, "unshare", "nsenter", "pivot_root")
	s := &systemd{t: t, root: root}
	group := filepath.Join(cgroup2(t), fmt.Sprintf("gophd-test-%d", os.Getpid()))
	var said bytes.Buffer
	cmd := exec.Command("testdata/systemd/boot", root, group)
	cmd.Stderr = &said
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // and with it process 1, and with that all others
		<-ended
		removeGroups(t, group)
	})
	for end := time.Now().Add(4 * harness.Timeout); ; time.Sleep(100 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			t.Skipf("no systemd of its own here: %v\n%s", err, said.String())
		default:
		}
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		if s.pid = strings.TrimSpace(string(children)); s.pid != "" {
			// degraded: a unit that has nothing to do with gophd has failed
			if out, _ := s.try("systemctl", "is-system-running", "--wait"); out == "running\n" ||
				out == "degraded\n" {
				return s
			}
		}
		if time.Now().After(end) {
			t.Fatalf("systemd does not come up:\n%s", said.String())
		}
	}
}

// packaged boots a Debian with gophernicus at port 70, and the package in /root/gophd.deb.
func packaged(t *testing.T) *systemd {
	t.Helper()
	deb := packageFile(t, "*_amd64.deb")
	s := boot(t, debian(t, "systemd-sysv", "gophernicus", "logrotate"))
	run(t, "", "cp", deb, filepath.Join(s.root, "root/gophd.deb"))
	return s
}

// cgroup2 returns where the control groups of version 2 are mounted.
func cgroup2(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			return f[1]
		}
	}
	t.Skip("no cgroup2 here")
	return ""
}

// removeGroups removes a control group and those below it, once they are empty.
func removeGroups(t *testing.T, group string) {
	t.Helper()
	gone := func() bool {
		var all []string
		_ = filepath.WalkDir(group, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				all = append(all, name)
			}
			return nil
		})
		slices.Reverse(all)
		for _, name := range all {
			_ = os.Remove(name)
		}
		_, err := os.Stat(group)
		return errors.Is(err, fs.ErrNotExist)
	}
	if !eventually(gone) {
		t.Errorf("%s stays", group)
	}
}

// try runs a command inside.
func (s *systemd) try(args ...string) (string, error) {
	cmd := exec.Command("nsenter",
		append([]string{"-t", s.pid, "--mount", "--uts", "--ipc", "--net", "--pid",
			"--cgroup"}, args...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
		"DEBIAN_FRONTEND=noninteractive"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// do is try for what has to work.
func (s *systemd) do(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		journal, _ := s.try("journalctl", "--no-pager", "-n", "15")
		s.t.Fatalf("%s: %v\n%s\njournal:\n%s", strings.Join(args, " "), err, out, journal)
	}
	return out
}

// property returns what systemd says of gophd.service.
func (s *systemd) property(name string) string {
	s.t.Helper()
	return strings.TrimSpace(s.do("systemctl", "show", "--value", "-p", name, "gophd.service"))
}

// journal waits until the journal has an entry with a text, in the form of
// journalctl -o export, and returns all entries.
func (s *systemd) journal(text string) string {
	s.t.Helper()
	var all string
	if !eventually(func() bool {
		all = s.do("journalctl", "-t", "gophd", "-o", "export", "--no-pager")
		return strings.Contains(all, text)
	}) {
		s.t.Fatalf("the journal has no %q:\n%s", text, all)
	}
	return all
}

// TestPackageInSystemd installs the package where systemd runs, and lets it do all
// that the units ask for.
func TestPackageInSystemd(t *testing.T) {
	s := packaged(t)
	// Nobody is late on a busy machine, nor are these too many starts in ten seconds.
	run(t, filepath.Join(s.root, "etc/systemd/system"), "sh", "-ec", `mkdir gophd.service.d
		printf '[Unit]\nStartLimitIntervalSec=0\n[Service]\nTimeoutStartSec=600\nTimeoutStopSec=600\nEnvironment=GOPHD_REQUEST_TIMEOUT=10m GOPHD_DRAIN=5m\n' >gophd.service.d/patient.conf`)
	s.beside(s.do("dpkg", "-i", "/root/gophd.deb"))
	want := "Disallow: /phlog/drafts/" // of gophd init
	ask := func(url string) {
		t.Helper()
		if got := s.do("gophd", "get", "-insecure", "-timeout", "10m",
			url); !strings.Contains(got, want) {
			t.Errorf("%s: %q", url, got)
		}
	}

	// The socket starts it, as its user, without a right, in its sandbox.
	if got := s.property("ActiveState"); got != "inactive" {
		t.Errorf("before the first request it is %s", got)
	}
	ask("gopher://127.0.0.1/0/robots.txt")
	status := s.do("cat", "/proc/"+s.property("MainPID")+"/status")
	uid := strings.TrimSpace(s.do("id", "-u", "gophd"))
	for _, line := range []string{"Uid:\t" + uid + "\t", "CapEff:\t0000000000000000\n",
		"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		if !strings.Contains(status, line) {
			t.Errorf("no %q in\n%s", line, status)
		}
	}
	entries := s.journal("MESSAGE=scanned 3 directories ")
	for _, field := range []string{"PRIORITY=6\n", "MESSAGE=serving /srv/gopher at gopher://"} {
		if !strings.Contains(entries, field) {
			t.Errorf("no %q in the journal:\n%s", field, entries)
		}
	}

	// A certificate that only root can read, an access log.
	_, err := keypair.SelfSigned(filepath.Join(s.root, "etc/credstore"), "127.0.0.1")
	must(t, err)
	s.do("sh", "-ec", `cd /etc/credstore
		mv 127.0.0.1.crt gophd.crt
		mv 127.0.0.1.key gophd.key
		chmod 600 *
		echo GOPHD_TLS_CERT=/run/credentials/gophd.service/gophd.crt >>/etc/default/gophd
		echo GOPHD_TLS_KEY=/run/credentials/gophd.service/gophd.key >>/etc/default/gophd
		echo GOPHD_ACCESS_LOG=/var/log/gophd/access.log >>/etc/default/gophd`)
	s.do("systemctl", "restart", "gophd.service")
	ask("gophers://127.0.0.1/0/robots.txt")
	logged := func() bool {
		out, _ := s.try("cat", "/var/log/gophd/access.log")
		return strings.Contains(out, `robots.txt" 200 `)
	}
	if !eventually(logged) {
		t.Error("the access log has no request")
	}

	s.doctor()
	s.rotates()
	s.fronts(ask)

	// Reload, restart under load, upgrade: nobody is turned away.
	s.do("systemctl", "reload", "gophd.service")
	s.journal("MESSAGE=reload")
	asked := make(chan error, 1)
	go func() {
		for range 20 {
			began := time.Now()
			out, err := s.try("gophd", "get", "-timeout", "10m", "gopher://127.0.0.1/0/robots.txt")
			if err != nil && time.Since(began) < time.Second { // a gophd that ends waits no longer for a request
				asked <- fmt.Errorf("%w: %s", err, out)
				return
			}
		}
		asked <- nil
	}()
	s.do("systemctl", "restart", "gophd.service")
	before := s.property("MainPID")
	s.do("dpkg", "-i", "/root/gophd.deb")
	if err := <-asked; err != nil {
		t.Errorf("during a restart: %v", err)
	}
	if after := s.property("MainPID"); after == before || after == "0" {
		t.Errorf("after an upgrade process %s still runs, not a new one: %s", before, after)
	}

	// One that hangs is replaced: by the watchdog, or by the socket when somebody asks
	// meanwhile. Whom it has accepted while it died gets nothing.
	s.do("sh", "-ec", `
		printf '[Service]\nWatchdogSec=3\nTimeoutAbortSec=1\n' >/etc/systemd/system/gophd.service.d/short.conf
		systemctl daemon-reload; systemctl restart gophd`)
	hangs := s.property("MainPID")
	s.do("systemctl", "kill", "-s", "STOP", "gophd")
	replaced := func() bool {
		reply, err := s.try("gophd", "get", "gopher://127.0.0.1/0/robots.txt")
		return err == nil && strings.Contains(reply, want) && s.property("MainPID") != hangs
	}
	if !eventually(replaced) {
		out, _ := s.try("journalctl", "--no-pager", "-n", "60")
		t.Errorf("the watchdog has not replaced process %s:\n%s", hangs, out)
	}

	s.rootBelowHome()
	s.homes()
	s.wrongSettings()
	s.heals()
	s.do("dpkg", "-r", "gophd")
	if out, err := s.try("systemctl", "is-active", "gophd.socket", "gophd.service"); err == nil {
		t.Errorf("removed, and still %s", out)
	}

	// A second installation works like the first: no unit stays masked.
	said := s.do("dpkg", "-i", "/root/gophd.deb")
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := lines[len(lines)-1]
	if !regexp.MustCompile(`^gopher://\S+/ serves /srv/gopher; settings: /etc/default/gophd; check: gophd doctor$`).MatchString(last) || strings.Contains(said, "Syntax:") {
		t.Errorf("the second installation says:\n%s", said)
	}
	ask("gopher://127.0.0.1/0/robots.txt")
	ask("gemini://127.0.0.1/robots.txt")
	s.socketsInAnyOrder(ask)
	s.do("dpkg", "-P", "gophd")
}

// socketsInAnyOrder starts the sockets in another order.
func (s *systemd) socketsInAnyOrder(ask func(url string)) {
	s.t.Helper()
	s.do("sh", "-ec", "systemctl stop gophd-nex.socket gophd-gemini.socket gophd.socket gophd.service; systemctl start gophd-nex.socket; systemctl start gophd.socket")
	ask("nex://127.0.0.1/robots.txt")
	s.do("sh", "-ec", "systemctl stop gophd.service; systemctl start gophd-gemini.socket")
	ask("gemini://127.0.0.1/robots.txt")
	ask("gopher://127.0.0.1/0/robots.txt")
}

// older returns the package of an earlier version, made from the history of the repository once
// and kept in harness.Cache.
func older(t *testing.T, version string) string {
	t.Helper()
	need(t, "git", "make", "tar")
	kept := filepath.Join(harness.Cache(), "gophd_"+version+"_amd64.deb")
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	commit := ""
	changes := strings.Fields(run(t, "../..", "git", "rev-list", "HEAD", "--", "VERSION")) // the newest first
	for i := range len(changes) - 1 {
		if strings.TrimSpace(run(t, "../..", "git", "show", changes[i+1]+":VERSION")) == version {
			commit = changes[i] + "^"
		}
	}
	if commit == "" {
		t.Skipf("the history here has no version %s: git fetch --unshallow gets it", version)
	}
	dir, out := t.TempDir(), t.TempDir()
	run(t, "../..", "sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", commit, dir)
	run(t, dir, "make", "packages", "ARCHS=amd64", "PACKAGES="+out)
	must(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	run(t, out, "cp", "gophd_"+version+"_amd64.deb", kept+".new")
	must(t, os.Rename(kept+".new", kept))
	return kept
}

// TestPackageUpgrade goes from each earlier version to this one, back, and up again, beside
// gophernicus at port 70: with settings that the administrator has changed, and under load.
func TestPackageUpgrade(t *testing.T) {
	packageFile(t, "*_amd64.deb") // or skips
	for _, version := range []string{"0.2.0", "0.3.0"} {
		t.Run(version, func(t *testing.T) {
			old := older(t, version)
			s := packaged(t)
			run(t, "", "cp", old, filepath.Join(s.root, "root/old.deb"))
			ask := func(port, sel string) string {
				out, _ := s.try("timeout", "600", "bash", "-c",
					`exec 3<>/dev/tcp/127.0.0.1/"$0"; printf '%s\r\n' "$1" >&3; cat <&3`, port, sel)
				return out
			}

			// Install the old one, and change its settings and its port.
			s.do("dpkg", "-i", "/root/old.deb")
			s.do("sh", "-ec", `mkdir -p /srv/hole/drafts /etc/systemd/system/gophd.socket.d
				echo 'mine of old' >/srv/hole/a.txt
				printf 'User-agent: *\nDisallow: /drafts/\n' >/srv/hole/.robots
				sed -i 's|^GOPHD_ROOT=.*|GOPHD_ROOT=/srv/hole|' /etc/default/gophd
				grep -q '^GOPHD_ROOT=/srv/hole' /etc/default/gophd || echo GOPHD_ROOT=/srv/hole >>/etc/default/gophd
				echo GOPHD_HOST=gopher.example.org >>/etc/default/gophd
				echo 127.0.0.1 gopher.example.org >>/etc/hosts
				printf '[Socket]\nListenStream=\nListenStream=7070\n' >/etc/systemd/system/gophd.socket.d/port.conf
				systemctl daemon-reload; systemctl enable --now gophd.socket`)
			serves := func(when string) {
				t.Helper()
				for sel, want := range map[string]string{"a.txt": "mine of old",
					"robots.txt": "Disallow: /drafts/", "": "\tgopher.example.org\t"} {
					if got := ask("7070", sel); !strings.Contains(got, want) {
						t.Errorf("%s: %q gets %q", when, sel, got)
					}
				}
				if got := ask("70", "gophd-none"); got == "" ||
					strings.Contains(got, "gopher.example.org") {
					t.Errorf("%s: gophernicus answers %q", when, got)
				}
				s.do("grep", "-q", "^GOPHD_ROOT=/srv/hole", "/etc/default/gophd")
			}
			serves("installed")

			// Up, down, up: nobody is turned away meanwhile.
			for _, file := range []string{"gophd.deb", "old.deb", "gophd.deb"} {
				asked := make(chan string)
				go func() {
					refused := ""
					for range 20 {
						if got := ask("7070", "a.txt"); got != "mine of old\n" {
							refused = got
						}
					}
					asked <- refused
				}()
				said := s.do("dpkg", "--force-confdef", "--force-confold", "-i", "/root/"+file)
				if strings.Contains(said, "Syntax:") || strings.Contains(said, "rror") {
					t.Errorf("%s: %s", file, said)
				}
				if refused := <-asked; refused != "" {
					t.Errorf("during %s: %q", file, refused)
				}
				serves(file)
			}
			if out := s.do("gophd", "doctor"); strings.Contains(out, "fault:") {
				t.Errorf("doctor:\n%s", out)
			}

			s.do("dpkg", "-P", "gophd")
			if out, err := s.try("ls", "/etc/default/gophd", "/usr/bin/gophd"); err == nil {
				t.Errorf("purged, and still there is %s", out)
			}
			s.do("test", "-e", "/srv/hole/a.txt")
		})
	}
}

// fronts types the recipe of each socket unit while gophd runs.
func (s *systemd) fronts(ask func(url string)) {
	s.t.Helper()
	recipe := regexp.MustCompile(`(?m)^#   (systemctl .*)$`)
	for _, name := range []string{"gemini", "spartan", "nex", "finger"} {
		text, err := os.ReadFile("../../examples/systemd/gophd-" + name + ".socket")
		must(s.t, err)
		commands := recipe.FindAllStringSubmatch(string(text), -1)
		if len(commands) == 0 {
			s.t.Fatalf("gophd-%s.socket has no recipe", name)
		}
		ask("gopher://127.0.0.1/0/robots.txt")
		if got := s.property("ActiveState"); got != "active" {
			s.t.Fatalf("gophd is %s", got)
		}
		for _, command := range commands {
			s.do("sh", "-ec", command[1])
		}
		if name == "finger" { // which lists users, and the menu
			s.do("gophd", "get", "-timeout", "10m", "finger://127.0.0.1/")
		} else {
			ask(name + "://127.0.0.1/robots.txt")
		}
		ask("gopher://127.0.0.1/0/robots.txt")
	}
}

// TestPackageCommands types every line with systemctl that a file of this repository shows,
// each file's in order, while gophd runs.
func TestPackageCommands(t *testing.T) {
	s := packaged(t)
	run(t, "", "sh", "-c", "cp ../../examples/fastcgi/gophd-programs* "+
		filepath.Join(s.root, "etc/systemd/system"))
	for _, other := range []string{"fail2ban.service", "fcgiwrap.service"} {
		write(t, filepath.Join(s.root, "etc/systemd/system", other),
			"[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/true\n[Install]\nWantedBy=multi-user.target\n")
	}
	write(t, filepath.Join(s.root, "etc/systemd/system/fcgiwrap.socket"),
		"[Socket]\nListenStream=/run/fcgiwrap.socket\n[Install]\nWantedBy=sockets.target\n")
	s.do("sh", "-ec", "useradd ann; systemctl daemon-reload; systemctl start fail2ban")
	if said := s.do("dpkg", "-i", "/root/gophd.deb"); strings.Contains(said, "Syntax:") {
		t.Errorf("the installation says:\n%s", said)
	}

	s.do("sh", "-ec", "echo GOPHD_TLS_SELF_SIGNED=/var/lib/gophd >>/etc/default/gophd")

	files := strings.Fields(run(t, "../..", "git", "grep", "-lI", "systemctl", "--", ":!*.go",
		":!packaging/scripts"))
	shown := regexp.MustCompile("(?m)(?:^(?:#|\\s)*(?:\\$ )?(?:sudo )?(?:[^\"`\n]* && )?|[`:] ?)(systemctl [^\"`\n]*)")
	typed := 0
	for _, file := range files {
		text, err := os.ReadFile("../../" + file)
		must(t, err)
		commands := shown.FindAllStringSubmatch(string(text), -1)
		if len(commands) == 0 {
			continue
		}
		s.do("sh", "-ec", `systemctl disable --now gophernicus.socket; systemctl reset-failed
			systemctl enable --now gophd.socket; systemctl restart gophd.service`)
		for _, command := range commands {
			typed++
			if out, err := s.try("sh", "-ec", command[1]); err != nil {
				t.Errorf("%s: %s: %v\n%s", file, command[1], err, out)
			}
		}
	}
	if typed < 30 {
		t.Errorf("only %d commands were found", typed)
	}
}

// beside types what the installation says where another server holds port 70.
func (s *systemd) beside(said string) {
	s.t.Helper()
	commands := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (type|back|both): (.*)$`).FindAllStringSubmatch(said, -1) {
		commands[m[1]] = m[2]
	}
	if len(commands) != 3 ||
		!strings.Contains(said, "port 70 is held by systemd, for gophernicus.socket") {
		s.t.Fatalf("beside gophernicus the installation says:\n%s", said)
	}
	answers := func(port string) string {
		out, _ := s.try("gophd", "get", "-timeout", "10m",
			"gopher://127.0.0.1:"+port+"/0/robots.txt")
		return out
	}
	const ours = "# robots.txt made by gophd"
	if out := s.do("ls", "-A", "/srv/gopher"); out != "" || strings.Contains(said, "Syntax:") {
		s.t.Errorf("beside gophernicus the installation says:\n%s\nand /srv/gopher has %q", said, out)
	}
	s.do("gophd", "init", "/srv/gopher")
	if got := answers("70"); strings.Contains(got, ours) {
		s.t.Errorf("it has taken the port: %q", got)
	}
	for _, step := range []struct{ command, port string }{{"both", "7070"}, {"", ""},
		{"type", "70"}, {"back", ""}, {"type", "70"}} {
		if step.command == "" {
			s.do("sh", "-ec", "systemctl disable --now gophd.socket gophd.service; rm -r /etc/systemd/system/gophd.socket.d; systemctl daemon-reload")
			continue
		}
		s.do("sh", "-ec", commands[step.command])
		if step.port == "" {
			if got := answers("70"); strings.Contains(got, ours) {
				s.t.Errorf("after %s gophd still answers: %q", commands[step.command], got)
			}
		} else if got := answers(step.port); !strings.Contains(got, ours) {
			s.t.Errorf("after %s gophd does not answer at port %s: %q", commands[step.command],
				step.port, got)
		}
	}
	s.do("systemctl", "stop", "gophd.service")
}

// doctor finds nothing wrong with the package as it is; TestPackageDoctor has its faults.
func (s *systemd) doctor() {
	s.t.Helper()
	out := s.do("gophd", "doctor")
	for _, want := range []string{"ok: unit: ", "ok: port: port 70 is held by gophd\n",
		"ok: certificate: /etc/credstore/gophd.crt", "ok: robots.txt: matches the annotations"} {
		if !strings.Contains(out, want) {
			s.t.Errorf("no %q:\n%s", want, out)
		}
	}
}

// rotates lets logrotate work in the directory of the logs: as the account of the service.
func (s *systemd) rotates() {
	s.t.Helper()
	s.do("logrotate", "--force", "/etc/logrotate.d/gophd")
	written := func() bool {
		_, _ = s.try("gophd", "get", "gopher://127.0.0.1/0/robots.txt")
		out, _ := s.try("stat", "-c", "%U %s", "/var/log/gophd/access.log.1",
			"/var/log/gophd/access.log")
		return regexp.MustCompile(`^gophd [1-9]\d*\ngophd [1-9]\d*\n$`).MatchString(out)
	}
	if !eventually(written) {
		out, _ := s.try("ls", "-lA", "/var/log/gophd")
		s.t.Errorf("after logrotate:\n%s", out)
	}
}

// homes serves a user's directory, which the unit hides until its drop-in is active.
func (s *systemd) homes() {
	s.t.Helper()
	s.do("sh", "-ec", `useradd -m ann; chmod 711 /home/ann; mkdir /home/ann/public_gopher
		echo hers >/home/ann/public_gopher/a.txt; chown -R ann: /home/ann
		echo 'GOPHD_USERS=/home/*/public_gopher' >>/etc/default/gophd`)
	if out, err := s.try("systemctl", "restart", "gophd.service"); err == nil {
		s.t.Errorf("with PrivateUsers=yes gophd starts: %s", out)
	}
	hint := regexp.MustCompile(`mkdir -p \S+ && cp \S+gophd-users\.conf \S+`).FindString(s.journal("gophd-users.conf"))
	s.do("sh", "-ec", hint+" && systemctl daemon-reload && systemctl reset-failed && systemctl restart gophd.socket gophd.service")
	if got := s.do("gophd", "get", "gopher://127.0.0.1/0/~ann/a.txt"); got != "hers\n" {
		s.t.Errorf("~ann: %q", got)
	}
}

// rootBelowHome serves a directory that the unit hides until its drop-in is active.
func (s *systemd) rootBelowHome() {
	s.t.Helper()
	s.do("sh", "-ec", `mkdir -p /home/hole; echo there >/home/hole/a.txt; cp /etc/default/gophd /root/before
		echo GOPHD_ROOT=/home/hole >>/etc/default/gophd`)
	if out, err := s.try("systemctl", "restart", "gophd.service"); err == nil {
		s.t.Errorf("with ProtectHome=yes gophd starts: %s", out)
	}
	if got := s.property("ExecMainStatus"); got != "2" {
		s.t.Errorf("a root below /home: status %s", got)
	}
	hint := regexp.MustCompile(`mkdir -p \S+ && cp \S+gophd-root\.conf \S+`).FindString(s.journal("gophd-root.conf"))
	s.do("sh", "-ec", hint+" && systemctl daemon-reload && systemctl reset-failed && systemctl restart gophd.socket gophd.service")
	if got := s.do("gophd", "get", "gopher://127.0.0.1/0/a.txt"); got != "there\n" {
		s.t.Errorf("a.txt: %q", got)
	}
	s.do("sh", "-ec", "cp /root/before /etc/default/gophd; rm /etc/systemd/system/gophd.service.d/gophd-root.conf; systemctl daemon-reload; systemctl restart gophd")
}

// heals ends with status 3 where the access log cannot be written, is started again, and
// serves the client that waits once it can be.
func (s *systemd) heals() {
	s.t.Helper()
	s.do("sh", "-ec", `printf '[Unit]\nStartLimitIntervalSec=0\n' >/etc/systemd/system/gophd.service.d/patient.conf
		systemctl daemon-reload; systemctl stop gophd.service; chown root /var/log/gophd/access.log; systemctl restart gophd.socket`)
	answer := make(chan string, 1)
	go func() {
		out, _ := s.try("gophd", "get", "-timeout", "10m", "gopher://127.0.0.1/0/robots.txt")
		answer <- out
	}()
	again := func() bool {
		out, _ := s.try("systemctl", "show", "--value", "-p", "NRestarts", "gophd.service")
		return strings.TrimSpace(out) != "0" && strings.TrimSpace(out) != ""
	}
	if !eventually(again) {
		s.t.Error("after status 3 systemd does not start gophd again")
	}
	if got := s.property("ExecMainStatus"); got != "3" && got != "0" {
		s.t.Errorf("a log without permission: status %s", got)
	}
	s.do("chown", "gophd", "/var/log/gophd/access.log")
	if got := <-answer; !strings.Contains(got, "# robots.txt made by gophd") {
		s.t.Errorf("the client that has waited reads %q", got)
	}
}

// wrongSettings counts the starts with a setting that is wrong while a client waits, with the
// limits of the unit as it is shipped: the client is refused, and the journal names what to do.
func (s *systemd) wrongSettings() {
	s.t.Helper()
	s.do("sh", "-ec", "cp /etc/default/gophd /root/settings; rm -f /etc/systemd/system/gophd.service.d/patient.conf /etc/systemd/system/gophd.service.d/short.conf; systemctl daemon-reload; mkdir -m 700 /srv/closed")
	for setting, said := range map[string]string{
		"GOPHD_SEARCH=maybe":            "want yes or no",
		"GOPHD_HOTS=x":                  "did you mean GOPHD_HOST?",
		"GOPHD_METRICS=localhost:9170":  "gophd-metrics.conf",
		"GOPHD_LISTEN=:7071":            "gophd-listen.conf",
		"GOPHD_ROOT=/srv/nope":          "mkdir -p /srv/nope",
		"GOPHD_ROOT=/srv/closed":        "chmod -R a+rX /srv/closed",
		"GOPHD_ACCESS_LOG=/var/log/x/y": "GOPHD_ACCESS_LOG=/var/log/gophd/access.log",
	} {
		var log string
		once := func() bool { // the socket may be refused a start right after another one
			s.do("sh", "-ec", "cp /root/settings /etc/default/gophd; echo "+setting+
				" >>/etc/default/gophd; systemctl stop gophd.service; systemctl reset-failed; systemctl restart gophd.socket")
			since := strings.TrimSpace(s.do("date", "+%s.%N"))
			if out, err := s.try("gophd", "get", "-timeout", "2m",
				"gopher://127.0.0.1/0/robots.txt"); err == nil {
				s.t.Errorf("%s: a client gets %q", setting, out)
			}
			if !eventually(func() bool {
				state, _ := s.try("systemctl", "is-active", "gophd.socket")
				return strings.TrimSpace(state) == "failed"
			}) {
				s.t.Errorf("%s: the socket lets clients wait", setting)
			}
			log = s.do("journalctl", "-t", "gophd", "-p", "warning", "-o", "cat", "--no-pager",
				"--since", "@"+since)
			return strings.Contains(log, said)
		}
		there := eventually(once)
		if n := strings.Count(log, "gophd: hint: "); !there || n > 5 {
			s.t.Errorf("%s: %d starts, want at most 5 and %q:\n%s", setting, n, said, log)
		}
	}
	s.do("sh", "-ec", "cp /root/settings /etc/default/gophd; systemctl reset-failed; systemctl restart gophd.socket")
}
