package e2e_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestGophdRotates: the log is rotated in the sandbox, too, and both logs mask
// addresses.
func TestGophdRotates(t *testing.T) {
	dir := t.TempDir()
	name := dir + "/access.log"
	d := harness.Start(t, "-root", t.TempDir(), "-access-log", name, "-log-ips", "masked")
	d.Ask("/one")
	holds := func(name, text string) func() bool {
		return func() bool {
			all, _ := os.ReadFile(name)
			return strings.Contains(string(all), text)
		}
	}
	d.Until("the log has a line", holds(name, ` 127.0.0.0 gopher - [`))
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	d.Signal(syscall.SIGHUP)
	d.Until("the new log has a line", func() bool { d.Ask("/two"); return holds(name, `] "/two" 404 57 "-" "-"`)() })
	d.Until("the log to stderr has a line", func() bool { return strings.Contains(d.Log(), `"remote":"127.0.0.0"`) })
	d.Ask("/last")
	d.Stop()
	if !holds(name, `"/last"`)() {
		t.Error("the end of the log is lost")
	}
	if strings.Contains(d.Log(), `"remote":"127.0.0.1"`) {
		t.Errorf("an address in full:\n%s", d.Tail())
	}
}

// TestGophdFullDisk: a full disk costs lines of the log and no reply.
func TestGophdFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	d := harness.Start(t, "-root", t.TempDir(), "-access-log", "/dev/full")
	for range 50 {
		if got := d.Ask("/nothing"); got != "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n" {
			t.Fatalf("got %q", got)
		}
	}
	d.WaitLog("access log lines are lost")
	d.Stop()
}
