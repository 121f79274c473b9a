package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/test/e2e/harness"
)

// The scripts in testdata/script use gophd as people do. Beside the commands of
// testscript they have these, and those of scriptserve_test.go,
// scriptgopher_test.go and scriptfronts_test.go:
//
//	exits STATUS [nobody] COMMAND...  runs a command, which must end with that
//	                                  status; as a user without rights
//	mistake STATUS HINT [nobody] COMMAND...  runs one that must end so, with that hint
//	needs PROGRAM...              skips the script where one is missing; with TEST_GOPHD_ALL fails
//	program SOCKET COMMAND...     runs one that serves FastCGI at a socket, until the end
//	sandboxed                     skips it where the kernel cannot forbid everything
//	fits LINES COLUMNS                the last output is not larger than that
//	sparse FILE BYTES                makes a file of that size that takes no room
func TestScripts(t *testing.T) {
	gophd := harness.Program(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "mistake": mistake, "needs": needs, "program": startProgram,
			"sandboxed": sandboxed, "fits": fits, "sparse": sparseFile,
			"serve": startDaemon, "status": processStatus, "signal": signalDaemon,
			"ended": awaitEnd, "logged": logged,
			"serves": serves, "refuses": refuses, "hides": hides, "denies": denies,
			"allows": allows, "file": writeFile, "fifo": fifo,
			"gopher": gopher, "hold": hold, "finish": finish, "silent": silent, "refused": refused,
			"answers": answers,
		},
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, patient...)
			env.Setenv("GORACE", harness.RaceOptions)
			content, err := filepath.Abs("../../content")
			env.Setenv("CONTENT", content)
			env.Setenv("AS", fmt.Sprintf("-users-min-uid=%d", os.Getuid()))
			if os.Geteuid() == 0 {
				env.Setenv("AS", "-user=nobody")
			}
			env.Setenv("PROGRAM", gophd)
			env.Setenv("PATH", strings.Join([]string{filepath.Dir(gophd), env.Getenv("PATH"),
				"/usr/sbin", filepath.Join(harness.Cache(), "programs/bin")}, ":"))
			env.Values["daemon"] = &process{t: env.T().(testing.TB)}
			env.Values["held"] = &held{}
			return errors.Join(err, letIn(env.WorkDir), letIn(filepath.Dir(gophd)))
		},
		Condition: condition,
	})
}

// condition has the conditions of the scripts beside those of testscript.
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "low-ports-need-a-right":
		text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
		first, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return errors.Is(err, fs.ErrNotExist) || first > 70, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// letIn lets everybody pass to a directory of this test, for the user nobody.
func letIn(dir string) error {
	for tmp := filepath.Clean(os.TempDir()); dir != tmp && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = asNobody(args[1:])
	err = ts.Exec(args[0], args[1:]...)
	got, failed := 0, &exec.ExitError{}
	if errors.As(err, &failed) {
		got, err = failed.ExitCode(), nil
	}
	if err != nil || got != want {
		ts.Fatalf("exit status %d, %v, want %d", got, err, want)
	}
}

func mistake(ts *testscript.TestScript, _ bool, args []string) {
	exits(ts, false, append([]string{args[0]}, args[2:]...))
	if hint := "(?m)^gophd: hint: .*" +
		args[1]; !regexp.MustCompile(hint).MatchString(ts.ReadFile("stderr")) {
		ts.Fatalf("no hint with %q", args[1])
	}
}

func needs(ts *testscript.TestScript, _ bool, args []string) {
	for _, program := range args {
		harness.Tool(processOf(ts).t, program)
	}
}

func startProgram(ts *testscript.TestScript, _ bool, args []string) {
	program(processOf(ts).t, args[0], args[1:]...)
	ts.Check(os.Chmod(args[0], 0o666))
}

func sandboxed(ts *testscript.TestScript, _ bool, _ []string) {
	if !sandbox.Available().Full() {
		processOf(ts).t.Skip("this kernel cannot forbid everything")
	}
}

// nobody runs a command without any rights.
var nobody = []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"}

// asNobody replaces the word "nobody" before a command by one that gives up all
// rights. Other users have none anyway.
func asNobody(args []string) []string {
	if args[0] != "nobody" {
		return args
	}
	if os.Geteuid() != 0 {
		return args[1:]
	}
	return append(slices.Clone(nobody), args[1:]...)
}

func fits(ts *testscript.TestScript, _ bool, args []string) {
	lines, err := strconv.Atoi(args[0])
	ts.Check(err)
	columns, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := strings.Split(ts.ReadFile("stdout"), "\n")
	if len(text)-1 > lines {
		ts.Fatalf("%d lines, want at most %d", len(text)-1, lines)
	}
	for _, line := range text {
		if utf8.RuneCountInString(line) > columns {
			ts.Fatalf("more than %d columns: %s", columns, line)
		}
	}
}

func sparseFile(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(name, nil, 0o644))
	ts.Check(os.Truncate(name, size))
}
