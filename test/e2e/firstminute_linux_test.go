package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestDoubtfulRoots: a user who serves a home is asked, at a terminal.
func TestDoubtfulRoots(t *testing.T) {
	home := tree(t, map[string]string{"a.txt": "A\n"})
	for answer, served := range map[string]bool{"y\n": true, "\n": false, "no\n": false} {
		master, tty := harness.Terminal(t)
		cmd := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", home)
		cmd.Env = append(os.Environ(), "HOME="+home, "TERM=dumb")
		cmd.Stdin = tty
		if _, err := master.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		s := harness.OnScreen(t, cmd)
		if !eventually(func() bool { return strings.Contains(s.String(), "anyway? [y/N]") }) {
			t.Fatalf("nothing is asked:\n%s", s)
		}
		if served {
			if !eventually(func() bool { return strings.Contains(s.String(), "| nc 127.0.0.1") }) {
				t.Errorf("%q: it is not served:\n%s", answer, s)
			}
		} else if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%q: %v\n%s", answer, err, s)
		}
	}
}
