package e2e_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
)

// shells are those of this machine that read $'...' as POSIX.1-2024 has it, and those
// that do not.
var shells = []string{"sh", "dash", "bash", "busybox"}

// typed returns the words that a shell reads.
func typed(t *testing.T, shell, line string) []string {
	args := []string{"-c", `printf '%s\0' ` + line}
	if shell == "busybox" {
		args = append([]string{"sh"}, args...)
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", shell, line, err, out)
	}
	if entries, _ := os.ReadDir(cmd.Dir); len(entries) > 0 {
		t.Errorf("%s made %v: %s", shell, entries, line)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// words are names that an author may give a file.
var words = []string{
	"", "plain/a.txt", "-rf", "two words", "it's", `"double"`, `back\slash`, "$HOME",
	"`touch pwned`", "$(touch pwned)", "a;touch pwned", "a&b|c>d<e",
	"*", "?", "[a]", "~", "#", "!x", "{a,b}", "%s%d", "é 世", "tab\there", "a\nb",
	"a\n;touch pwned\n;$( '", "\x1b[2J", "\xff", "$'\\n'", "50%\n", "a%s\nb", "-x\ny",
}

// TestCommandIsTyped: every shell reads the words that a command was made of.
func TestCommandIsTyped(t *testing.T) {
	for _, shell := range shells {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		line := diag.Command(append([]string{"--"}, words...)...)
		if diag.Printable(line) != line {
			t.Errorf("not printable: %q", line)
		}
		got := typed(t, shell, strings.TrimPrefix(line, "-- "))
		for i, want := range words {
			if strings.HasSuffix(want, "\n") && (shell == "sh" || shell == "dash") {
				continue // older shells do not know $'...': the name is wrong, and nothing runs
			}
			if i >= len(got) || got[i] != want {
				t.Errorf("%s reads %q as %q", shell, want, got[min(i, len(got)-1)])
			}
		}
	}
}

func FuzzCommand(f *testing.F) {
	for _, word := range words {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") {
			return // no name holds it
		}
		line := diag.Command("--", "-", word)
		if diag.Printable(line) != line {
			t.Errorf("not printable: %q", line)
		}
		if got := typed(t, "bash", line); !slices.Equal(got, []string{"--", "-", word}) {
			t.Errorf("%s is read as %q", line, got)
		}
	})
}
