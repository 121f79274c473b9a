//go:build linux

package hostile

import (
	"os/exec"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// Where more connections are allowed than the process may open files, silent
// ones make room when there are none left.
func TestOutOfFiles(t *testing.T) {
	d := harness.StartCmd(t,
		exec.Command("sh", "-c", `ulimit -n 200 && exec "$@"`, "sh", harness.Program(t),
			"-root", tree(t), "-listen", "127.0.0.1:0", "-max-conns", "1000",
			"-max-conns-per-ip", "0",
			"-request-timeout", "1h"))
	silent := habit{}.arrive(t, d.Addr, 400)
	for range 20 {
		if got := d.Ask("/a.txt"); got != "alpha\n" {
			t.Errorf("got %q", got)
		}
	}
	d.WaitLog("no files left for connections")
	for _, c := range silent {
		_ = c.Close()
	}
}
