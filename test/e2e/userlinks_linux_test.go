package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// pubnix makes a home with a file that belongs to a user of whom gophd is not root, and returns
// the flags that serve it.
func pubnix(t *testing.T) (flags []string) {
	t.Helper()
	dir := tree(t, map[string]string{"home/ann/public_gopher/a.txt": "ann's\n"})
	must(t, letIn(dir))
	flags = []string{"-root", tree(t, map[string]string{"a.txt": "A\n"}), "-users",
		dir + "/home/*/public_gopher"}
	must(t, letIn(flags[1]))
	if os.Geteuid() != 0 {
		return append(flags, "-users-min-uid", fmt.Sprint(os.Getuid()))
	}
	must(t, exec.Command("chown", "-hR", "12345:12345", dir).Run())
	return append(flags, "-user", "nobody")
}

// TestUsersInUnit: -users is refused in the user namespace of a unit, where all owners look
// alike, and warns where ProtectHome=yes hides the homes.
func TestUsersInUnit(t *testing.T) {
	flags := pubnix(t)
	t.Setenv("INVOCATION_ID", "1")
	const hint = "cp /usr/share/gophd/systemd/gophd-users.conf /etc/systemd/system/gophd.service.d/"
	for _, mapped := range []string{"--map-current-user", "--map-root-user"} {
		if out, err := exec.Command("unshare", "--user", mapped,
			"true").CombinedOutput(); err != nil {
			t.Skipf("no user namespaces here: %v %s", err, out)
		}
		args := append([]string{"--user", mapped, harness.Program(t), "check-config", "-listen",
			"127.0.0.1:0"}, flags...)
		cmd := exec.CommandContext(t.Context(), "unshare", args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "uid map") ||
			!strings.Contains(string(out), hint) {
			t.Errorf("%s: status %d:\n%s", mapped, cmd.ProcessState.ExitCode(), out)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("only root can hide /home")
	}
	flags[3] = "/home/*/public_gopher"
	for home, want := range map[string]string{"mount -t tmpfs -o mode=0 none /home": hint,
		"mount -t tmpfs none /home":                  hint,
		"mount -t tmpfs none /home && mkdir /home/x": "name the directory"} {
		if strings.Contains(home, "mkdir") {
			flags[3] = "/home/x/typo/*/public_gopher"
		}
		run := exec.CommandContext(t.Context(), "unshare",
			append([]string{"--mount", "sh", "-c", home + ` && exec "$@"`, "sh", harness.Program(t),
				"check-config", "-listen", "127.0.0.1:0"}, flags...)...)
		out, err := run.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", home, err, out)
		}
		flags[3] = "/home/*/public_gopher"
	}
}
