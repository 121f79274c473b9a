package e2e_test

import (
	"github.com/gophd/gophd/internal/treetest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// account makes a real account with a home, and removes both with the test.
func account(t *testing.T, name string, files map[string]string) (home string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make accounts")
	}
	useradd := harness.Tool(t, "useradd")
	home = filepath.Join("/home", name)
	if _, err := user.Lookup(name); err == nil {
		t.Fatalf("there is an account %s already", name)
	}
	if out, err := exec.Command(useradd, "--create-home", "--home-dir", home,
		name).CombinedOutput(); err != nil {
		t.Skipf("useradd: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("userdel", "--remove", name).Run() })
	if files == nil {
		return home
	}
	treetest.Write(t, filepath.Join(home, "public_gopher"), files)
	must(t, exec.Command("chown", "-R", name+":", home).Run())
	must(t, os.Chmod(home, 0o711))
	return home
}

// TestUsersAsOnAPubnix serves the homes of real accounts, as nobody and in the
// sandbox, and gives the same answers as gophernicus -u public_gopher.
func TestUsersAsOnAPubnix(t *testing.T) {
	gophernicus := harness.Tool(t, "gophernicus")
	account(t, "gophdann", map[string]string{"index.txt": "ann's\n", "phlog/one.txt": "one\n",
		".robots": "Disallow: /phlog/\n"})
	account(t, "gophdbob", map[string]string{"gophermap": "Bob's hole\n0A text\ttext.txt\n",
		"text.txt": "bob's\n"})
	private := account(t, "gophdcleo", map[string]string{"secret.txt": "cleo's\n"})
	must(t, os.Chmod(private, 0o700))
	account(t, "gophddan", nil)

	root := tree(t, map[string]string{"gophermap": "Users\n~\n"})
	must(t, os.Chmod(filepath.Dir(root), 0o755))
	d := serve(t, root, "-user", "nobody", "-users", "/home/*/public_gopher")
	d.WaitLog("home is 0700")
	if line := d.WaitLog("gophdcleo"); !strings.Contains(line, "chmod o+x /home/gophdcleo") {
		t.Errorf("no hint: %s", line)
	}
	peer := func(selector string) string {
		cmd := exec.Command(gophernicus, "-h", "127.0.0.1", "-p", "70", "-r", root, "-u",
			"public_gopher", "-nf", "-nh", "-nd", "-nl", "-ns")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}} // it refuses to run as root
		cmd.Stdin = strings.NewReader(selector + "\r\n")
		cmd.Env = append(os.Environ(), "REMOTE_ADDR=127.0.0.1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gophernicus %q: %v", selector, err)
		}
		return string(out)
	}
	for _, selector := range []string{"/~gophdann/index.txt", "/~gophdann/phlog/one.txt",
		"/~gophdbob/text.txt"} {
		if got, want := d.Ask(selector),
			strings.ReplaceAll(peer(selector), "\r\n", "\n"); got != want || got == "" { // it changes line ends
			t.Errorf("%s: %q, gophernicus has %q", selector, got, want)
		}
	}
	for _, selector := range []string{"/~gophdann/", "/~gophdbob/"} {
		if got, want := links(d.Ask(selector)), links(peer(selector)); !slices.Equal(got, want) ||
			len(got) == 0 {
			t.Errorf("%s links %q, gophernicus %q", selector, got, want)
		}
	}
	missing := d.Ask("/~gophdnobody/x")
	for _, selector := range []string{"/~gophdcleo/secret.txt", "/~gophdcleo/", "/~gophddan/",
		"/~root/", "/~gophdann/.robots", "/~gophdann/../../etc/passwd"} {
		if got := d.Ask(selector); got != missing || !strings.HasPrefix(got, "3") {
			t.Errorf("%s: %q, want what a missing user gives", selector, got)
		}
	}
	if got := links(d.Ask("/")); !slices.Equal(got, []string{"/~gophdann/", "/~gophdbob/"}) {
		t.Errorf("the list of users links %q", got)
	}
	if got := d.Ask("robots.txt"); !strings.Contains(got, "Disallow: /~gophdann/phlog") {
		t.Errorf("robots.txt: %q", got)
	}

	// A new directory in a home that no event tells of.
	dan := "/home/gophddan/public_gopher"
	must(t, os.Chmod("/home/gophddan", 0o711))
	treetest.Write(t, dan, map[string]string{"late/": "", ".robots": "Disallow: /late/\n"})
	must(t, exec.Command("chown", "-R", "gophddan:", dan).Run())
	d.Until("a new user's annotation", func() bool {
		return strings.Contains(d.Ask("robots.txt"), "/~gophddan/late")
	})
}

// links are the selectors of the items of a menu, without those of information.
func links(menu string) (all []string) {
	for line := range strings.Lines(menu) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(f) >= 4 && line[0] != 'i' && line[0] != '3' {
			all = append(all, f[1])
		}
	}
	slices.Sort(all)
	return all
}
