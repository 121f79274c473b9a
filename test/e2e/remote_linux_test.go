package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestChangesBehindBindfs serves a tree that lies on a FUSE file system, or has one in
// it, and is changed behind its back, where no event tells of it.
func TestChangesBehindBindfs(t *testing.T) {
	t.Run("the root", func(t *testing.T) {
		root := t.TempDir()
		changesBehind(t, root, root, "")
	})
	t.Run("a directory", func(t *testing.T) {
		root := t.TempDir()
		write(t, root+"/near/y.txt", "y\n")
		must(t, os.Mkdir(root+"/far", 0o755))
		changesBehind(t, root, root+"/far", "/far")
	})
}

// changesBehind serves root, where a FUSE file system is mounted at a selector.
func changesBehind(t *testing.T, root, mountpoint, at string) {
	must(t, os.Chmod(root, 0o755))
	behind, fuse := bindfs(t, mountpoint)
	put := func(name, text string) { write(t, filepath.Join(behind, name), text) }
	put("a.txt", "one\n")
	put("d/x.txt", "x\n")

	// Nothing but -poll-remote can find a change before the test gives up.
	d := harness.Start(t, "-root", root, "-poll", "1h", "-poll-remote", "200ms")
	d.WaitLog("remote file system")
	d.Until("the tree is read", func() bool { return strings.Contains(d.Ask(at+"/"), at+"/d/") })
	robotsSay := func(path string) func() bool {
		return func() bool {
			return strings.Contains(d.Ask("robots.txt"), "Disallow: "+at+path+"\n")
		}
	}
	if got := d.Ask(at + "/a.txt"); got != "one\n" {
		t.Errorf("at first: %q", got)
	}
	put("a.txt", "two\n")
	d.Until("a kept text is looked at again", func() bool { return d.Ask(at+"/a.txt") == "two\n" })
	put("d/.robots", "Disallow: /x.txt\n")
	d.Until("a new annotation", robotsSay("/d/x.txt"))
	put("d/.robots", "Disallow: /y.txt\n")
	d.Until("one that was changed", robotsSay("/d/y.txt"))
	put("new/deep/.robots", "Disallow: /\n")
	d.Until("one in a new directory", robotsSay("/new/deep/"))
	must(t, os.RemoveAll(filepath.Join(behind, "new")))
	d.Until("none where it was removed", func() bool { return !robotsSay("/new/deep/")() })

	if n := strings.Count(d.Log(), "remote file system reports no changes"); n != 1 {
		t.Errorf("the log tells %d times that it is compared:\n%s", n, d.Tail())
	}
	// It does not answer for a while. Looking at it is no less often afterwards: a
	// pause of twenty times as long would be more than the test waits.
	if at != "" || os.Getenv("TEST_GOPHD_ALL") == "" {
		return
	}
	must(t, fuse.Signal(syscall.SIGSTOP))
	time.Sleep(harness.Timeout / 15)
	must(t, fuse.Signal(syscall.SIGCONT))
	put("d/.robots", "Disallow: /late.txt\n")
	d.Until("an annotation after that", robotsSay("/d/late.txt"))
	d.Until("a kept menu is looked at again", func() bool {
		return !strings.Contains(d.Ask(at+"/"), "/new/")
	})
}

// bindfs shows a new directory at another place until the test ends. It returns
// the new one, and the process that shows it.
func bindfs(t *testing.T, at string) (behind string, fuse *os.Process) {
	t.Helper()
	behind = t.TempDir()
	write(t, behind+"/mounted", "")
	program := harness.Tool(t, "bindfs")
	if err := unix.Access("/dev/fuse", unix.R_OK|unix.W_OK); err != nil {
		t.Skip("no FUSE for this user: /dev/fuse: ", err)
	}
	cmd := exec.Command(program, "-f", "--no-allow-other", "-o",
		"attr_timeout=0,entry_timeout=0", behind, at)
	must(t, cmd.Start())
	t.Cleanup(func() {
		if syscall.Unmount(at, syscall.MNT_DETACH) != nil { // only root may
			_ = exec.Command("fusermount", "-u", "-z", at).Run()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	until(t, "it is mounted", func() bool { _, err := os.Stat(at + "/mounted"); return err == nil })
	must(t, os.Remove(behind+"/mounted"))
	return behind, cmd.Process
}
