package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestChangesBehindBindfs serves a tree that lies on a FUSE file system and is
// changed behind its back, where no event tells of it.
func TestChangesBehindBindfs(t *testing.T) {
	bindfs := harness.Tool(t, "bindfs")
	behind, root := t.TempDir(), t.TempDir()
	must(t, os.Chmod(filepath.Dir(root), 0o755))
	put := func(name, text string) { write(t, filepath.Join(behind, name), text) }
	put("a.txt", "one\n")
	put("d/x.txt", "x\n")
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no FUSE here: ", err)
	}
	fuse := exec.Command(bindfs, "-f", "--no-allow-other", "-o", "attr_timeout=0,entry_timeout=0", behind, root)
	must(t, fuse.Start())
	t.Cleanup(func() {
		_ = syscall.Unmount(root, syscall.MNT_DETACH)
		_ = fuse.Process.Kill()
		_ = fuse.Wait()
	})
	until(t, "it is mounted", func() bool { _, err := os.Stat(filepath.Join(root, "a.txt")); return err == nil })

	// Nothing but -poll-remote can find a change before the test gives up.
	d := harness.Start(t, "-root", root, "-poll", "1h", "-poll-remote", "200ms")
	d.WaitLog("fuse")
	d.Until("the tree is read", func() bool { return strings.Contains(d.Ask("/"), "/d/") })
	robotsSay := func(line string) func() bool {
		return func() bool { return strings.Contains(d.Ask("robots.txt"), line+"\n") }
	}
	if got := d.Ask("/a.txt"); got != "one\n" {
		t.Errorf("at first: %q", got)
	}
	put("a.txt", "two\n")
	if got := d.Ask("/a.txt"); got != "two\n" {
		t.Errorf("a text of before the change is kept: %q", got)
	}
	put("d/.robots", "Disallow: /x.txt\n")
	d.Until("a new annotation", robotsSay("Disallow: /d/x.txt"))
	put("d/.robots", "Disallow: /y.txt\n")
	d.Until("one that was changed", robotsSay("Disallow: /d/y.txt"))
	put("new/deep/.robots", "Disallow: /\n")
	d.Until("one in a new directory", robotsSay("Disallow: /new/deep/"))
	must(t, os.RemoveAll(filepath.Join(behind, "new")))
	d.Until("none where it was removed", func() bool { return !robotsSay("Disallow: /new/deep/")() })

	// It does not answer for a while. Looking at it is no less often afterwards: a
	// pause of twenty times as long would be more than the test waits.
	must(t, fuse.Process.Signal(syscall.SIGSTOP))
	time.Sleep(harness.Timeout / 15)
	must(t, fuse.Process.Signal(syscall.SIGCONT))
	put("d/.robots", "Disallow: /late.txt\n")
	d.Until("an annotation after that", robotsSay("Disallow: /d/late.txt"))
	if got := d.Ask("/"); strings.Contains(got, "/new/") {
		t.Errorf("a menu of before the change is kept: %q", got)
	}
}
