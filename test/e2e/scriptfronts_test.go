package e2e_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/test/e2e/harness"
)

// Commands of the scripts that hold for every front: Gopher, the web, each plain and over
// TLS, Gemini, Spartan, Nex and Finger, after "serve fronts". Each is tried until it is so.
// In a SELECTOR, escapes are as in Go strings.
//
//	[!] serves [-host NAME] SELECTOR PATTERN  the text is served, and matches; or no
//	                              front's reply matches, whatever it is. Finger takes part
//	                              with the selectors of users.
//	refuses [-host NAME] SELECTOR...  nobody gets it, in its usual form or as it is
//	hides PATTERN FILE            no reply to the selectors of a file, one a line, matches
//	denies [-host NAME] SELECTOR...  robots.txt, which is one file on all fronts at all its
//	allows [-host NAME] SELECTOR...  selectors, denies or allows them to everybody
//	file NAME TEXT                writes a file whose name and text have escapes
//	fifo NAME...                  makes FIFOs

// onFronts runs a check on each front until it is nil.
func onFronts(ts *testscript.TestScript, fronts []string, check func(front string) error) {
	for _, front := range fronts {
		var err error
		if !eventually(func() bool { err = check(front); return err == nil }) {
			ts.Fatalf("%s: %v", front, err)
		}
	}
}

// hostFlag takes -host from the words of a command.
func hostFlag(ts *testscript.TestScript, args []string) (host string, named bool, rest []string) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.StringVar(&host, "host", "gopher.example", "")
	ts.Check(flags.Parse(args))
	flags.Visit(func(*flag.Flag) { named = true })
	return host, named, flags.Args()
}

// unquote reads escapes as in Go strings.
func unquote(ts *testscript.TestScript, text string) string {
	plain, err := strconv.Unquote(`"` + text + `"`)
	ts.Check(err)
	return plain
}

// asking returns the fronts that a selector can be asked of: a client of the others names no
// host, or users alone.
func asking(at harness.Fronts, named bool, sel string) (fronts []string) {
	for _, front := range at.Names() {
		nameless := front == "gopher" || front == "nex" || front == "finger"
		isUser := strings.HasPrefix(sel, "/~") && strings.Count(sel, "/") == 2 &&
			strings.HasSuffix(sel, "/")
		if named && nameless || front == "finger" && !isUser {
			continue
		}
		fronts = append(fronts, front)
	}
	return fronts
}

func serves(ts *testscript.TestScript, neg bool, args []string) {
	host, named, args := hostFlag(ts, args)
	at, sel := processOf(ts).fronts, unquote(ts, args[0])
	pattern := regexp.MustCompile("(?s)" + args[1])
	onFronts(ts, asking(at, named, sel), func(front string) error {
		r, err := at.Get(front, host, sel, false)
		if err == nil && (neg || r.Served) && pattern.MatchString(r.Body) != neg {
			return nil
		}
		return errors.Join(err, errors.New(r.Head+"\n"+r.Body+
			"\ndoes not match, or matches, "+args[1]))
	})
}

func refuses(ts *testscript.TestScript, _ bool, args []string) {
	host, named, args := hostFlag(ts, args)
	at := processOf(ts).fronts
	for _, sel := range args {
		sel = unquote(ts, sel)
		onFronts(ts, asking(at, named, sel), func(front string) error {
			for _, raw := range []bool{false, true} {
				r, err := at.Get(front, host, sel, raw)
				if err != nil && !errors.Is(err, syscall.ECONNRESET) {
					return err
				}
				if r.Served {
					return errors.New(r.Head + "\n" + r.Body)
				}
			}
			return nil
		})
	}
}

func hides(ts *testscript.TestScript, _ bool, args []string) {
	pattern, at := regexp.MustCompile("(?s)"+args[0]), processOf(ts).fronts
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		sel := unquote(ts, strings.TrimSuffix(line, "\n"))
		for _, front := range at.Names() {
			for _, raw := range []bool{false, true} {
				if r, _ := at.Get(front, "gopher.example", sel,
					raw); pattern.MatchString(r.Head + r.Body) {
					ts.Fatalf("%s: %q: %q", front, sel, r.Head+"\n"+r.Body)
				}
			}
		}
	}
}

// decides reads robots.txt until it says what is wanted of each selector.
func decides(ts *testscript.TestScript, allowed bool, args []string) {
	host, named, args := hostFlag(ts, args)
	at := processOf(ts).fronts
	if named {
		at = harness.Fronts{}
		for _, front := range asking(processOf(ts).fronts, true, "") {
			at[front] = processOf(ts).fronts[front]
		}
	}
	onFronts(ts, []string{"robots.txt"}, func(string) error {
		file, err := at.Robots(host)
		for _, sel := range args {
			if robots.Parse(robots.RFC9309, []byte(file)).Allowed("*",
				unquote(ts, sel)) != allowed {
				err = errors.Join(err, errors.New(sel+" is denied or allowed by\n"+file))
			}
		}
		return err
	})
}

func denies(ts *testscript.TestScript, _ bool, args []string) {
	decides(ts, false, args)
}
func allows(ts *testscript.TestScript, _ bool, args []string) {
	decides(ts, true, args)
}

func writeFile(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(unquote(ts, args[0]))
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	ts.Check(os.WriteFile(name, []byte(unquote(ts, args[1])), 0o644))
}

func fifo(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		ts.Check(syscall.Mkfifo(ts.MkAbs(name), 0o644))
	}
}
