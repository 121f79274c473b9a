package e2e_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestManualShowsWhatIsPrinted types what the manual, the README and doc/asking.md
// show. A command is a line "    $ ...", with lines "    > ..." that continue it;
// what follows, up to a line that is not indented, is what it prints, and "..."
// stands for any lines. The commands of a page are one session, in a directory that
// holds nothing but content/; "&" at the end starts a server on port 7070, here
// another one, and what a server prints is its log on a terminal, without colours.
func TestManualShowsWhatIsPrinted(t *testing.T) {
	pages, err := filepath.Glob("../../content/manual/*.txt")
	must(t, err)
	sessions := 0
	for _, page := range pages {
		if slices.Contains(installing, filepath.Base(page)) {
			continue // TestInstallationPages
		}
		text, err := os.ReadFile(page)
		must(t, err)
		if steps := session(string(text), "    "); len(steps) > 0 {
			sessions++
			t.Run(filepath.Base(page), func(t *testing.T) { play(t, steps) })
		}
	}
	if sessions < 5 {
		t.Errorf("only %d pages show anything", sessions)
	}
	for _, page := range []string{"README.md", "doc/asking.md"} {
		text, err := os.ReadFile("../../" + page)
		must(t, err)
		steps := session(string(text), "")
		if len(steps) < 4 {
			t.Fatalf("%s has only %d steps: %q", page, len(steps), steps)
		}
		t.Run(path.Base(page), func(t *testing.T) { play(t, steps) })
	}
}

// TestShownCode compiles the Go code that doc/from-go.md shows, and runs the first
// block, whose comment says what it prints.
func TestShownCode(t *testing.T) {
	page, err := os.ReadFile("../../doc/from-go.md")
	must(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of Go", len(blocks))
	}
	code := "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"io\"\n\t\"net/http\"\n\t\"os\"\n"
	for _, name := range []string{"answer", "answer/gopher", "menu", "robots", "robots/client",
		"server", "site"} {
		code += "\t\"github.com/gophd/gophd/" + name + "\"\n"
	}
	code += ")\n\nfunc main() {\n" + blocks[0][1] + "}\n\n" +
		"func robot(ctx context.Context) error {\n" + blocks[1][1] + "return nil\n}\n\n" +
		"func serve(ctx context.Context) error {\n" + blocks[2][1] + "}\n"
	file := filepath.Join(t.TempDir(), "shown.go")
	write(t, file, code)
	cmd := exec.Command("go", "run", file)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	_, want, _ := strings.Cut(blocks[0][1], "// ")
	if err != nil || string(out) != want {
		t.Errorf("it prints %q, not %q (%v)", out, want, err)
	}
}

// step is a command that a page shows, and what it prints.
type step struct{ command, output string }

// prints reports whether a text is what a step shows.
func (s step) prints(text string) bool {
	want := strings.ReplaceAll(regexp.QuoteMeta(s.output), `\.\.\.`+"\n", "(?s:.*)")
	return regexp.MustCompile(`\A` + want + `\z`).MatchString(text)
}

// session returns the steps of a page. If they are not indented, they are fenced.
func session(page, indent string) (steps []step) {
	inside := false
	for line := range strings.Lines(page) {
		line, indented := strings.CutPrefix(line, indent)
		command, begins := strings.CutPrefix(line, "$ ")
		more, continued := strings.CutPrefix(line, "> ")
		if indent == "" {
			indented = !strings.HasPrefix(line, "```")
		}
		switch {
		case !indented:
			inside = false
		case begins:
			inside = true
			steps = append(steps, step{command: strings.TrimSuffix(command, "\n")})
		case inside && continued && steps[len(steps)-1].output == "":
			steps[len(steps)-1].command += "\n" + strings.TrimSuffix(more, "\n")
		case inside:
			steps[len(steps)-1].output += line
		}
	}
	return steps
}

// firstWords finds the programs of a pipeline.
var firstWords = regexp.MustCompile(`(?:^|\| )([a-z][a-z0-9-]*)`)

// play runs a session and compares what each step prints.
func play(t *testing.T, steps []step) {
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "content"), os.DirFS("../../content")))
	_, port, _ := net.SplitHostPort(harness.FreeAddrs(t, 1)[0])
	search := filepath.Dir(harness.Program(t)) + ":/usr/bin:/bin"
	const mark = "\x01step\n"
	script := "exec 2>&1\nserver=\ntrap 'for p in $server; do kill $p; done; wait' EXIT\n"
	for i, s := range steps {
		line, _, _ := strings.Cut(s.command, "\n")
		for _, word := range firstWords.FindAllStringSubmatch(line, -1) {
			if exec.Command("env", "PATH="+search, "sh", "-c", "command -v "+word[1]).Run() != nil {
				search += ":" + filepath.Dir(harness.Tool(t, word[1]))
			}
		}
		command, server := strings.CutSuffix(s.command, "&")
		script += "printf '\\001step\\n'\n" + command
		if !server {
			script += "\n"
		} else {
			script += fmt.Sprintf(">log%d 2>&1 &\n", i) +
				"server=\"$server $!\"\nuntil gophd get gopher://localhost:7070/0/robots.txt >/dev/null 2>&1; do kill -0 $! || exit 9; sleep 0.05; done\n"
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*harness.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(script, "7070", port))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	} // its servers, too
	cmd.WaitDelay = harness.Timeout
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(patient), "HOME="+dir, "PATH="+search, "GOPHD_LOG_FORMAT=short")
	out, _ := cmd.CombinedOutput() // its status is that of the last step
	got := strings.Split(strings.ReplaceAll(string(out), port, "7070"), mark)[1:]
	for i, s := range steps {
		if i >= len(got) {
			t.Fatalf("$ %s\nwas not reached:\n%s", s.command, out)
		}
		if strings.HasSuffix(s.command, "&") && s.output != "" {
			log, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("log%d", i)))
			must(t, err)
			got[i] = sameTime(strings.ReplaceAll(string(log), port, "7070"))
			s.output = sameTime(s.output)
		}
		if !s.prints(got[i]) {
			t.Errorf("$ %s\nprints\n%s\nand the page shows\n%s", s.command, got[i], s.output)
		}
	}
}

// sameTime makes the times of a log, and how long things took, all the same.
func sameTime(log string) string {
	log = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `).ReplaceAllString(log, "15:04:05 ")
	return regexp.MustCompile(`in [0-9.]+(ns|µs|ms|s): `).ReplaceAllString(log, "in 1ms: ")
}
