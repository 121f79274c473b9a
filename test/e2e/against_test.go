package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestCheckAgainst compares gophd with a running gophernicus, as moving-in says.
func TestCheckAgainst(t *testing.T) {
	root := filepath.Join(shared(t), "root")
	executable(t, root, map[string]string{
		"gophermap": "Welcome\n0About\tabout.txt\n1Notes\tnotes/\n1Now\tnow/\n",
		"about.txt": "about\n", "notes/a.txt": "a\n", "notes/b.txt": "b\n",
		"now/gophermap": "#!/bin/sh\nprintf '0Printed\\t/about.txt\\n'\n",
	})
	port, stop := startGophernicus(t, root)
	defer stop()
	out, err := exec.Command(harness.Program(t), "check", "-against",
		"gopher://127.0.0.1:"+port+"/", "-mine", root).Output()
	if err == nil {
		t.Error("nothing is lost")
	}
	got := strings.ReplaceAll(string(out), port, "PORT")
	for _, want := range []string{"now: error: 1 link is not in gophd's menu, the first: /about.txt", ": 1 AGAINST-LESS\n", "gopher://127.0.0.1:PORT/: 6 selectors, ", " 1 lost\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "about.txt: ") || strings.Contains(got, "notes/a.txt") ||
		strings.Contains(got, "GONE") {
		t.Errorf("too much in\n%s", got)
	}
}
