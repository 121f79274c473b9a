package e2e_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gophd/gophd/test/e2e/harness"
)

// Commands of the scripts for a gophd that serves; each script has at most one
// at a time:
//
//	serve [nobody] [FLAG]...  starts it on the free address $ADDR, its log in the
//	                          file log, and waits until it answers
//	signal TERM|INT|HUP       sends it a signal
//	ended STATUS              waits until it has ended with that exit status
//	[!] logged PATTERN        waits until the log holds that; has never held that

// daemon is a gophd that serves.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended, and cmd tells how
}

func processOf(ts *testscript.TestScript) *process { return ts.Value("daemon").(*process) }

func startDaemon(ts *testscript.TestScript, _ bool, args []string) {
	addr, release, err := harness.Reserve("127.0.0.1") // with -quiet gophd does not tell which it has taken
	ts.Check(err)
	ts.Defer(release)
	ts.Setenv("ADDR", addr)
	_, port, _ := net.SplitHostPort(addr)
	ts.Setenv("PORT", port)
	words := []string{ts.Getenv("PROGRAM")}
	if len(args) > 0 && args[0] == "nobody" {
		words, args = asNobody([]string{"nobody", ts.Getenv("PROGRAM")}), args[1:]
	}
	words = append(append(words, "-listen", addr), args...)
	log, err := os.OpenFile(ts.MkAbs("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	ts.Check(err)
	defer func() { _ = log.Close() }()

	d := process{cmd: exec.Command(words[0], words[1:]...), ended: make(chan struct{})}
	*processOf(ts) = d
	d.cmd.Dir, d.cmd.Stderr = ts.MkAbs("."), log
	d.cmd.Env = append(slices.Concat(os.Environ(), harness.LogEnv), "GOPHD_HOST=gopher.example", "GORACE="+harness.RaceOptions)
	ts.Check(d.cmd.Start())
	go func() { _ = d.cmd.Wait(); close(d.ended) }()
	ts.Defer(func() { _ = d.cmd.Process.Kill(); <-d.ended })
	if !eventually(func() bool { return answering(addr) }) {
		ts.Fatalf("gophd does not answer:\n%s", ts.ReadFile("log"))
	}
}

// answering reports whether a server has its robots.txt ready.
func answering(addr string) bool {
	reply, err := harness.Ask(addr, "robots.txt")
	return err == nil && reply != ""
}

func signalDaemon(ts *testscript.TestScript, _ bool, args []string) {
	sig := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}[args[0]]
	ts.Check(processOf(ts).cmd.Process.Signal(sig))
}

func awaitEnd(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	d := processOf(ts)
	select {
	case <-d.ended:
	case <-time.After(harness.Timeout):
		ts.Check(errors.New("gophd does not end"))
	}
	if got := d.cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("gophd: %v, want exit status %d", d.cmd.ProcessState, want)
	}
}

func logged(ts *testscript.TestScript, neg bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	found := func() bool { return pattern.MatchString(ts.ReadFile("log")) }
	if neg == found() && (neg || !eventually(found)) {
		ts.Fatalf("the log must hold %q: %t\n%s", args[0], !neg, ts.ReadFile("log"))
	}
}
