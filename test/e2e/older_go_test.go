package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestRobotsNeedsAnOlderGo: package robots and what it imports build, and use nothing of
// the standard library, with Go 1.24, in a copy with a go.mod of its own; it has one
// dependency.
func TestRobotsNeedsAnOlderGo(t *testing.T) {
	const top = "../.."
	dir := t.TempDir()
	for _, pkg := range []string{"diag", "selector", "robots", "robots/readers"} {
		names, err := filepath.Glob(filepath.Join(top, pkg, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pkg, err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				text, err := os.ReadFile(name)
				must(t, err)
				write(t, filepath.Join(dir, pkg, filepath.Base(name)), string(text))
			}
		}
	}
	sum, err := os.ReadFile(top + "/go.sum")
	must(t, err)
	write(t, dir+"/go.sum", string(sum))
	const mod = "module github.com/gophd/gophd\n\ngo 1.24.0\n\nrequire github.com/dunglas/httpsfv v1.1.2\n"
	write(t, dir+"/go.mod", mod)
	for name, newer := range map[string]string{"": "",
		"robots/newer.go": "package robots\n\nimport \"sync\"\n\nfunc newer(wg *sync.WaitGroup) { wg.Go(func() {}) }\n"} {
		if name != "" {
			write(t, filepath.Join(dir, name), newer)
		}
		ctx, cancel := context.WithTimeout(t.Context(), harness.Timeout)
		cmd := exec.CommandContext(ctx, harness.Tool(t, "go"), "vet", "-stdversion", "./...")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod",
			"GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		cancel()
		if (err != nil) != (name != "") || name != "" && !strings.Contains(string(out), "go1.25") {
			t.Errorf("with %q: %v\n%s", name, err, out)
		}
		if name != "" {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
}
