// Package e2e uses gophd as people do: it starts the program on trees as they are
// found and as nobody wants to find them, and asks it with the clients that people
// have. Everything that starts a process is tested here, with package harness.
package e2e_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

// patient are the time limits of gophd and its commands: who is late on a busy
// machine is not given up.
var patient = []string{"GOPHD_REQUEST_TIMEOUT=10m", "GOPHD_STALL_TIMEOUT=10m", "GOPHD_TIMEOUT=10m"}

func TestMain(m *testing.M) {
	for _, limit := range patient {
		name, value, _ := strings.Cut(limit, "=")
		_ = os.Setenv(name, value)
	}
	os.Exit(harness.Main(m))
}

var eventually = treetest.Eventually

var until = treetest.Until

// daemon is a gophd that serves, and is asked by clients of all kinds.
type daemon struct {
	*harness.Daemon
	t *testing.T
}

// serve starts gophd on a free port, and ends it with the test; it must end as
// it should.
func serve(t *testing.T, root string, flags ...string) *daemon {
	t.Helper()
	if !slices.Contains(flags, "-host") {
		flags = append(flags, "-host", "127.0.0.1")
	}
	d := harness.Start(t, append(flags, "-root", root, "-drain", "100ms")...)
	t.Cleanup(d.Stop)
	if d.Ask("robots.txt") == "" {
		t.Fatal("robots.txt is empty")
	}
	return &daemon{d, t}
}

// serveFronts starts a gophd that serves all protocols, and returns their addresses.
func serveFronts(t *testing.T, root string, flags ...string) (harness.Fronts, *harness.Daemon) {
	t.Helper()
	at, all := harness.AllFronts(t, t.TempDir())
	d := harness.Start(t, append(append(all, "-root", root, "-host", "127.0.0.1"), flags...)...)
	return at, d
}

// tree makes files below a new directory, as treetest.Write does, and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, files)
	return dir
}

var must = treetest.Must

// write writes a file, and makes the directories that it is in.
func write(t *testing.T, name, text string) {
	t.Helper()
	treetest.Write(t, "/", map[string]string{name: text})
}

// output runs a program to its end, in a home of its own, and returns what it
// has printed.
func output(t *testing.T, stdin string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Tool(t, words[0]), words[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C.UTF-8", "TERM=dumb")
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = harness.Timeout
	timer := time.AfterFunc(harness.Timeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", words, err, out, stderr.Bytes())
	}
	return string(out)
}

// lines returns the lines of a text without what clients change in them: the
// space at their ends, and the empty ones.
func lines(text string) []string {
	var all []string
	for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
		if line := strings.TrimSpace(scan.Text()); line != "" {
			all = append(all, line)
		}
	}
	return all
}
