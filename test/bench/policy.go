//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gophd/gophd/policy"
)

// policySite is a site whose policy has a bound of its own on time or memory.
type policySite struct {
	name  string
	notes func(add func(dir, text string))
}

// policySites lists the sites. The last annotation that each adds is the edited one.
var policySites = []policySite{
	{"10,000 directories below 100", func(add func(dir, text string)) {
		for i := range 10_000 {
			add(fmt.Sprintf("/~u%02d/%03d/", i%100, i/100), "Disallow: /private/\n")
		}
	}},
	{"500 of 5,000 users; $ and a robot in the root", func(add func(dir, text string)) {
		add("/", "Disallow: /*.zip$\nUser-agent: GPTBot\nDisallow: /*/art/\n")
		each(500, "Disallow: /private/\nAllow: /private/pub/\n", add)
	}},
	{"990 patterns with escapes", func(add func(dir, text string)) {
		each(1, linesOf(990, "Disallow: /%%C3%%A9*%d/\n"), add)
	}},
	{"200 annotations of 9,000 rules", func(add func(dir, text string)) {
		each(200, linesOf(9000, "Disallow: /%d/\n"), add)
	}},
	{"200 annotations of 800 rules", func(add func(dir, text string)) {
		each(200, linesOf(800, "Disallow: /%d/\n"), add)
	}},
	{"a chain of 1,900", func(add func(dir, text string)) {
		for i := range 1900 {
			add("/"+strings.Repeat("d/", i+1), "Disallow: /x/\nAllow: /x/y\n")
		}
	}},
	{"100 directories of 31 robots", func(add func(dir, text string)) {
		each(100, linesOf(31, "User-agent: bot%[1]d\nDisallow: /%[1]d/\n"), add)
	}},
	{"100,000 authors of one line", func(add func(dir, text string)) {
		each(100_000, "Disallow: /x\n", add)
	}},
	{"8,000 users of two lines", func(add func(dir, text string)) {
		each(8000, "Disallow: /private/\nAllow: /private/pub/\n", add)
	}},
}

// each adds the same annotation to n homes.
func each(n int, text string, add func(dir, text string)) {
	for i := range n {
		add(fmt.Sprintf("/~u%d/", i), text)
	}
}

func linesOf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// runPolicies measures each site in a process of its own, so that its memory is its own.
func runPolicies() {
	self, err := os.Executable()
	must(err)
	fmt.Printf("| policy | cold, CPU ms | edit, CPU ms | peak MiB | file KiB | closed | why the first |\n|---|--:|--:|--:|--:|--:|---|\n")
	for i := range policySites {
		row := exec.Command(self, "-policy", strconv.Itoa(i+1))
		row.Stdout, row.Stderr = os.Stdout, os.Stderr
		must(row.Run())
	}
}

const policyEdits = 20

// runPolicy measures one site, and prints its row: the CPU time of all threads for a
// compilation with its proof, the median of edits, and the peak that the kernel knows.
func runPolicy(s policySite) {
	var in policy.Input
	s.notes(func(dir, text string) {
		in.Annotations = append(in.Annotations,
			policy.Annotation{Dir: dir, File: dir[1:] + ".robots", Data: []byte(text)})
	})
	var c *policy.Compiled
	compile := func() float64 {
		used, _ := usage()
		c = policy.Compile(in)
		now, _ := usage()
		return float64((now - used).Microseconds()) / 1000
	}
	cold := compile()
	_, peak := usage()
	size, closed, why := len(c.File())/1024, 0, ""
	for _, r := range c.Reports() {
		if r.Code == policy.CodeTooLarge || r.Code == policy.CodeCoarsened ||
			r.Code == policy.CodeUnnamedLeak {
			closed, why = closed+1, cmp.Or(why, r.Message)
		}
	}
	var edits []float64
	for i := range policyEdits {
		if i > 2 && cold > 1000 {
			break
		}
		in.Annotations[len(in.Annotations)-1].Data = fmt.Appendf(nil, "Disallow: /edit%d/\n", i)
		edits = append(edits, compile())
	}
	slices.Sort(edits)
	fmt.Printf("| %s | %.1f | %.1f | %d | %d | %d | %s |\n", s.name, cold, edits[len(edits)/2],
		peak/1024, size, closed, why)
}

// usage returns the CPU time of the process, and its largest resident size in KiB.
func usage() (cpu time.Duration, peak int64) {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Maxrss) //nolint:unconvert // 32 bits wide on mips
}
