package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// installing are the pages whose commands change a machine.
var installing = []string{"installing.txt", "systemd.txt"}

// TestInstallationPages types these pages where a systemd of its own runs, in a copy of the
// source. "make build man" needs Go, so it runs outside, in the same directory.
func TestInstallationPages(t *testing.T) {
	packages(t) // it is one of the tests of make test-packages
	root := debian(t, "systemd-sysv", "make", "sudo")
	src := filepath.Join(root, "root/gophd")
	must(t, os.Mkdir(src, 0o755))
	run(t, "../..", "sh", "-c", "git ls-files -z | xargs -0 cp --parents -t "+src)
	write(t, filepath.Join(root, "etc/hostname"), "gophd-test\n")
	write(t, filepath.Join(root, "etc/hosts"), "127.0.0.1 localhost gophd-test\n")
	s := boot(t, root)
	for _, page := range installing {
		text, err := os.ReadFile("../../content/manual/" + page)
		must(t, err)
		steps := session(string(text), "    ")
		if len(steps) < 6 {
			t.Errorf("%s has only %d commands", page, len(steps))
		}
		for _, step := range steps {
			s.types(step, src)
		}
	}
}

// types runs a command of a page. A request is repeated until gophd has noticed a change.
func (s *systemd) types(step step, src string) {
	s.t.Helper()
	if strings.HasPrefix(step.command, "make build") {
		run(s.t, src, "sh", "-c", step.command)
		return
	}
	command, server := strings.CutSuffix(step.command, "&")
	if server {
		command += ">/dev/null 2>&1 &"
	}
	var out string
	var err error
	once := func() bool {
		out, err = s.try("sh", "-c", "PATH=/usr/local/bin:$PATH; cd /root/gophd && "+command)
		return err == nil && step.prints(out)
	}
	request := strings.HasPrefix(command, "gophd get ")
	if !request && !once() || request && !eventually(once) {
		s.t.Errorf("$ %s\nprints (%v)\n%s\nand the page shows\n%s", step.command, err,
			out, step.output)
	}
}
