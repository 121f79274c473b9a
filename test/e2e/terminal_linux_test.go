package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gophd/gophd/test/e2e/harness"
)

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestLogOnTerminal: one short line for each event, in colours, requests too.
func TestLogOnTerminal(t *testing.T) {
	root := tree(t, map[string]string{"a.txt": "A\n", "phlog/.robots": "Dissallow: /x\n"})
	cmd := exec.Command(harness.Program(t), "-root", root, "-listen", "127.0.0.1:0", "-host",
		"gopher.example")
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
	s := harness.OnScreen(t, cmd)
	await := func(text string) {
		t.Helper()
		if !eventually(func() bool {
			return strings.Contains(colour.ReplaceAllString(s.String(), ""), text)
		}) {
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
		if l = strings.TrimRight(l, "\r\n"); !line.MatchString(l) ||
			!strings.Contains(l, "hint: ") && !strings.Contains(l, "try: ") &&
				utf8.RuneCountInString(l) > 120 {
			t.Errorf("not one short line: %q", l)
		}
	}
	t.Logf("\n%s", plain)
}

// TestGetOnTerminal: a text that would command the terminal is shown; into a pipe
// it comes as it is, and with -raw everywhere.
func TestGetOnTerminal(t *testing.T) {
	evil := "one\x1b[2Jtwo\x9b\u009b\u202e\nthree\n"
	d := serve(t, tree(t, map[string]string{"evil.txt": evil}))
	url := "gopher://" + d.Addr + "/0/evil.txt"
	s := harness.OnScreen(t, exec.Command(harness.Program(t), "get", url))
	if !eventually(func() bool {
		return strings.Contains(s.String(), "three")
	}) || strings.ContainsAny(s.String(), "\x1b\u009b\u202e") ||
		!strings.Contains(s.String(), `one\x1b[2Jtwo\x9b`) {
		t.Errorf("on a terminal: %q", s)
	}
	raw := harness.OnScreen(t, exec.Command(harness.Program(t), "get", "-raw", url))
	if !eventually(func() bool {
		return strings.Contains(raw.String(), "three")
	}) || !strings.Contains(raw.String(), "\x1b[2J") {
		t.Errorf("-raw on a terminal: %q", raw)
	}
	if out, err := exec.Command(harness.Program(t), "get", url).Output(); err != nil ||
		string(out) != evil {
		t.Errorf("into a pipe: %q, %v", out, err)
	}
}
