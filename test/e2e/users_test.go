package e2e_test

import (
	"bytes"
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
	if out, err := exec.Command(useradd, "--create-home", "--home-dir", home, name).CombinedOutput(); err != nil {
		t.Skipf("useradd: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("userdel", "--remove", name).Run() })
	public := filepath.Join(home, "public_gopher")
	if files == nil {
		return home
	}
	for file, text := range files {
		path := filepath.Join(public, file)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	must(t, exec.Command("chown", "-R", name+":", home).Run())
	must(t, os.Chmod(home, 0o711))
	return home
}

// TestUsersAsOnAPubnix serves the homes of real accounts, as nobody and in the
// sandbox, and gives the same answers as gophernicus -u public_gopher.
func TestUsersAsOnAPubnix(t *testing.T) {
	gophernicus := harness.Tool(t, "gophernicus")
	account(t, "gophdann", map[string]string{"index.txt": "ann's\n", "phlog/one.txt": "one\n", ".robots": "Disallow: /phlog/\n"})
	account(t, "gophdbob", map[string]string{"gophermap": "Bob's hole\n0A text\ttext.txt\n", "text.txt": "bob's\n"})
	private := account(t, "gophdcleo", map[string]string{"secret.txt": "cleo's\n"})
	must(t, os.Chmod(private, 0o700))
	account(t, "gophddan", nil)

	root := t.TempDir()
	must(t, os.Chmod(filepath.Dir(root), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "gophermap"), []byte("Users\n~\n"), 0o644))
	d := serve(t, root, "-user", "nobody", "-users", "/home/*/public_gopher")
	d.WaitLog("home is 0700")
	if line := d.WaitLog("gophdcleo"); !strings.Contains(line, "chmod o+x /home/gophdcleo") {
		t.Errorf("no hint: %s", line)
	}
	peer := func(selector string) string {
		cmd := exec.Command(gophernicus, "-h", "127.0.0.1", "-p", "70", "-r", root, "-u", "public_gopher", "-nf", "-nh", "-nd", "-nl", "-ns")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}} // it refuses to run as root
		cmd.Stdin = strings.NewReader(selector + "\r\n")
		cmd.Env = append(os.Environ(), "REMOTE_ADDR=127.0.0.1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gophernicus %q: %v", selector, err)
		}
		return string(out)
	}
	for _, selector := range []string{"/~gophdann/index.txt", "/~gophdann/phlog/one.txt", "/~gophdbob/text.txt"} {
		if got, want := d.Ask(selector), strings.ReplaceAll(peer(selector), "\r\n", "\n"); got != want || got == "" { // it changes line ends
			t.Errorf("%s: %q, gophernicus has %q", selector, got, want)
		}
	}
	for _, selector := range []string{"/~gophdann/", "/~gophdbob/"} {
		if got, want := links(d.Ask(selector)), links(peer(selector)); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s links %q, gophernicus %q", selector, got, want)
		}
	}
	missing := d.Ask("/~gophdnobody/x")
	for _, selector := range []string{"/~gophdcleo/secret.txt", "/~gophdcleo/", "/~gophddan/", "/~root/", "/~gophdann/.robots", "/~gophdann/../../etc/passwd"} {
		if got := d.Ask(selector); got != missing || !strings.HasPrefix(got, "3") {
			t.Errorf("%s: %q, want what a missing user gives", selector, got)
		}
	}
	if got := links(d.Ask("/")); !slices.Equal(got, []string{"/~gophdann/", "/~gophdbob/"}) {
		t.Errorf("the list of users links %q", got)
	}
	if got := d.ask("robots.txt"); !strings.Contains(got, "Disallow: /~gophdann/phlog") {
		t.Errorf("robots.txt: %q", got)
	}

	// A new directory in a home that no event tells of.
	dan := "/home/gophddan/public_gopher"
	must(t, os.Chmod("/home/gophddan", 0o711))
	must(t, os.MkdirAll(filepath.Join(dan, "late"), 0o755))
	must(t, os.WriteFile(filepath.Join(dan, ".robots"), []byte("Disallow: /late/\n"), 0o644))
	must(t, exec.Command("chown", "-R", "gophddan:", dan).Run())
	d.Until("a new user's annotation", func() bool { return strings.Contains(d.ask("robots.txt"), "/~gophddan/late") })
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

// TestUsersNotAsRoot: root could read what users hide.
func TestUsersNotAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can serve as root")
	}
	out, err := exec.Command(harness.Program(t), "-listen", "127.0.0.1:0", "-root", t.TempDir(), "-users", "/home/*/public_gopher").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("gophd: hint: -user ")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHosts: a TLS client chooses a site by name, others by the address that they
// reach; any other name gives the first site.
func TestHosts(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{"one/x.txt": "one\n", "one/gophermap": "%\n*\n", "two/x.txt": "two\n", "two/.robots": "Disallow: /two/\n", "two/two/y": "", "other/x.txt": "outside\n"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	second, release, err := harness.Reserve("127.0.0.2")
	must(t, err)
	defer release()
	d := serve(t, filepath.Join(dir, "one"), "-vhost", "Two.Example.="+filepath.Join(dir, "two"), "-listen", second+"=two.example.",
		"-tls-self-signed", filepath.Join(dir, "tls"), "-http", "view")
	if line := d.WaitLog("gopher://two.example:"); !strings.Contains(line, `"root":"`+filepath.Join(dir, "two")) {
		t.Errorf("its address is logged so: %s", line)
	}
	ask := func(addr, name, selector string) string {
		conf := harness.AnyCert(name)
		got, err := harness.Exchange("", addr, selector+"\r\n", conf)
		if err != nil {
			t.Errorf("%s as %q: %v", selector, name, err)
		}
		return string(got)
	}
	for _, name := range []string{"two.example", "TWO.Example", "two.example."} {
		if got := ask(d.addr, name, "/x.txt"); got != "two\n" {
			t.Errorf("as %q: %q", name, got)
		}
	}
	for _, name := range []string{"", "one.example", "other", "two", "two.example.evil", "..", "../other", "two/../../other", "127.0.0.1", "two.example\x00",
		strings.Repeat("a", 200), "-", "%2e%2e"} {
		if got := ask(d.addr, name, "/x.txt"); got != "one\n" {
			t.Errorf("as %q: %q", name, got)
		}
	}
	curl, port := harness.Tool(t, "curl"), d.addr[strings.LastIndexByte(d.addr, ':'):]
	for _, url := range []string{"gophers://two.example" + port + "/0/x.txt", "gophers://TWO.EXAMPLE." + port + "/0/x.txt", "https://two.example." + port + "/x.txt", "http://two.example" + port + "/x.txt"} {
		cmd := exec.Command(curl, "-sk", "--connect-to", "::127.0.0.1"+port, url)
		if out, err := cmd.Output(); string(out) != "two\n" || err != nil {
			t.Errorf("curl %s: %q %v", url, out, err)
		}
	}
	if got, err := harness.Ask(second, "/x.txt"); got != "two\n" || err != nil {
		t.Errorf("by address: %q %v", got, err)
	}
	if got, _ := harness.Ask(second, "/"); !strings.Contains(got, "\ttwo.example\t") || strings.Contains(got, "127.0.0.1") {
		t.Errorf("the second site's menu names %q", got)
	}
	one, two := d.ask("robots.txt"), ask(d.addr, "two.example", "robots.txt")
	if strings.Contains(one, "/two") || !strings.Contains(two, "Disallow: /two") {
		t.Errorf("the policies are mixed up:\n%s\n%s", one, two)
	}
	if got := d.Ask("/"); !strings.Contains(got, "1two.example\t") {
		t.Errorf("%% does not list the host: %q", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "two", ".robots"), []byte("Disallow: /new/\n"), 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "two", "new"), 0o755))
	d.Until("the second site follows its tree", func() bool { return strings.Contains(ask(d.addr, "two.example", "robots.txt"), "/new") })
}

func TestHostMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"-vhost", "two.example"}, {"-vhost", "=" + dir}, {"-vhost", "10.0.0.1=" + dir}, {"-vhost", "a..b=" + dir}, {"-vhost", "a/b=" + dir},
		{"-vhost", "a_b=" + dir}, {"-vhost", "-a=" + dir}, {"-vhost", "x=" + dir, "-vhost", "X=" + dir}, {"-listen", "127.0.0.1:0=nobody"},
		{"-mount", "pub"}, {"-mount", "/=" + dir}, {"-mount", "a=" + dir, "-mount", "/a/=" + dir}, {"-users", "/home/public_gopher"},
	} {
		cmd := exec.Command(harness.Program(t), append([]string{"-root", dir}, args...)...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !bytes.Contains(out, []byte("gophd: hint: ")) {
			t.Errorf("%q: status %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
	for _, args := range [][]string{{"-vhost", "x.example=" + dir + "/missing"}, {"-mount", "a/b=" + dir}, {"-mount", "a=" + dir + "/missing"}, {"-mount", ".git=" + dir}} {
		cmd := exec.Command(harness.Program(t), append([]string{"-root", dir, "-listen", "127.0.0.1:0"}, args...)...)
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%q: it starts\n%s", args, out)
		}
	}
}
