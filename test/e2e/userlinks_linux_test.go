package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// pubnix makes homes with files that belong to a user of whom gophd is not root, and returns
// the flags that serve them.
func pubnix(t *testing.T, files map[string]string) (dir string, flags []string) {
	t.Helper()
	dir = tree(t, files)
	must(t, letIn(dir))
	flags = []string{"-root", tree(t, map[string]string{"a.txt": "A\n"}), "-users", dir + "/home/*/public_gopher"}
	must(t, letIn(flags[1]))
	if os.Geteuid() != 0 {
		return dir, append(flags, "-users-min-uid", fmt.Sprint(os.Getuid()))
	}
	must(t, exec.Command("chown", "-hR", "12345:12345", dir).Run())
	return dir, append(flags, "-user", "nobody")
}

// TestUsersBehindLinks: homes and directories that are links are served inside the sandbox,
// a link that comes later is reported as such, and seven links to one tree stop nothing.
func TestUsersBehindLinks(t *testing.T) {
	files := map[string]string{"disk/cat/public_gopher/a.txt": "cat's\n", "home/cat": "-> ../disk/cat", "u/ann/b.txt": "ann's\n",
		"home/ann/public_gopher": "-> ../../u/ann", "home/bob/public_gopher/c.txt": "bob's\n", "late/public_gopher/d.txt": "late\n"}
	for i := range 7 {
		files[fmt.Sprintf("home/bob%d", i)] = "-> bob"
	}
	dir, flags := pubnix(t, files)
	d := serve(t, flags[1], flags[2:]...)
	for selector, want := range map[string]string{"/~cat/a.txt": "cat's\n", "/~ann/b.txt": "ann's\n", "/~bob/c.txt": "bob's\n", "/~bob3/c.txt": "bob's\n"} {
		if got := d.ask(selector); got != want {
			t.Errorf("%s: %q", selector, got)
		}
	}
	write(t, filepath.Join(dir, "home/bob/public_gopher/.robots"), "Disallow: /c.txt\n")
	if os.Geteuid() == 0 {
		must(t, os.Lchown(filepath.Join(dir, "home/bob/public_gopher/.robots"), 12345, 12345))
	}
	d.Until("bob's annotation holds", func() bool { return strings.Contains(d.ask("robots.txt"), "/~bob/c.txt") })

	must(t, os.Symlink("../late", filepath.Join(dir, "home/late")))
	d.Until("the late link is reported", func() bool { return strings.Contains(d.Log(), "the link came after the start") })
	if line := d.WaitLog("came after the start"); !strings.Contains(line, dir+"/late") || !strings.Contains(line, "restart gophd") {
		t.Error(line)
	}
}

// TestClosedHomes: eighty homes that gophd cannot enter are one line.
func TestClosedHomes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make files of others")
	}
	files := map[string]string{"home/ann/public_gopher/a.txt": "ann's\n"}
	for i := range 80 {
		files[fmt.Sprintf("home/u%d/public_gopher/a.txt", i)] = ""
	}
	dir, flags := pubnix(t, files)
	for i := range 80 {
		must(t, os.Chmod(fmt.Sprintf("%s/home/u%d", dir, i), 0o700))
	}
	d := serve(t, flags[1], flags[2:]...)
	if got := d.ask("/~ann/a.txt"); got != "ann's\n" {
		t.Error(got)
	}
	d.WaitLog("79 more users are not served")
	if n := strings.Count(d.Log(), "home is 0700"); n != 1 {
		t.Errorf("%d lines:\n%s", n, d.Tail())
	}
}

// TestUsersInUnit: -users is refused in the user namespace of a unit, where all owners look
// alike, and warns where ProtectHome=yes hides the homes.
func TestUsersInUnit(t *testing.T) {
	dir, flags := pubnix(t, map[string]string{"home/ann/public_gopher/a.txt": "ann's\n", "none/": "", "closed/": ""})
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	t.Setenv("INVOCATION_ID", "1")
	const hint = "cp /usr/share/gophd/systemd/gophd-users.conf /etc/systemd/system/gophd.service.d/"
	for _, mapped := range []string{"--map-current-user", "--map-root-user"} {
		if out, err := exec.Command("unshare", "--user", mapped, "true").CombinedOutput(); err != nil {
			t.Skipf("no user namespaces here: %v %s", err, out)
		}
		args := append([]string{"--user", mapped, harness.Program(t), "check-config", "-listen", "127.0.0.1:0"}, flags...)
		cmd := exec.CommandContext(t.Context(), "unshare", args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "uid map") || !strings.Contains(string(out), hint) {
			t.Errorf("%s: status %d:\n%s", mapped, cmd.ProcessState.ExitCode(), out)
		}
	}
	for homes, want := range map[string]string{dir + "/none": "name the directory", dir + "/closed": "chmod o+rx " + dir + "/closed", dir + "/typo": "name the directory"} {
		flags[3] = homes + "/*/public_gopher"
		if line := serve(t, flags[1], flags[2:]...).WaitLog("-users matches no user"); !strings.Contains(line, want) {
			t.Errorf("%s: %s", homes, line)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("only root can hide /home")
	}
	flags[3] = "/home/*/public_gopher"
	for home, want := range map[string]string{"mount -t tmpfs -o mode=0 none /home": hint, "mount -t tmpfs none /home": hint, "mount -t tmpfs none /home && mkdir /home/x": "name the directory"} {
		if strings.Contains(home, "mkdir") {
			flags[3] = "/home/x/typo/*/public_gopher"
		}
		run := exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "sh", "-c", home + ` && exec "$@"`, "sh", harness.Program(t), "check-config", "-listen", "127.0.0.1:0"}, flags...)...)
		out, err := run.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", home, err, out)
		}
		flags[3] = "/home/*/public_gopher"
	}
}
