package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gophd/gophd/test/e2e/harness"
)

// Commands of the scripts for a gophd that serves; each script has at most one
// at a time:
//
//	serve [nobody] [fronts] [FLAG]...  starts it on the free address $ADDR, or with all
//	                          fronts, and waits until it answers; %PORT% in a FLAG is that of $ADDR,
//	                          and the file first the first robots.txt
//	signal TERM|INT|HUP|KILL  sends it a signal
//	ended STATUS              waits until it has ended with that exit status; its log is
//	                          in the file log
//	status FIELD PATTERN      looks at that field of /proc/PID/status
//	[!] logged PATTERN        waits until the log holds that; has never held that

// process is a gophd that serves a script.
type process struct {
	t testing.TB
	*harness.Daemon
	fronts harness.Fronts
}

func processOf(ts *testscript.TestScript) *process {
	return ts.Value("daemon").(*process)
}

func startDaemon(ts *testscript.TestScript, _ bool, args []string) {
	p := processOf(ts)
	words := []string{ts.Getenv("PROGRAM")}
	if len(args) > 0 && args[0] == "nobody" {
		words = asNobody(append([]string{"nobody"}, words...))
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "fronts" {
		keys := ts.MkAbs("keys-of-fronts")
		ts.Check(os.MkdirAll(keys, 0o755))
		ts.Check(os.Chmod(keys, 0o777)) // for users without rights
		at, flags := harness.AllFronts(p.t, keys)
		p.fronts = at
		words = append(words, flags...)
		ts.Setenv("ADDR", at["gopher"])
		args = args[1:]
	} else {
		addr := harness.FreeAddrs(p.t, 1)[0] // with -quiet gophd does not tell which it has taken
		words = append(words, "-listen", addr)
		ts.Setenv("ADDR", addr)
	}
	port := harness.Port(ts.Getenv("ADDR"))
	ts.Setenv("PORT", port)
	for _, word := range args {
		words = append(words, strings.ReplaceAll(word, "%PORT%", port))
	}

	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "GOPHD_HOST=gopher.example")
	p.Daemon = harness.Run(p.t, cmd)
	p.Until("gophd answers", func() bool {
		reply, err := harness.Ask(ts.Getenv("ADDR"), "robots.txt")
		if err != nil || reply == "" {
			return false
		}
		ts.Check(os.WriteFile(ts.MkAbs("first"), []byte(reply), 0o644))
		return true
	})
}

func signalDaemon(ts *testscript.TestScript, _ bool, args []string) {
	processOf(ts).Signal(map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT,
		"HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[args[0]])
}

func awaitEnd(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	d := processOf(ts)
	if got := d.End(); got != want {
		ts.Fatalf("gophd: %v, want exit status %d\n%s", d.ProcessState, want, d.Tail())
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "log"), []byte(d.Log()), 0o644))
}

func logged(ts *testscript.TestScript, neg bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	found := func() bool { return pattern.MatchString(processOf(ts).Log()) }
	if neg == found() && (neg || !eventually(found)) {
		ts.Fatalf("the log must hold %q: %t\n%s", args[0], !neg, processOf(ts).Tail())
	}
}

func processStatus(ts *testscript.TestScript, _ bool, args []string) {
	status := ts.ReadFile(fmt.Sprintf("/proc/%d/status", processOf(ts).Process.Pid))
	if !regexp.MustCompile("(?m)^" + args[0] + `:\s*` + args[1] + `\s*$`).MatchString(status) {
		ts.Fatalf("%s is not %s in\n%s", args[0], args[1], status)
	}
}
