package e2e_test

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// program runs a FastCGI application until the test ends. It is not root, if the
// test is.
func program(t *testing.T, socket string, words ...string) {
	t.Helper()
	cmd := exec.Command(harness.Tool(t, words[0]), words[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has children
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
	if !eventually(func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}) {
		t.Fatalf("%s does not listen", words[0])
	}
}

// shared makes a directory that everybody may use.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gophd-programs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

var scripts = map[string]string{
	"index.txt": "static\n",
	"cgi-bin/book.cgi": `#!/bin/sh
if [ "$SEARCHREQUEST" ]; then printf '%s\n' "$SEARCHREQUEST" >>"$DOCUMENT_ROOT/../book"; fi
printf '0Entries\t/cgi-bin/book.cgi\thost\t70\r\n'
sed 's/^/i/; s/$/\t\terror.host\t1/' "$DOCUMENT_ROOT/../book"
`,
	"cgi-bin/env.cgi":     "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nenv\n",
	"cgi-bin/missing.cgi": "#!/bin/sh\nprintf 'Status: 404 Not Found\\n\\nsecret'\n",
	"cgi-bin/stderr.cgi":  "#!/bin/sh\nprintf 'evil \\033[2J\\n' >&2\necho done\n",
	"cgi-bin/silent.cgi":  "#!/bin/sh\n",
	"cgi-bin/bytes.cgi":   "#!/bin/sh\nprintf 'Content-Type: x/y\\n\\n'\nprintf 'a\\nb\\r\\n\\000\\377'\n",
	"now/gophermap":       "#!/bin/sh\necho Hello from $SERVER_NAME\nprintf '0A text\\ttext.txt\\n'\n",
	"now/text.txt":        "text\n",
	"plain/gophermap":     "just a map\n",
	"tools/list.dcgi":     "#!/bin/sh\necho \"it is $QUERY_STRING for $PATH_INFO\"\necho '[0|A text|/index.txt|server|port]'\n",
	"tools/hello.php":     "<?php header('Content-Type: text/plain'); echo 'php for ', $_SERVER['SEARCHREQUEST'], ' in ', $_SERVER['GOPHER_PROTOCOL'], \"\\n\";\n",
}

func programTree(t *testing.T) (root, sockets string) {
	t.Helper()
	dir := shared(t)
	root = filepath.Join(dir, "root")
	for name, text := range scripts {
		name = filepath.Join(root, name)
		write(t, name, text)
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root, dir
}

// TestFcgiwrap runs scripts as people have them behind Debian's fcgiwrap.
func TestFcgiwrap(t *testing.T) {
	root, dir := programTree(t)
	socket := filepath.Join(dir, "s")
	program(t, socket, "fcgiwrap", "-f", "-s", "unix:"+socket)
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	elsewhere := shared(t)
	write(t, filepath.Join(elsewhere, "where.dcgi"), "#!/bin/sh\necho \"$SCRIPT_FILENAME of $DOCUMENT_ROOT\"\n")
	if err := os.Chmod(filepath.Join(elsewhere, "where.dcgi"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := serve(t, root, "-mount", "/elsewhere="+elsewhere, "-fastcgi", "/cgi-bin="+socket, "-fastcgi", "/now="+socket, "-fastcgi", "/plain="+socket, "-fastcgi", "*.dcgi="+socket, "-port", "70")
	d.ask("/cgi-bin/book.cgi\tfirst entry; $(rm -rf /)")
	for sel, want := range map[string]string{
		"/cgi-bin/book.cgi\tsecond": "0Entries\t/cgi-bin/book.cgi\thost\t70\r\nifirst entry; $(rm -rf /)\t\terror.host\t1\r\nisecond\t\terror.host\t1\r\n",
		"/cgi-bin/missing.cgi":      "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n",
		"/cgi-bin/nowhere.cgi":      "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n",
		"/cgi-bin/../index.txt":     "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n",
		"/cgi-bin/silent.cgi":       "3The program failed\t\terror.host\t1\r\n.\r\n",
		"cgi-bin/bytes.cgi":         "a\nb\r\n\x00\xff",
		"/cgi-bin/stderr.cgi":       "done\r\n", // fcgiwrap's
		"/now/":                     "iHello from 127.0.0.1\t\terror.host\t1\r\n0A text\t/now/text.txt\t127.0.0.1\t70\r\n.\r\n",
		"/now":                      "iHello from 127.0.0.1\t\terror.host\t1\r\n0A text\t/now/text.txt\t127.0.0.1\t70\r\n.\r\n",
		"/plain/":                   "ijust a map\t\terror.host\t1\r\n.\r\n",
		"/tools/list.dcgi?x=1":      "iit is x=1 for \t\terror.host\t1\r\n0A text\t/index.txt\t127.0.0.1\t70\r\n.\r\n",
		"/tools/list.dcgi/a\tb":     "iit is b for /a\t\terror.host\t1\r\n0A text\t/index.txt\t127.0.0.1\t70\r\n.\r\n",
		"/tools/none.dcgi":          "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n",
		"/elsewhere/where.dcgi":     "i" + elsewhere + "/where.dcgi of " + root + "\t\terror.host\t1\r\n.\r\n",
		"/index.txt":                "static\n",
	} {
		got := d.ask(sel)
		if sel == "/cgi-bin/book.cgi\tsecond" {
			got = strings.ReplaceAll(strings.ReplaceAll(got, "\r\n", "\n"), "\n", "\r\n") // fcgiwrap changes the first lines
		}
		if got != want {
			t.Errorf("%q: %q, want %q", sel, got, want)
		}
	}
	d.WaitLog(`evil \\x1b[2J`)
}

// TestProgramsAreToldOfTheListOnly: fcgiwrap hands every parameter to its child's
// environment, so nothing that a client chooses may be a name.
func TestProgramsAreToldOfTheListOnly(t *testing.T) {
	root, dir := programTree(t)
	socket := filepath.Join(dir, "s")
	program(t, socket, "fcgiwrap", "-s", "unix:"+socket)
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	d := serve(t, root, "-fastcgi", "/cgi-bin="+socket)
	told := map[string]string{}
	for l := range strings.Lines(d.ask("/cgi-bin/env.cgi/more?LD_PRELOAD=/x\tq=1&PATH=/evil")) {
		name, value, _ := strings.Cut(strings.TrimSpace(l), "=")
		told[name] = value
	}
	for name, want := range map[string]string{
		"SCRIPT_NAME": "/cgi-bin/env.cgi", "SCRIPT_FILENAME": root + "/cgi-bin/env.cgi", "PATH_INFO": "/more", "TRAVERSAL": "/more",
		"QUERY_STRING": "LD_PRELOAD=/x", "SEARCHREQUEST": "q=1&PATH=/evil", "X_GOPHER_SEARCH": "q=1&PATH=/evil", "SELECTOR": "/cgi-bin/env.cgi/more?LD_PRELOAD=/x",
		"REMOTE_ADDR": "127.0.0.1", "LOCAL_ADDR": "127.0.0.1", "SERVER_PROTOCOL": "HTTP/1.0", "GOPHER_PROTOCOL": "gopher", "SERVER_HOST": "127.0.0.1", "GOPHER_CHARSET": "UTF-8", "SERVER_NAME": "127.0.0.1", "DOCUMENT_ROOT": root,
	} {
		if told[name] != want {
			t.Errorf("%s=%q, want %q", name, told[name], want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		if !slices.Contains([]string{
			"GATEWAY_INTERFACE", "REQUEST_METHOD", "SERVER_SOFTWARE", "SERVER_PROTOCOL", "GOPHER_PROTOCOL", "GOPHER_CHARSET", "SERVER_HOST", "SERVER_VERSION", "SERVER_ARCH", "SERVER_DESCRIPTION", "SERVER_CODENAME", "SERVER_NAME", "SERVER_PORT", "REMOTE_ADDR", "REMOTE_HOST",
			"REMOTE_PORT", "LOCAL_ADDR", "DOCUMENT_ROOT", "SCRIPT_NAME", "SCRIPT_FILENAME", "PATH_INFO", "PATH_TRANSLATED", "TRAVERSAL", "SELECTOR", "REQUEST", "QUERY_STRING",
			"SEARCHREQUEST", "X_GOPHER_SEARCH", "COLUMNS", "FCGI_ROLE", "PATH", "PWD", "_", "SHLVL", "OLDPWD",
			"LD_LIBRARY_PATH", "PYTHONPATH", // of a program that is only unpacked (test/deps)
		}, name) {
			t.Errorf("programs are told %s=%q", name, told[name])
		}
	}
}

// TestPHP runs a script in Debian's php-fpm.
func TestPHP(t *testing.T) {
	root, dir := programTree(t)
	socket, conf := filepath.Join(dir, "s"), filepath.Join(dir, "conf")
	write(t, conf, fmt.Sprintf("[global]\ndaemonize = no\nerror_log = %s/log\n[www]\nlisten = %s\nlisten.mode = 0666\npm = static\npm.max_children = 2\n", dir, socket))
	program(t, socket, "php-fpm8.2", "-n", "-y", conf)
	d := serve(t, root, "-fastcgi", "*.php="+socket)
	if got, want := d.ask("/tools/hello.php\twalrus"), "php for walrus in gopher\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := d.ask("/tools/none.php"); !strings.HasPrefix(got, "3Not found") {
		t.Error(got)
	}
}

// TestNoProgram: without its socket a program costs its own requests; in the tree
// its source is not shown.
func TestNoProgram(t *testing.T) {
	root, dir := programTree(t)
	d := serve(t, root, "-fastcgi", "/cgi-bin="+filepath.Join(dir, "none"))
	if got := d.ask("/cgi-bin/env.cgi"); !strings.HasPrefix(got, "3The program does not answer\t") {
		t.Error(got)
	}
	if got := d.ask("/tools/list.dcgi"); !strings.HasPrefix(got, "3Not found: nothing here has that name\t") {
		t.Error(got)
	}
}

// TestProgramsOnHosts: every host has the programs, with its own DOCUMENT_ROOT, and
// shows the source of none, neither over Gopher nor over HTTP.
func TestProgramsOnHosts(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	defer func() { _ = l.Close() }()
	go func() { // an application that answers with what it was asked
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			raw := make([]byte, 8<<10)
			n, _ := c.Read(raw)
			_, _ = c.Write(append([]byte{1, 6, 0, 1, byte(n >> 8), byte(n), 0, 0}, raw[:n]...))
			_, _ = c.Write([]byte{1, 3, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
			_ = c.Close()
		}
	}()
	two, secret := filepath.Join(dir, "two"), "PASSWORD=secret\n"
	write(t, filepath.Join(dir, "one", "x.txt"), "one\n")
	for _, name := range []string{"y.php", "app/conf.ini", "sub/link.txt"} {
		write(t, filepath.Join(two, name), secret)
	}
	must(t, os.Remove(filepath.Join(two, "sub/link.txt")))
	must(t, os.Symlink("../y.php", filepath.Join(two, "sub/link.txt")))
	second, release, err := harness.Reserve("127.0.0.2")
	must(t, err)
	defer release()
	d := serve(t, filepath.Join(dir, "one"), "-vhost", "two.example="+two, "-listen", second+"=two.example",
		"-fastcgi", "*.php="+l.Addr().String(), "-fastcgi", "/app="+l.Addr().String(), "-http", "view")
	d.Until("the second host's file says nothing of programs", func() bool {
		got, err := harness.Ask(second, "robots.txt")
		return err == nil && strings.Contains(got, "Disallow: /app") && strings.Contains(got, ".php")
	})
	for _, sel := range []string{"/y.php", "/app/conf.ini", "/sub/link.txt", "GET /y.php HTTP/1.0\r\n", "GET /0/app/conf.ini HTTP/1.0\r\n", "GET /sub/link.txt HTTP/1.0\r\n"} {
		got, err := harness.Ask(second, sel)
		if err != nil || strings.Contains(got, "secret") {
			t.Errorf("%q: %q, %v", sel, got, err)
		}
		if strings.HasPrefix(sel, "/y") || strings.HasPrefix(sel, "/app") {
			if want := "DOCUMENT_ROOT" + two; !strings.Contains(got, want) {
				t.Errorf("%q: no %s in %q", sel, want, got)
			}
		}
	}
}
