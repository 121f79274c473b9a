package e2e_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestFirstMistakes: what people type wrongly in their first minute is answered
// with what to do.
func TestFirstMistakes(t *testing.T) {
	dir := tree(t, map[string]string{"hole/a.txt": "A\n", "empty/": "", "help/a.txt": "A\n", "check/a.txt": "A\n", "robots/a.txt": "A\n", "shut/a.txt": "A\n", "cert.pem": "no certificate\n"})
	if err := letIn(dir); err != nil {
		t.Fatal(err)
	}
	shut := filepath.Join(dir, "shut")
	must(t, os.Chmod(shut, 0))
	t.Cleanup(func() { _ = os.Chmod(shut, 0o700) })
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	for _, m := range []struct {
		command string // "nobody" begins one without root's rights
		status  int
		hint    string // a pattern in the line of the hint
	}{
		{"gophd", 2, `gophd \./content`},
		{"gophd ./missing", 2, `mkdir -p \./missing`},
		{"gophd hole/a.txt", 2, `-root must name a directory`},
		{"gophd serve hole", 2, `gophd DIR`},
		{"gophd start", 2, `to serve a directory: gophd DIR`},
		{"gophd hole -listen :7070", 2, `gophd -listen \.\.\. hole`},
		{"gophd -root hole hole", 2, `leave one of them out`},
		{"gophd -rot hole", 2, `did you mean -root\?`},
		{"gophd --port 70x hole", 2, `want a number`},
		{"gophd -port 70000 hole", 2, `a number from 0 to 65535`},
		{"gophd -poll 5 hole", 2, `want a DURATION, such as 90s or 10m`},
		{"gophd -cache 64m hole", 2, `such as 64MiB`},
		{"gophd -listen localhost:70:70 hole", 2, `HOST:PORT`},
		{"gophd -listen " + busy.Addr().String() + " hole", 3, `the port is in use`},
		{"gophd -listen 192.0.2.1:7070 hole", 3, `that address is not on this machine`},
		{"gophd -host gopher://example.org/ hole", 2, `-host gopher\.example\.org`},
		{"gophd -tls-cert cert.pem hole", 2, `one -tls-key for each -tls-cert`},
		{"gophd -tls-cert missing.pem -tls-key missing.pem hole", 2, `-tls-self-signed DIR`},
		{"gophd -tls-cert cert.pem -tls-key cert.pem hole", 2, `both are PEM`},
		{"gophd -user nosuch hole", 2, `-user takes NAME`},
		{"nobody gophd -listen 127.0.0.1:0 -user 54321:54321 hole", 2, `only root can become another user`},
		{"nobody gophd -listen 127.0.0.1:0 shut", 3, `must be able to read and search it`},
		{"gophd -listen 127.0.0.1:0 -access-log missing/access.log hole", 2, `make its directory`},
		{"gophd -log-format xml hole", 2, `one of auto, short, text, json`},
		{"gophd get host.invalid", 3, `is the host name right`},
		{"gophd get https://example.org/", 2, `gophd get gopher://`},
		{"gophd get gopher://127.0.0.1:1/", 3, `a server listen there`},
		{"gophd check", 2, `gophd \./check`},
		{"gophd robots", 2, `gophd \./robots`},
		{"gophd init hole", 3, `name a new directory`},
		{"gophd robots check", 2, `name it after the command: \./content`},
		{"gophd robots test hole gopher://127.0.0.1/0/a.txt", 2, `"/a\.txt"`},
	} {
		words := asNobody(strings.Fields(m.command))
		for i, w := range words {
			if w == "gophd" {
				words[i] = harness.Program(t)
				break
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), harness.Timeout)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPHD_LISTEN=127.0.0.1:0") // port 70 may be taken
		out, _ := cmd.CombinedOutput()
		cancel()
		if got := cmd.ProcessState.ExitCode(); got != m.status {
			t.Errorf("%s: exit status %d, want %d:\n%s", m.command, got, m.status, out)
		}
		if !regexp.MustCompile(`(?m)^gophd: hint: .*` + m.hint).Match(out) {
			t.Errorf("%s: no hint with %q:\n%s", m.command, m.hint, out)
		}
	}
}

// TestNamesOfCommands: a directory that is called help is served, and help is
// help where there is none.
func TestNamesOfCommands(t *testing.T) {
	for _, name := range []string{"help", "h"} {
		cmd := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", name)
		cmd.Dir = tree(t, map[string]string{name + "/a.txt": "A\n"})
		if got := harness.StartCmd(t, cmd).Ask("/a.txt"); got != "A\n" {
			t.Errorf("the directory %s: %q", name, got)
		}
		cmd = exec.Command(harness.Program(t), name)
		cmd.Dir = t.TempDir()
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "\nUsage:\n") {
			t.Errorf("gophd %s: %v\n%s", name, err, out)
		}
	}
}

// TestCheckConfig: it tells what a start would tell, beside a gophd that runs,
// too, and serves nobody.
func TestCheckConfig(t *testing.T) {
	root := tree(t, map[string]string{"d/.robots": "Dissallow: /x\n"})
	d := harness.Start(t, "-root", root)
	out, err := exec.Command(harness.Program(t), "check-config", "-listen", d.Addr, "-log-format", "short", root).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"an address is in use", "error d/.robots:1: ", "scanned 2 directories", "gophd would start\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, err = exec.Command(harness.Program(t), "check-config", "-tls-cert", "missing", "-tls-key", "missing", root).CombinedOutput()
	if err == nil || strings.Contains(string(out), "would start") {
		t.Errorf("without a certificate: %v\n%s", err, out)
	}
}

// TestInit: the example is served as it is made.
func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hole")
	if out, err := exec.Command(harness.Program(t), "init", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d := serve(t, dir)
	for sel, it := range d.everything() {
		if reply := d.ask(sel); strings.HasPrefix(reply, "3") {
			t.Errorf("%q (%s): %q", sel, it.Label, reply)
		}
	}
	if got := d.ask("robots.txt"); !strings.Contains(got, "/phlog/drafts") {
		t.Errorf("robots.txt:\n%s", got)
	}
}

// TestDoubtfulRoots: a user who serves an empty directory is warned; a user who serves
// a home or everything is asked, at a terminal.
func TestDoubtfulRoots(t *testing.T) {
	d := harness.Start(t, "-root", t.TempDir())
	if !strings.Contains(d.Log(), "the root is empty") || !strings.Contains(d.Log(), "gophd init ") {
		t.Errorf("an empty root:\n%s", d.Log())
	}
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
