package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestFastCGIExamples runs examples/fastcgi as its README says: a program in Go, which
// runs geomyidae's scripts, one in Python and one of the shell behind fcgiwrap.
func TestFastCGIExamples(t *testing.T) {
	dir := shared(t)
	root := filepath.Join(dir, "root")
	copied := func(from, to string, replace ...string) {
		text, err := os.ReadFile(filepath.Join("../../examples/fastcgi", from))
		must(t, err)
		executable(t, root, map[string]string{to: strings.NewReplacer(replace...).Replace(string(text))})
	}
	copied("now.sh", "now/gophermap")
	copied("guestbook.py", "cgi-bin/guestbook", "/var/lib/gophd-programs", dir)
	executable(t, root, map[string]string{
		"index.dcgi":    "#!/bin/sh\necho \"[0|search=$1 arguments=$2 host=$3 port=$4 selector=$6|/x.txt|server|port]\"\n",
		"list.dcgi":     "#!/bin/sh\necho \"search=$1 arguments=$2 host=$3 port=$4 traversal=$5\"\n",
		"broken.dcgi":   "#!/bin/sh\nexit 3\n",
		"cgi-bin/x.txt": "x",
	})
	wrapper, sockets := filepath.Join(dir, "geomyidae"),
		[2]string{filepath.Join(dir, "go.sock"), filepath.Join(dir, "wrap.sock")}
	if out, err := exec.Command("go", "build", "-o", wrapper,
		"../../examples/fastcgi/geomyidae").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program(t, sockets[0], wrapper, sockets[0])
	d := serve(t, root, "-fastcgi", "*.dcgi="+sockets[0], "-fastcgi", "menus="+sockets[1],
		"-fastcgi", "/cgi-bin="+sockets[1], "-host", "h.example", "-port", "70")
	const info = "\t\terror.host\t1\r\n"
	for sel, want := range map[string]string{
		"": "0search= arguments= host=h.example port=70 selector=\t/x.txt\th.example\t70\r\n.\r\n",
		"/list.dcgi?a b": "isearch= arguments=a b host=h.example port=70 traversal=" +
			info + ".\r\n",
		"/list.dcgi/deep\tq?": "isearch=q? arguments= host=h.example port=70 traversal=/deep" +
			info + ".\r\n",
		"/list.dcgi?a\tq": "isearch=q arguments=a host=h.example port=70 traversal=" +
			info + ".\r\n",
		"/broken.dcgi": "3The program failed" + info + ".\r\n",
	} {
		if got := d.Ask(sel); got != want {
			t.Errorf("%q: %q, want %q", sel, got, want)
		}
	}
	harness.Tool(t, "fcgiwrap")
	program(t, sockets[1], "fcgiwrap", "-f", "-s", "unix:"+sockets[1])
	for _, socket := range sockets {
		must(t, os.Chmod(socket, 0o666))
	}
	if got := d.Ask("/now/"); !strings.Contains(got, "UTC at h.example, which runs gophd/") ||
		!strings.Contains(got, "iYou come from 127.0.0.1.\t") ||
		!strings.Contains(got, "1Back\t/\th.example\t70\r\n") {
		t.Errorf("the shell's: %q", got)
	}
	if got := d.Ask("/cgi-bin/guestbook"); got != "The guestbook is empty.\r\n" {
		t.Errorf("Python's: %q", got)
	}
	if got := d.Ask("/cgi-bin/guestbook\tgood day; $(id)"); !strings.HasSuffix(got,
		"good day; $(id)\r\n") {
		t.Errorf("Python's, with an entry: %q", got)
	}
}

// executable writes scripts.
func executable(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		write(t, name, text)
		if strings.HasPrefix(text, "#!") {
			must(t, os.Chmod(name, 0o755))
		}
	}
}

// program runs a FastCGI application until the test ends. It is not root, if the
// test is.
func program(t testing.TB, socket string, words ...string) {
	t.Helper()
	cmd := exec.Command(harness.Tool(t, words[0]), words[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Stderr = os.Stderr
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	harness.Listens(t, cmd, "unix", socket)
}

// shared makes a directory that everybody may use.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gophd-programs")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777))
	return dir
}
