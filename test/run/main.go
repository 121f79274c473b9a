// Run runs go test in one or more ways at once and closes with one report: what failed,
// what was left out and why, and how many tests passed, failed and were skipped.
//
//	go run ./test/run [-note TEXT] -- 'FLAGS -- PACKAGES'...
//	go run ./test/run -again
//
// It tries nothing twice. bin/failed lists a command for each test that failed; -again
// runs each of these once, and reports a test that passes now as FLAKY. A data race stays
// a failure.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	module   = "github.com/gophd/gophd"
	failures = "bin/failed"
)

// An event is a line of go test -json, see cmd/test2json.
type event struct{ Action, Package, ImportPath, Test, Output string }

// A test is a test, or a package if its name is empty.
type test struct{ pkg, name string }

func (t test) String() string {
	return strings.TrimSpace("." + strings.TrimPrefix(t.pkg, module) + " " + t.name)
}

// A report collects the events of all commands.
type report struct {
	mu                      sync.Mutex
	output                  map[test][]string
	ended                   map[test]string // pass, fail or skip
	skipped                 []string
	failed                  []string // commands for bin/failed
	passed, failures, skips int
}

func main() {
	again := flag.Bool("again", false, "run the tests of "+failures+" once more, one at a time")
	note := flag.String("note", "", "last `line` of the report")
	flag.Parse()
	if *again {
		if err := retry(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	r := &report{output: map[test][]string{}, ended: map[test]string{}}
	var all sync.WaitGroup
	for _, args := range flag.Args() {
		flags, packages, _ := strings.Cut(args, " -- ")
		all.Go(func() { r.run(flags, packages) })
	}
	all.Wait()
	good := r.close()
	if *note != "" {
		fmt.Println(*note)
	}
	if !good {
		os.Exit(1)
	}
}

// run runs go test with flags, which a shell splits.
func (r *report) run(flags, packages string) {
	cmd := exec.Command("sh", "-c", "exec go test -json "+flags+" "+packages)
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		in := bufio.NewScanner(lines)
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			var e event
			if json.Unmarshal(in.Bytes(), &e) != nil {
				fmt.Printf("%s\n", in.Bytes())
				continue
			}
			r.add(e, flags)
		}
		err = errors.Join(in.Err(), cmd.Wait())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.failures == 0 { // such as a flag that go test refuses
		fmt.Printf("go test %s: %v\n", flags, err)
		r.failures++
	}
}

func (r *report) add(e event, flags string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := test{cmp.Or(e.Package, e.ImportPath), e.Test}
	switch e.Action {
	case "output", "build-output":
		if strings.HasPrefix(e.Output, "=== ") { // RUN, PAUSE, CONT, NAME
			return
		}
		r.output[t] = append(r.output[t], e.Output)
	case "pass", "fail", "skip", "build-fail":
		r.end(t, e.Action, flags)
	}
}

// end notes the end of a test or package and prints what there is to say about it.
func (r *report) end(t test, how, flags string) {
	r.ended[t] = how
	switch {
	case t.name == "" && how == "fail":
		r.endPackage(t, flags)
	case t.name == "" && how == "pass":
		fmt.Print(last(r.output[t]))
	case how == "build-fail":
		fmt.Print(strings.Join(r.output[t], ""))
	case how == "pass":
		r.passed++
	case how == "skip" && t.name != "":
		r.skips++
		r.skipped = append(r.skipped, fmt.Sprintf("  %s: %s", t, reason(r.output[t])))
	case how == "fail":
		fmt.Printf("%s\n%s", t, strings.Join(r.output[t], ""))
		r.fail(t, flags)
	}
	delete(r.output, t)
}

// endPackage blames a package that failed on the tests that did not end, or on itself if
// no test failed.
func (r *report) endPackage(t test, flags string) {
	blamed := false
	for started := range maps.Keys(r.output) {
		if started.pkg == t.pkg && started.name != "" && r.ended[started] == "" {
			blamed = true
			r.end(started, "fail", flags)
		}
	}
	for other, how := range r.ended {
		blamed = blamed || other.pkg == t.pkg && other.name != "" && how == "fail"
	}
	if !blamed {
		r.fail(t, flags)
	}
	fmt.Printf("FAIL %s\n%s", t, strings.Join(r.output[t], ""))
}

var (
	place    = regexp.MustCompile(`^\s*\S+\.go:\d+: `)
	selected = regexp.MustCompile(`-(run|skip) '[^']*'`)
)

// fail counts a failure and notes the command that runs the test, or the package, alone.
func (r *report) fail(t test, flags string) {
	r.failures++
	words := []string{}
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "TEST_GOPHD_") || strings.HasPrefix(variable, "GORACE=") {
			words = append(words, variable)
		}
	}
	words = append(words, "go test", selected.ReplaceAllString(flags, ""))
	if name, _, _ := strings.Cut(t.name, "/"); name != "" {
		words = append(words, "-run '^"+name+"$'")
	}
	command := strings.Join(append(words, "."+strings.TrimPrefix(t.pkg, module)), " ")
	if slices.ContainsFunc(r.output[t], func(line string) bool {
		return strings.Contains(line, "DATA RACE") || strings.Contains(line, "race detected")
	}) {
		command = "false # a data race in " + command
	}
	if !slices.Contains(r.failed, command) {
		r.failed = append(r.failed, command)
	}
}

// reason returns why a test was skipped: what it logged last.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		if place.MatchString(line) {
			return strings.TrimSpace(place.ReplaceAllString(line, ""))
		}
	}
	return "it says nothing"
}

func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// close prints the report, writes bin/failed, and reports whether all is well.
func (r *report) close() bool {
	if len(r.skipped) > 0 {
		slices.Sort(r.skipped)
		fmt.Printf("\nleft out:\n%s\n\n", strings.Join(r.skipped, "\n"))
	}
	if len(r.failed) > 0 {
		fmt.Printf("failed:\n  %s\n\n", strings.Join(r.failed, "\n  "))
	}
	_ = os.MkdirAll("bin", 0o777)
	_ = os.WriteFile(failures, []byte(strings.Join(append(r.failed, ""), "\n")), 0o666)
	fmt.Printf("%d passed, %d failed, %d skipped\n", r.passed, r.failures, r.skips)
	return r.failures == 0
}

// retry runs each failed test alone.
func retry() error {
	lines, err := os.ReadFile(failures)
	if err != nil {
		return err
	}
	lines = bytes.TrimSpace(lines)
	if len(lines) == 0 {
		return errors.New("no test failed")
	}
	for command := range strings.Lines(string(lines)) {
		command = strings.TrimSpace(command)
		cmd := exec.Command("sh", "-c", command)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("failed again: %s: %w", command, err)
		}
		fmt.Println("FLAKY:", command)
	}
	return nil
}
