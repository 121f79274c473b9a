package e2e_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestUMN starts the client of the University of Minnesota on a terminal: it
// asks for the root as no other client does, and shows nothing if it does not
// get its +INFO blocks.
func TestUMN(t *testing.T) {
	harness.Tool(t, "gopher")
	d := content(t)
	host, port, err := net.SplitHostPort(d.Addr)
	must(t, err)
	screen := onTerminal(t, "stty rows 100 cols 150; exec gopher "+host+" "+port, []reaction{
		{"Press RETURN", "\r"}, {"Page: 1/1", "q"}, {"Really quit", "y"},
	})
	for _, it := range d.items("") {
		if label := strings.TrimSpace(it.Label); it.Type != 'i' &&
			!strings.Contains(screen, label) {
			t.Errorf("the root is shown without %q:\n%s", label, screen)
		}
	}
}

// reaction is what to type when something is seen on the screen.
type reaction struct{ seen, typed string }

var escapes = regexp.MustCompile(`\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])|\x0f`)

// onTerminal runs a shell command on a terminal, reacts, and returns what was on
// the screen.
func onTerminal(t *testing.T, command string, reactions []reaction) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Tool(t, "script"), "-qec", command, "/dev/null")
	cmd.Env = append(os.Environ(), "TERM=vt100", "HOME="+t.TempDir())
	keys, err := cmd.StdinPipe()
	must(t, err)
	shown, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	timer := time.AfterFunc(harness.Timeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var screen bytes.Buffer
	for buf := make([]byte, 4096); ; {
		n, err := shown.Read(buf)
		screen.Write(buf[:n])
		if err != nil {
			break
		}
		for len(reactions) > 0 && strings.Contains(screen.String(), reactions[0].seen) {
			if _, err := keys.Write([]byte(reactions[0].typed)); err != nil {
				t.Fatal(err)
			}
			reactions = reactions[1:]
		}
	}
	text := escapes.ReplaceAllString(screen.String(), "")
	if err := cmd.Wait(); err != nil || len(reactions) > 0 {
		t.Fatalf("the client has ended with %v, %d reactions to go:\n%s", err, len(reactions), text)
	}
	return text
}
