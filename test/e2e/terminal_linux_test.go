package e2e_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/gophd/gophd/test/e2e/harness"
)

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestLogOnTerminal: one short line for each event, in colours, requests too.
func TestLogOnTerminal(t *testing.T) {
	root := tree(t, map[string]string{"a.txt": "A\n", "phlog/.robots": "Dissallow: /x\n"})
	cmd := exec.Command(harness.Program(t), "-root", root, "-listen", "127.0.0.1:0", "-host", "gopher.example")
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
	s := harness.OnScreen(t, cmd)
	await := func(text string) {
		t.Helper()
		if !eventually(func() bool { return strings.Contains(colour.ReplaceAllString(s.String(), ""), text) }) {
			t.Fatalf("no %q on the screen:\n%s", text, s)
		}
	}
	await("| nc 127.0.0.1 ")
	match := regexp.MustCompile(`nc (\S+) (\d+)`).FindStringSubmatch(s.String())
	for _, selector := range []string{"/a.txt", "/nothing", "/\x1b[31mred", "robots.txt"} {
		if _, err := harness.Ask(net.JoinHostPort(match[1], match[2]), selector); err != nil {
			t.Fatal(err)
		}
	}
	await(`info  127.0.0.1 "/a.txt", 2 bytes, `)
	await(`"/nothing"`)
	await("phlog/.robots:1: ")
	await("scanned 2 directories in ")
	text := s.String()
	text = text[:strings.LastIndexByte(text, '\n')+1] // the last line may be under way
	if !strings.Contains(text, "\x1b[1;31merror") {
		t.Error("no colours")
	}
	plain := colour.ReplaceAllString(text, "")
	if strings.Contains(plain, "\x1b") {
		t.Errorf("the terminal obeys a client:\n%q", plain)
	}
	line := regexp.MustCompile(`^\d\d:\d\d:\d\d (error|warn |info |debug) \S`)
	for l := range strings.Lines(plain) {
		if l = strings.TrimRight(l, "\r\n"); !line.MatchString(l) || !strings.Contains(l, "hint: ") && !strings.Contains(l, "try: ") && utf8.RuneCountInString(l) > 120 {
			t.Errorf("not one short line: %q", l)
		}
	}
	t.Logf("\n%s", plain)
}

// TestLogElsewhere: off a terminal the log tells what goes wrong and what
// changes, as text, and leaves requests to the access log.
func TestLogElsewhere(t *testing.T) {
	access := filepath.Join(t.TempDir(), "access.log")
	cmd := exec.Command(harness.Program(t), "-root", tree(t, map[string]string{"a.txt": "A\n"}), "-listen", "127.0.0.1:0",
		"-access-log", access, "-log-format", "auto", "-v=false")
	d := harness.StartCmd(t, cmd)
	d.Ask("/a.txt")
	d.Until("the access log has the request", func() bool {
		text, _ := os.ReadFile(access)
		return strings.Contains(string(text), `"/a.txt" 200 2`)
	})
	d.WaitLog("level=INFO msg=scanned ")
	d.Stop()
	if strings.Contains(d.Log(), "/a.txt") || !strings.Contains(d.Log(), "level=INFO msg=serving ") {
		t.Errorf("the log:\n%s", d.Log())
	}
}

// TestLogInJournal: under systemd the journal gets text, its priority, and
// fields. The journal is a socket of ours, in a mount namespace.
func TestLogInJournal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can put a socket of its own in the journal's place")
	}
	dir, err := os.MkdirTemp("", "journal") // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: dir + "/socket", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	var mu sync.Mutex
	var entries []string
	go func() {
		b := make([]byte, 64<<10)
		for {
			n, err := socket.Read(b)
			if err != nil {
				return
			}
			mu.Lock()
			entries = append(entries, string(b[:n]))
			mu.Unlock()
		}
	}()
	root := tree(t, map[string]string{"phlog/.robots": "Dissallow: /x\n"})
	script := `mount -t tmpfs none /run && mkdir -p /run/systemd/journal && mount --bind "$0" /run/systemd/journal &&
		JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$@"`
	if out, err := exec.Command("unshare", "-m", "sh", "-c", script, dir, "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %v %s", err, out)
	}
	cmd := exec.Command("unshare", "-m", "sh", "-c", script, dir, harness.Program(t), "-root", root, "-listen", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	must(t, cmd.Start())
	said := make(chan string, 1)
	go func() { var b bytes.Buffer; _, _ = b.ReadFrom(stderr); said <- b.String() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	has := func(parts ...string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range entries {
				all := true
				for _, p := range parts {
					all = all && strings.Contains(e, p)
				}
				if all {
					return true
				}
			}
			return false
		}
	}
	for _, want := range [][]string{
		{"PRIORITY=6\n", "MESSAGE=serving ", "GOPHD_URL=gopher://", "SYSLOG_IDENTIFIER=gophd\n"},
		{"PRIORITY=3\n", "MESSAGE=phlog/.robots:1: ", "GOPHD_FILE=phlog/.robots\n", "GOPHD_LINE=1\n"},
	} {
		if !eventually(has(want...)) {
			_ = cmd.Process.Kill()
			mu.Lock()
			t.Fatalf("the journal has no entry with %q:\n%q\nstandard error: %s", want, entries, <-said)
		}
	}
	_ = cmd.Process.Kill()
	if got := <-said; got != "" {
		t.Errorf("standard error has it, too: %s", got)
	}
}

// TestGetOnTerminal: a text that would command the terminal is shown; into a pipe
// it comes as it is, and with -raw everywhere.
func TestGetOnTerminal(t *testing.T) {
	evil := "one\x1b[2Jtwo\x9b\u009b\u202e\nthree\n"
	d := serve(t, tree(t, map[string]string{"evil.txt": evil}))
	url := "gopher://" + d.addr + "/0/evil.txt"
	s := harness.OnScreen(t, exec.Command(harness.Program(t), "get", url))
	if !eventually(func() bool { return strings.Contains(s.String(), "three") }) || strings.ContainsAny(s.String(), "\x1b\u009b\u202e") ||
		!strings.Contains(s.String(), `one\x1b[2Jtwo\x9b`) {
		t.Errorf("on a terminal: %q", s)
	}
	raw := harness.OnScreen(t, exec.Command(harness.Program(t), "get", "-raw", url))
	if !eventually(func() bool { return strings.Contains(raw.String(), "three") }) || !strings.Contains(raw.String(), "\x1b[2J") {
		t.Errorf("-raw on a terminal: %q", raw)
	}
	if out, err := exec.Command(harness.Program(t), "get", url).Output(); err != nil || string(out) != evil {
		t.Errorf("into a pipe: %q, %v", out, err)
	}
}
