// Package acceptance uses gophd as people do: it builds the program, starts it
// on trees as they are found and as nobody wants to find them, and asks it with
// the clients that people have.
//
// With GOPHD_ACCEPTANCE set to 1, as in make test, a client that is not
// installed fails its tests; otherwise they are skipped.
package acceptance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/daemontest"
)

// program is the gophd that is tested.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gophd-acceptance")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "gophd")
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", program, "../../cmd/gophd")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building gophd: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// eventually asks until it is so, for as long as patience lasts.
func eventually(so func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return false
}

// daemon is a gophd that serves.
type daemon struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  string // its file
	addr string

	first string // the first reply, which is to robots.txt
}

// serve starts gophd on a free port, and ends it with the test; it must end as
// it should.
func serve(t *testing.T, root string, flags ...string) *daemon {
	t.Helper()
	return serveUnder(t, nil, root, flags...)
}

// serveUnder starts gophd by way of another program.
func serveUnder(t *testing.T, words []string, root string, flags ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, log: filepath.Join(t.TempDir(), "log")}
	log, err := os.Create(d.log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	words = append(words[:len(words):len(words)], program, "-root", root, "-listen", "127.0.0.1:0", "-host", "127.0.0.1",
		"-log-format", "json", "-drain", "100ms")
	words = append(words, flags...)
	d.cmd = exec.Command(words[0], words[1:]...)
	d.cmd.Stderr = log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.end)
	if !eventually(func() bool { d.addr = d.told(); return d.addr != "" }) {
		t.Fatalf("gophd does not serve:\n%s", d.logged())
	}
	if d.first = d.ask("robots.txt"); d.first == "" {
		t.Fatal("robots.txt is empty")
	}
	return d
}

func (d *daemon) end() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
	defer timer.Stop()
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("gophd ended with %v:\n%s", err, d.logged())
	}
	if log := d.logged(); strings.Contains(log, "panic") || strings.Contains(log, "not proven") || strings.Contains(log, "DATA RACE") {
		d.t.Errorf("something went wrong inside:\n%s", log)
	}
}

// told returns the address that gophd says it serves at, "" before it has.
func (d *daemon) told() string {
	for line := range strings.Lines(d.logged()) {
		var entry struct{ Msg, URL string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serving" {
			u, err := url.Parse(entry.URL)
			if err != nil {
				d.t.Fatal(err)
			}
			return u.Host
		}
	}
	return ""
}

func (d *daemon) logged() string {
	text, err := os.ReadFile(d.log)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// begin sends octets, and lets the caller read the reply.
func (d *daemon) begin(octets string) *net.TCPConn {
	d.t.Helper()
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(2 * patience)); err != nil {
		d.t.Fatal(err)
	}
	if _, err := io.WriteString(c, octets); err != nil {
		d.t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// ask returns the whole reply to a selector.
func (d *daemon) ask(selector string) string {
	d.t.Helper()
	c := d.begin(selector + "\r\n")
	reply, err := io.ReadAll(c)
	_ = c.Close()
	if err != nil {
		d.t.Errorf("asking %q: %v", selector, err)
	}
	return string(reply)
}

// tree makes files below a new directory and returns it. Names that end in a
// slash are directories.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		plant(t, filepath.Join(dir, name), text, strings.HasSuffix(name, "/"))
	}
	return dir
}

func plant(t *testing.T, path, text string, isDir bool) {
	t.Helper()
	parent := filepath.Dir(path)
	if isDir {
		parent = path
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	if isDir {
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// output runs a program to its end, in a home of its own, and returns what it
// has printed.
func output(t *testing.T, stdin string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), daemontest.Tool(t, words[0]), words[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C.UTF-8", "TERM=dumb")
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = patience
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", words, err, out, stderr.Bytes())
	}
	return string(out)
}

// lines returns the lines of a text without what clients change in them: the
// space at their ends, and the empty ones.
func lines(text string) []string {
	var all []string
	for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
		if line := strings.TrimSpace(scan.Text()); line != "" {
			all = append(all, line)
		}
	}
	return all
}
