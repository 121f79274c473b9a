package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/test/e2e/harness"
)

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestServingInside: what gophd does while it serves works in the sandbox.
func TestServingInside(t *testing.T) {
	if !sandbox.Available().Full() {
		t.Skip("this kernel's Landlock cannot forbid all")
	}
	dir := t.TempDir()
	root := dir + "/root"
	write(t, root+"/file.txt", "old\n")
	write(t, root+"/a/.robots", "Disallow: /one\n")
	write(t, root+"/a/one", "")
	write(t, root+"/a/two", "")
	d := harness.Start(t, "-sandbox", "require", "-sandbox-parent", "-root", root)
	d.WaitLog("sandbox")
	robots := func(want string) {
		t.Helper()
		d.Until("robots.txt says "+want, func() bool { return strings.Contains(d.Ask("robots.txt"), want) })
	}
	robots("/a/one")
	write(t, root+"/a/.robots", "Disallow: /two\n") // noticed by a watch
	robots("/a/two")
	write(t, dir+"/next/file.txt", "new\n")
	write(t, dir+"/next/a/.robots", "Disallow: /three\n")
	write(t, dir+"/next/a/three", "")
	rename(t, root, dir+"/old")
	rename(t, dir+"/next", root)
	robots("/a/three")
	write(t, root+"/b/.robots", "Disallow: /four\n")
	write(t, root+"/b/four", "")
	d.Signal(syscall.SIGHUP)
	robots("/b/four")
	if got := d.Ask("/file.txt"); got != "new\n" {
		t.Errorf("file.txt is %q", got)
	}
	if got := d.Ask("/a/"); strings.HasPrefix(got, "3") {
		t.Errorf("/a/ is %q", got)
	}
	if got := status(t, d.Process.Pid, "NoNewPrivs"); got != "1" {
		t.Errorf("NoNewPrivs is %q", got)
	}
	d.Stop()
}

// TestServingLink: a root that is a link can be turned to another release; if
// it leads where the sandbox does not reach, the log says what to do.
func TestServingLink(t *testing.T) {
	if !sandbox.Available().Full() {
		t.Skip("this kernel's Landlock cannot forbid all")
	}
	dir := t.TempDir()
	write(t, dir+"/releases/1/file.txt", "one\n")
	for name, target := range map[string]string{"current": "releases/1", "next": "releases/2"} {
		if err := os.Symlink(target, dir+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	d := harness.Start(t, "-sandbox", "require", "-root", dir+"/current")
	if got := d.Ask("/file.txt"); got != "one\n" {
		t.Errorf("file.txt is %q", got)
	}
	write(t, dir+"/releases/2/file.txt", "two\n") // was made after the sandbox
	rename(t, dir+"/next", dir+"/current")
	second := func() bool { return d.Ask("/file.txt") == "two\n" }
	d.Until("the new release is served", second)

	if err := os.Symlink(t.TempDir(), dir+"/next"); err != nil {
		t.Fatal(err)
	}
	rename(t, dir+"/next", dir+"/current")
	d.WaitLog("restart gophd")
	if !second() {
		t.Error("the old release is not served until then")
	}
}

// TestServingTight: without -sandbox-parent an exchanged root is out of reach, and
// the log says what to do.
func TestServingTight(t *testing.T) {
	if !sandbox.Available().Full() {
		t.Skip("this kernel cannot forbid all")
	}
	dir := t.TempDir()
	write(t, dir+"/root/file.txt", "old\n")
	write(t, dir+"/next/file.txt", "new\n")
	d := harness.Start(t, "-sandbox", "require", "-root", dir+"/root")
	rename(t, dir+"/root", dir+"/old")
	rename(t, dir+"/next", dir+"/root")
	d.WaitLog("-sandbox-parent")
	if got := d.Ask("/file.txt"); got != "old\n" {
		t.Errorf("file.txt is %q", got)
	}
	d.Stop()
}

// TestMetricsInside: the numbers about the process have values in the sandbox.
func TestMetricsInside(t *testing.T) {
	if !sandbox.Available().Full() {
		t.Skip("this kernel cannot forbid all")
	}
	addr := harness.FreeAddrs(t, 1)[0]
	d := harness.Start(t, "-sandbox", "require", "-root", t.TempDir(), "-metrics", addr)
	d.WaitLog("sandbox")
	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_start_time_seconds"} {
		if !regexp.MustCompile(`(?m)^` + name + ` [0-9.e+]*[1-9]`).Match(text) {
			t.Errorf("%s has no value", name)
		}
	}
	d.Stop()
}

// TestLogInside: in the sandbox the access log may go where logs go.
func TestLogInside(t *testing.T) {
	if !sandbox.Available().Full() {
		t.Skip("this kernel's Landlock cannot forbid all")
	}
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	for name, out := range map[string]*os.File{"file": file, "pipe": w} {
		cmd := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", "-root", t.TempDir(), "-sandbox", "require",
			"-access-log", "/dev/stdout")
		cmd.Stdout = out
		d := harness.StartCmd(t, cmd)
		d.Ask("/to-" + name)
		d.Signal(syscall.SIGHUP)
		d.Ask("/again")
		d.Stop()
		if strings.Contains(d.Log(), "access log") {
			t.Errorf("%s: %s", name, d.Tail())
		}
	}
	_ = w.Close()
	piped, err := io.ReadAll(r)
	if err != nil || strings.Count(string(piped), "\n") != 2 {
		t.Errorf("the pipe got %q, %v", piped, err)
	}
	if got, err := os.ReadFile(file.Name()); err != nil || strings.Count(string(got), "\n") != 2 {
		t.Errorf("the file got %q, %v", got, err)
	}
}

// TestUserNeedsRoot: who is not root is told what to do.
func TestUserNeedsRoot(t *testing.T) {
	cmd := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", "-root", "/tmp", "-user", "54321:54321")
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "gophd: hint: only root can become another user") {
		t.Errorf("%v\n%s", err, out)
	}
}

// status reads a field of /proc/PID/status.
func status(t *testing.T, pid int, field string) string {
	t.Helper()
	all, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func TestServingAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir, err := os.MkdirTemp("", "gophd-user") // t.TempDir is root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/root/file.txt", "for all\n")
	write(t, dir+"/root/secret.txt", "for root\n")
	if err := os.Chmod(dir+"/root/secret.txt", 0o600); err != nil {
		t.Fatal(err)
	}
	d := harness.Start(t, "-user", "54321:54322", "-root", dir+"/root")
	if got := d.Ask("/file.txt"); got != "for all\n" {
		t.Errorf("file.txt is %q", got)
	}
	if got := d.Ask("/secret.txt"); !strings.HasPrefix(got, "3Not found") {
		t.Errorf("secret.txt is %q", got)
	}
	for field, want := range map[string]string{
		"Uid": "54321\t54321\t54321\t54321", "Gid": "54322\t54322\t54322\t54322", "Groups": "54322",
		"CapPrm": "0000000000000000", "CapEff": "0000000000000000",
	} {
		if got := status(t, d.Process.Pid, field); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	if strings.Contains(d.Log(), "serving as root") {
		t.Error("it warns of root")
	}
	d.Stop()
}

func TestServingAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	d := harness.Start(t, "-root", t.TempDir())
	if n := strings.Count(d.Log(), "serving as root"); n != 1 {
		t.Errorf("%d warnings of root in the log:\n%s", n, d.Log())
	}
}

func TestUserMistakes(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-user", "no-such-user"}, 2, "gophd: hint: -user takes NAME"},
		{[]string{"-sandbox", "maybe"}, 2, "gophd: hint: want one of auto, require, off"},
	} {
		args := append([]string{"-listen", "127.0.0.1:0", "-root", t.TempDir()}, c.args...)
		cmd := exec.Command(harness.Program(t), args...)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.Contains(string(out), c.want) {
			t.Errorf("%q: status %d, want %d, and %q in\n%s", c.args, got, c.status, c.want, out)
		}
	}
}
